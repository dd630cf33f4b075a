package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Changes of the number of Ps, on a scheduler that stands still.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ResizeTest {
  private static final long SECOND = 1_000_000_000;

  private final Still still = new Still(4);
  private final Sched sched = still.sched;
  private final Idle idle = sched.idle;

  private List<Integer> ids() {
    return Arrays.stream(sched.procs().all).map(p -> p.id).toList();
  }

  /// Lets `body` happen while maxProcs waits, once.
  private void whileWaiting(Runnable body) {
    still.clock.onRead =
        _ -> {
          if (idle.surplus() > 0) {
            still.clock.onRead = _ -> {};
            body.run();
          }
        };
  }

  /// Nobody comes by: the patience of maxProcs is soon at its end.
  private void nobodyComesBy() {
    still.clock.step(SECOND / 3);
  }

  // Fewer.

  @Test
  void idleProcessorsGoAtOnce() {
    P busy = still.p(0);
    for (int i = 1; i < 4; i++) {
      still.idle(still.p(i));
    }
    var reads = new AtomicInteger();
    still.clock.onRead = _ -> reads.incrementAndGet();
    assertEquals(4, sched.maxProcs(1));
    assertEquals(1, sched.maxProcs());
    assertEquals(List.of(busy), List.of(sched.procs().all));
    assertFalse(busy.retired);
    assertEquals(0, idle.surplus());
    assertEquals(0, idle.idleProcs());
    assertTrue(reads.get() <= 2, "nobody was waited for: " + reads);
  }

  @Test
  void onlyAsManyIdleOnesGoAsMust() {
    for (int i = 1; i < 4; i++) {
      still.idle(still.p(i));
    }
    sched.maxProcs(3);
    assertEquals(2, idle.idleProcs());
    assertEquals(3, sched.procs().all.length);
  }

  @Test
  void firstThreadsThatComeByLoseTheirProcessor() {
    P stays = still.p(0);
    P finds = still.p(1);
    P alsoStays = still.p(2);
    P idles = still.p(3);
    M finder = still.busy(finds);
    G g = still.g();
    finds.put(g);
    whileWaiting(
        () -> {
          still.idle(idles); // one has no work
          still.parker.onPark = () -> finder.ending = true;
          assertNull(FindWork.next(finder)); // and one looks for some
        });
    assertEquals(4, sched.maxProcs(2));
    assertEquals(List.of(stays, alsoStays), List.of(sched.procs().all));
    assertEquals(List.of(g), still.global(), "what it had is in the global queue");
    assertEquals(2, idle.idleMs());
    assertEquals(0, idle.idleProcs());
    assertFalse(idle.somebodyLooks(), "none is left deciding");
  }

  @Test
  void processorsThatStayAreAskedOnceAndGoOn() {
    M m = still.busy(still.p(0));
    for (int i = 1; i < 4; i++) {
      still.idle(still.p(i));
    }
    sched.maxProcs(1);
    G g = still.g();
    still.p(0).put(g);
    assertSame(g, FindWork.next(m));
    assertSame(still.p(0), m.p);
    assertEquals(0, still.p(0).request);
  }

  @Test
  void isNotWaitedForLongerThanASecondForThoseThatDoNotComeBy() {
    nobodyComesBy();
    assertEquals(4, sched.maxProcs(1));
    assertEquals(1, sched.maxProcs());
    assertEquals(3, idle.surplus(), "they go when they do");
    assertEquals(4, sched.procs().all.length, "and are seen by thieves until then");

    M late = still.busy(still.p(2));
    G g = still.g();
    still.p(2).put(g);
    still.parker.onPark = () -> late.ending = true;
    assertNull(FindWork.next(late));
    assertTrue(still.p(2).retired);
    assertEquals(List.of(g), still.global());
    assertEquals(2, idle.surplus());
  }

  @Test
  void searcherThatLosesItsProcessorSeesToItThatSomebodySearches() {
    M asleep = still.idle(still.p(3));
    M searcher = still.searcher(still.p(2));
    idle.retire(2); // the idle one, and one more
    idle.add(new P[] {still.p(3)}, 0); // an idle P all the same, as after a growth
    still.p(3).retired = false;
    still.p(2).ask(P.RETIRE);
    still.parker.onPark = () -> searcher.ending = true;
    assertNull(FindWork.next(searcher));
    assertFalse(searcher.spinning);
    assertSame(searcher, still.parker.woken.peek(), "the last that became idle, with the other P");
    assertTrue(asleep.inIdleList);
  }

  // Alarms.

  @Test
  void alarmsOfAProcessorThatGoesAreKept() {
    var bells = new ArrayList<Bell>();
    for (int i = 0; i < 100; i++) {
      Bell bell = Bell.at(i, 1_000_000 + i, () -> {});
      bells.add(bell);
      still.p(1 + i % 3).timers.add(bell);
    }
    List<P> go = List.of(still.p(1), still.p(2), still.p(3));
    P stays = still.p(0);
    go.forEach(still::idle);
    bells.get(7).cancel();
    sched.maxProcs(1);
    assertEquals(99, stays.timers.size(), "all but the one that was cancelled");
    assertEquals(1_000_000, stays.timers.earliest());
    for (P p : go) {
      assertEquals(0, p.timers.size());
      assertEquals(TimerHeap.Added.CLOSED, p.timers.add(Bell.at(5)));
    }
    assertEquals(99, stays.timers.ringDue(2_000_000));
    for (Bell bell : bells) {
      assertEquals(bell == bells.get(7) ? 0 : 1, bell.rang.get(), bell.toString());
    }
  }

  @Test
  void alarmsOfAProcessorWhoseThreadComesByAreKept() {
    P goes = still.p(2);
    Bell bell = Bell.at(5_000_000);
    goes.timers.add(bell);
    M m = still.busy(goes);
    still.parker.onPark = () -> m.ending = true;
    whileWaiting(() -> assertNull(FindWork.next(m)));
    sched.maxProcs(3);
    assertTrue(goes.retired);
    assertEquals(5_000_000, sched.earliestAlarm());
    assertNotSame(goes.timers, bell.heap);
    assertTrue(bell.isArmed());
  }

  @Test
  void idleThreadIsToldOfAlarmsThatHaveMoved() {
    still.p(3).timers.add(Bell.at(9_000_000));
    M watcher = still.idle(still.p(1));
    assertEquals(9_000_000, idle.watchUntil());
    still.p(2).timers.add(Bell.at(5_000_000)); // and its owner did not get to say so
    idle.retire(0);
    M m = still.busy(still.p(2));
    m.p = null;
    sched.resize.moveAlarms(still.p(2));
    assertEquals(List.of(watcher), List.copyOf(still.parker.woken));
  }

  /// A million alarms take longer to move than some of them have left.
  @Test
  void eachMovedAlarmIsToldOfAtOnceAndNotAfterTheLast() {
    still.idle(still.p(1)); // nobody watches: the first that is told of wakes it
    for (int i = 0; i < 100; i++) {
      still.p(2).timers.add(Bell.at(5_000_000 + i));
    }
    var movedWhenTold = new ArrayList<Integer>();
    still.p(2).retired = true;
    var heaps = List.of(still.p(0).timers, still.p(1).timers, still.p(3).timers);
    still.parker.onUnpark = () -> movedWhenTold.add(heaps.stream().mapToInt(TimerHeap::size).sum());
    sched.resize.moveAlarms(still.p(2));
    assertEquals(List.of(1), movedWhenTold, "moved when the first M was woken");
    assertEquals(100, heaps.stream().mapToInt(TimerHeap::size).sum());
  }

  @Test
  void alarmThatMeetsClosedHeapsGoesToTheNextThatIsOpen() {
    for (int when : new int[] {0, 1, 2, 3, Integer.MAX_VALUE - 1, Integer.MAX_VALUE}) {
      var s = new Still(4);
      for (int i = 0; i < 3; i++) {
        s.p((i + when % 4) % 4).timers.close();
      }
      Bell bell = Bell.at(when);
      assertEquals(TimerHeap.Added.EARLIEST, s.sched.addToAny(bell));
      assertEquals(when, s.sched.earliestAlarm());
      // The lower half of a later time may be any number.
      Bell late = Bell.at((7L << 32) | when);
      assertEquals(TimerHeap.Added.LATER, s.sched.addToAny(late));
    }
  }

  // More.

  @Test
  void newProcessorsAreIdleAndAThreadIsWokenForThem() {
    M asleep = still.idle(still.p(3));
    assertEquals(4, sched.maxProcs(6));
    assertEquals(6, sched.procs().all.length);
    assertSame(asleep, still.parker.woken.peek());
    assertEquals(2, idle.idleProcs(), "one of three is given to it");
    assertEquals(List.of(0, 1, 2, 3, 4, 5), ids());
  }

  @Test
  void demandThatNobodyHasMetIsTakenBackFirst() {
    nobodyComesBy();
    sched.maxProcs(1);
    assertEquals(3, idle.surplus());
    P[] before = sched.procs().all;
    assertEquals(1, sched.maxProcs(3));
    assertEquals(1, idle.surplus());
    assertEquals(List.of(before), List.of(sched.procs().all), "none was made");
    assertEquals(0, idle.idleProcs());
    assertFalse(idle.retires(still.p(0)) && idle.retires(still.p(1)), "one may still go");
  }

  @Test
  void growthBeyondTheDemandMakesTheRest() {
    var one = new Still(3);
    one.clock.step(SECOND / 3);
    one.sched.maxProcs(2);
    assertEquals(1, one.sched.idle.surplus());
    M asleep = one.busy(null);
    one.sched.idle.join(asleep); // so that no real thread is made for the new P
    one.sched.maxProcs(4);
    assertEquals(0, one.sched.idle.surplus());
    assertEquals(4, one.sched.procs().all.length);
    assertSame(one.sched.procs().all[3], asleep.given);
  }

  @Test
  void idsAreTheLeastThatAreFree() {
    still.idle(still.p(1));
    still.idle(still.p(2));
    sched.maxProcs(2);
    assertEquals(List.of(0, 3), ids());
    sched.maxProcs(5); // a thread is there for one of them: it was idle
    assertEquals(List.of(0, 3, 1, 2, 4), ids());
  }

  @Test
  void manyProcessorsAreMadeInNoTime() {
    assertTimeoutPreemptively(
        Duration.ofSeconds(20),
        () -> {
          var many = new Sched(5_000, new Knobs(1, false, true), 1, still.clock, still.parker);
          var ids = new HashSet<Integer>();
          for (P p : many.procs().all) {
            ids.add(p.id);
          }
          assertEquals(5_000, ids.size());
        });
  }

  // From one P to several: what was put into a ring without a word is told.

  @Test
  void onlyProcessorIsToldToSpeakUpWhenItGetsCompany() {
    var one = new Still(1);
    M m = one.busy(one.p(0));
    M asleep = one.busy(null);
    one.sched.idle.join(asleep);
    one.p(0).put(one.g());
    one.p(0).put(one.g());
    one.sched.publishedInRing();
    assertTrue(one.parker.woken.isEmpty(), "with one P there is nobody to tell");
    one.sched.maxProcs(2);
    assertEquals(P.TELL, one.p(0).request);
    M searcher = (M) one.parker.woken.poll();
    assertSame(asleep, searcher);

    // It searched before the ring could be seen, and sleeps again.
    assertTrue(one.sched.idle.await(searcher));
    var later = new ArrayList<G>();
    for (G g = one.p(0).queue.poll(); g != null; g = one.p(0).queue.poll()) {
      later.add(g);
    }
    one.sched.idle.release(searcher, searcher.p);
    later.forEach(one.p(0)::put);
    FindWork.next(m);
    assertEquals(0, one.p(0).request);
    assertSame(searcher, one.parker.woken.poll(), "and is told");
  }

  @Test
  void nobodyIsToldWhenThereWereSeveral() {
    still.idle(still.p(3));
    sched.maxProcs(5);
    assertEquals(0, still.p(0).request);
  }

  // Counters.

  @Test
  void whatProcessorsThatWentHaveCountedIsKept() {
    for (int i = 0; i < 4; i++) {
      P p = still.p(i);
      p.steals = 10 + i;
      p.stolen = 20 + i;
      p.moved = 0;
      p.overflows = 30 + i;
      p.rang = 40 + i;
    }
    for (int i = 1; i < 4; i++) {
      still.idle(still.p(i));
    }
    var before = sched.counters();
    sched.maxProcs(1);
    var after = sched.counters();
    assertEquals(46, before.steals());
    assertEquals(before.steals(), after.steals());
    assertEquals(before.stolen(), after.stolen());
    assertEquals(before.dispatches(), after.dispatches());
    assertEquals(before.overflows(), after.overflows());
    assertEquals(166, after.alarms());
    sched.maxProcs(1);
    assertEquals(after, sched.counters(), "and not counted twice");
  }
}
