package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// When an M looks at alarms on its way to the next goroutine, on a scheduler that stands still.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FindAlarmsTest {
  /// Once in so many dispatches a P reads the clock.
  private static final int EVERY = 16;

  private Still still = new Still(3);
  private Sched sched = still.sched;
  private P p = still.p(0);
  private M m = still.busy(p);
  private final AtomicInteger reads = new AtomicInteger();

  /// An alarm that makes `g` runnable, on the M that rings it.
  private Bell waking(M ringer, G g, long when) {
    return Bell.at(0, when, () -> sched.ready(ringer, g));
  }

  /// With one P, which does not read the clock for its pace.
  private void alone() {
    still = new Still(1);
    sched = still.sched;
    p = still.p(0);
    m = still.busy(p);
  }

  private G next() {
    G g = FindWork.next(m);
    Still.dispatched(p);
    return g;
  }

  // Its own alarms.

  @Test
  void busyProcessorLooksAtItsAlarmsEvery16thDispatch() {
    alone();
    G local = still.g();
    p.put(local);
    still.clock.stopAt(0);
    still.clock.onRead = _ -> reads.incrementAndGet();
    p.timers.add(Bell.at(1_000_000));
    for (int i = 0; i < 100 * (EVERY + 1); i++) {
      assertSame(local, next());
      p.put(local);
    }
    assertEquals(100, reads.get());
  }

  @Test
  void withoutAlarmsTheClockIsNotRead() {
    alone();
    G local = still.g();
    p.put(local);
    still.clock.onRead = _ -> reads.incrementAndGet();
    for (int i = 0; i < 100; i++) {
      next();
      p.put(local);
    }
    assertEquals(0, reads.get());
  }

  @Test
  void withSeveralProcessorsItIsReadOnceIn62DispatchesForThePace() {
    G local = still.g();
    p.put(local);
    still.clock.onRead = _ -> reads.incrementAndGet();
    for (int i = 0; i < 620; i++) {
      next();
      p.put(local);
    }
    assertEquals(10, reads.get());
  }

  @Test
  void dueAlarmWaitsAtMost17DispatchesOfABusyProcessor() {
    still.clock.stopAt(500);
    for (int phase = 0; phase < 2 * EVERY; phase++) {
      G local = still.g();
      p.put(local);
      p.timers.add(Bell.at(1_000_000)); // so that it counts
      for (int i = 0; i < phase; i++) {
        next();
        p.put(local);
      }
      G woken = still.g();
      p.timers.add(waking(m, woken, 500));
      int dispatches = 1;
      for (G g = next(); g != woken; g = next(), dispatches++) {
        p.put(g);
        assertTrue(dispatches <= EVERY + 1, "phase " + phase);
      }
      p.queue.poll();
    }
  }

  @Test
  void processorWithoutWorkRingsWhatIsDueAtOnce() {
    still.clock.stopAt(500);
    p.timers.add(Bell.at(1_000_000));
    p.lookAtTimers(); // not again for 16 dispatches
    G woken = still.g();
    p.timers.add(waking(m, woken, 500));
    assertSame(woken, FindWork.next(m));
    assertEquals(1, p.rang);
    assertEquals(1, sched.counters().alarms());
    assertFalse(m.spinning, "it did not have to search");
  }

  @Test
  void whoIsWokenByAnAlarmRunsNext() {
    still.clock.stopAt(500);
    G[] gs = still.gs(4);
    p.put(gs[3]);
    for (int i = 0; i < 3; i++) {
      p.timers.add(waking(m, gs[i], 100 + i));
    }
    p.ask(P.TIMERS);
    // As many goroutines made ready in a row: the last one first, the others in order.
    assertEquals(List.of(gs[2], gs[3], gs[0], gs[1]), List.of(next(), next(), next(), next()));
  }

  @Test
  void processorThatIsToldLooksAtItsAlarmsAtOnce() {
    still.clock.stopAt(500);
    p.timers.add(Bell.at(1_000_000));
    p.lookAtTimers();
    G local = still.g();
    p.put(local);
    G woken = still.g();
    p.timers.add(waking(m, woken, 500));
    p.ask(P.TIMERS);
    assertSame(woken, next());
    assertEquals(0, p.request);
  }

  @Test
  void processorThatIsToldRingsWhatOthersDoNotGetTo() {
    still.clock.stopAt(500);
    p.put(still.g());
    G woken = still.g();
    still.p(2).timers.add(waking(m, woken, 400));
    p.ask(P.TIMERS);
    assertSame(woken, next());
    assertEquals(0, p.request);
  }

  // Others' alarms.

  @Test
  void thiefRingsTheAlarmsOfABusyProcessor() {
    still.clock.stopAt(500);
    G woken = still.g();
    still.p(2).timers.add(waking(m, woken, 400));
    assertSame(woken, FindWork.next(m));
    assertTrue(p.inherit, "from its own run-next");
    assertEquals(1, p.rang);
    assertEquals(0, p.steals, "that is no theft");
    assertEquals(0, sched.idle.searching());
  }

  @Test
  void thiefLeavesAlarmsThatAreNotDue() {
    still.clock.stopAt(500);
    Bell bell = Bell.at(501);
    still.p(2).timers.add(bell);
    assertNull(FindWork.steal(sched, p));
    assertTrue(bell.isArmed());
  }

  @Test
  void thiefRingsAlarmsInTheFourthRoundOnly() {
    for (long seed = 0; seed < 20; seed++) {
      var s = new Still(2, seed);
      s.clock.stopAt(500);
      M thief = s.busy(s.p(0));
      G woken = s.g();
      s.p(1).timers.add(Bell.at(0, 400, () -> s.sched.ready(thief, woken)));
      var same = new Rand(seed + s.p(0).id); // each round draws one number
      for (int i = 0; i < 4; i++) {
        same.next();
      }
      assertSame(woken, FindWork.steal(s.sched, s.p(0)), Seed.hint(seed));
      assertEquals(same.next(), s.p(0).rand.next(), "rounds; " + Seed.hint(seed));
    }
  }

  @Test
  void ringOfAnotherIsPreferredToAlarmsWhateverTheOrder() {
    for (long seed = 0; seed < 50; seed++) {
      var s = new Still(3, seed);
      s.clock.onRead = _ -> reads.incrementAndGet();
      Bell bell = Bell.at(0);
      s.p(1).timers.add(bell);
      G queued = s.g();
      s.p(2).put(queued);
      assertSame(queued, FindWork.steal(s.sched, s.p(0)), Seed.hint(seed));
      assertEquals(0, reads.get(), "the clock was not read; " + Seed.hint(seed));
      assertTrue(bell.isArmed());
    }
  }

  @Test
  void thiefWhoseBellWakesNobodySearchesOn() {
    still.clock.stopAt(500);
    Bell bell = Bell.at(400);
    still.p(1).timers.add(bell);
    assertNull(FindWork.steal(sched, p));
    assertEquals(1, bell.rang.get());
  }

  @Test
  void watcherThatSearchesFindsTheAlarmThatItWaitedFor() {
    G woken = still.g();
    still.clock.stopAt(0);
    still.p(2).timers.add(waking(m, woken, 700)); // of a P that is busy
    still.parker.onPark = () -> still.clock.stopAt(700);
    assertSame(woken, FindWork.next(m));
    assertEquals(700, still.parker.lastNanos);
    assertSame(p, m.p);
    assertEquals(0, sched.idle.searching());
    assertEquals(0, sched.idle.idleProcs());
  }

  // Telling others of a new earliest.

  @Test
  void newEarliestOfAProcessorThatGoesOnIsToldWhenItHasFoundWork() {
    M asleep = still.idle(still.p(1));
    still.clock.stopAt(0);
    p.timers.add(Bell.at(5_000));
    p.newEarliest = true; // as ParkTimers says it
    p.put(still.g());
    next();
    assertFalse(p.newEarliest);
    assertEquals(List.of(asleep), List.copyOf(still.parker.woken));
  }

  @Test
  void newEarliestOfAProcessorThatGoesIdleIsToldToNobody() {
    M asleep = still.idle(still.p(1));
    still.clock.stopAt(0);
    p.timers.add(Bell.at(5_000));
    p.newEarliest = true;
    still.parker.onPark =
        () -> {
          assertTrue(still.parker.woken.isEmpty());
          assertEquals(5_000, sched.idle.watchUntil(), "it watches itself");
          assertTrue(asleep.inIdleList);
          m.ending = true;
        };
    assertNull(FindWork.next(m));
  }
}
