package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Who sleeps, who searches, whom to wake: each step by hand.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class IdleTest {
  private final Still still = new Still(4);
  private final Sched sched = still.sched;
  private final Idle idle = sched.idle;

  @Test
  void wakingGivesAnIdleProcessorToASleepingThreadAsSearcher() {
    M m = still.idle(still.p(1));
    idle.wake();
    assertSame(still.p(1), m.given);
    assertTrue(m.givenSpinning);
    assertEquals(List.of(m), List.copyOf(still.parker.woken));
    assertEquals(1, idle.searching());
    assertEquals(0, idle.idleProcs());
    assertEquals(0, idle.idleMs());
    assertEquals(1, idle.wakeups());
    assertEquals(1, idle.starts());
  }

  @Test
  void atMostOneIsWokenWhileItSearches() {
    still.idle(still.p(1));
    still.idle(still.p(2));
    idle.wake();
    idle.wake();
    idle.wake();
    assertEquals(1, still.parker.woken.size());
    assertEquals(1, idle.idleProcs());
  }

  @Test
  void oneThatIsNoMOfOursWakesAsManyAsItsGoroutinesWait() {
    M first = still.idle(still.p(1));
    M second = still.idle(still.p(2));
    M third = still.idle(still.p(3));
    sched.global.put(still.g());
    idle.wakeFromOutside();
    assertEquals(List.of(third), List.copyOf(still.parker.woken));
    idle.wakeFromOutside();
    assertEquals(1, idle.searching(), "one searches for the one that waits");
    sched.global.put(still.g());
    idle.wakeFromOutside();
    assertEquals(List.of(third, second), List.copyOf(still.parker.woken));
    assertEquals(2, idle.searching());
    assertNull(first.given);
  }

  @Test
  void fromOutsideTooNoMoreAreWokenThanHalfOfTheBusyOnesAndOne() {
    var many = new Still(8);
    for (int i = 0; i < 8; i++) {
      many.idle(many.p(i));
    }
    for (int i = 0; i < 8; i++) {
      many.sched.global.put(many.g());
      many.sched.idle.wakeFromOutside();
    }
    assertEquals(2, many.sched.idle.searching(), "all that are busy search");
  }

  @Test
  void fromOutsideOneIsWokenEvenIfOthersWereQuickerToTakeIt() {
    M m = still.idle(still.p(1));
    idle.wakeFromOutside(); // the global queue is empty again
    assertSame(still.p(1), m.given);
  }

  @Test
  void goroutinesStartedFromOutsideWakeOneEach() {
    M first = still.idle(still.p(1));
    M second = still.idle(still.p(2));
    for (G g : still.gs(2)) {
      g.thread().start();
    }
    assertEquals(List.of(second, first), List.copyOf(still.parker.woken));
    assertEquals(2, sched.global.size());
  }

  @Test
  void nobodyIsWokenWithoutAnIdleProcessor() {
    idle.join(still.busy(null)); // a thread would be there
    idle.wake();
    assertTrue(still.parker.woken.isEmpty());
    assertEquals(0, idle.searching());
  }

  @Test
  void lastToSleepIsFirstToWake() {
    M first = still.idle(still.p(1));
    M second = still.idle(still.p(2));
    idle.wake();
    assertSame(still.p(2), second.given);
    assertNull(first.given);
  }

  // Item 75.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 8, 16})
  void atMostHalfAsManySearchAsProcessorsAreBusy(int maxProcs) {
    var many = new Still(maxProcs);
    for (int busy = maxProcs; busy > 0; busy--) {
      var searchers = new ArrayList<M>();
      for (int i = 0; i < busy; i++) {
        M m = many.busy(many.p(i));
        if (many.sched.idle.maySearch(m)) {
          searchers.add(m);
          assertTrue(many.sched.idle.maySearch(m), "one that searches may go on");
        }
      }
      assertEquals((busy + 1) / 2, searchers.size(), busy + " busy of " + maxProcs);
      assertEquals(searchers.size(), many.sched.idle.searching());
      searchers.forEach(many.sched.idle::foundWork);
      assertEquals(0, many.sched.idle.searching());
      many.idle(many.p(busy - 1));
    }
  }

  @Test
  void searcherThatFoundWorkAndSeesMoreWakesTheNext() {
    M asleep = still.idle(still.p(1));
    M searcher = still.searcher(still.p(0));
    still.p(2).put(still.g());
    idle.foundWork(searcher);
    assertFalse(searcher.spinning);
    assertSame(still.p(1), asleep.given);
    assertEquals(1, idle.searching(), "the one that was woken");
    assertTrue(idle.somebodyLooks());
  }

  @Test
  void searcherThatFoundTheOnlyWorkWakesNobody() {
    M asleep = still.idle(still.p(1));
    M searcher = still.searcher(still.p(0));
    idle.foundWork(searcher);
    assertNull(asleep.given);
    assertEquals(0, idle.searching());
    assertFalse(idle.somebodyLooks());
  }

  @Test
  void threadThatSeesWorkAtTheLastLookTakesItsProcessorBackAsSearcher() {
    M m = still.busy(still.p(0));
    sched.global.put(still.g()); // after its search, before it sleeps
    idle.release(m, still.p(0));
    assertSame(still.p(0), m.p);
    assertTrue(m.spinning);
    assertEquals(1, idle.searching());
    assertEquals(0, idle.idleMs());
    assertEquals(0, idle.idleProcs());
  }

  @Test
  void workInARingOfAnotherIsSeenAtTheLastLookToo() {
    M m = still.busy(still.p(0));
    still.p(3).put(still.g());
    idle.release(m, still.p(0));
    assertSame(still.p(0), m.p);
  }

  @Test
  void oneThatYieldedIsSeenAtTheLastLookToo() {
    M m = still.busy(still.p(0));
    still.p(3).putYielded(still.g());
    idle.release(m, still.p(0));
    assertSame(still.p(0), m.p);
  }

  @Test
  void runNextThatItsProcessorKeepsIsNoReasonToStayAwake() {
    FindWorkTest.makeKeepNext(still, still.p(3));
    still.p(3).putNext(still.g());
    M m = still.busy(still.p(0));
    idle.release(m, still.p(0));
    assertNull(m.p);

    still.p(3).put(still.g()); // but what is behind it is
    M second = still.busy(still.p(1));
    idle.release(second, still.p(1));
    assertTrue(second.p != null);
  }

  @Test
  void threadThatTakesItsProcessorBackLeavesTheListWhole() {
    M bottom = still.idle(still.p(0));
    M top = still.busy(still.p(1));
    sched.global.put(still.g());
    idle.release(top, still.p(1));
    assertTrue(top.p != null);
    sched.global.take();
    idle.foundWork(top);
    idle.wake();
    assertTrue(bottom.given != null, "the list is whole");
    assertEquals(0, idle.idleMs());
  }

  @Test
  void sleepGoesOnAfterAWakeUpForNoReason() {
    M m = still.idle(still.p(1));
    var parks = new AtomicInteger();
    still.parker.onPark =
        () -> {
          if (parks.incrementAndGet() == 3) {
            idle.wake();
          }
        };
    assertTrue(idle.await(m));
    assertEquals(3, parks.get());
    assertSame(still.p(1), m.p);
    assertTrue(m.spinning);
    assertNull(m.given);
  }

  @Test
  void interruptFromOutsideDoesNotStay() {
    M m = still.idle(still.p(1));
    still.parker.onPark =
        () -> {
          Thread.currentThread().interrupt();
          idle.wake();
        };
    assertTrue(idle.await(m));
    assertFalse(Thread.interrupted(), "else each later park would return at once");
  }

  @Test
  void sleepersAreToldToEnd() {
    M first = still.idle(still.p(0));
    M second = still.idle(still.p(1));
    assertEquals(2, idle.endIdleMs());
    assertFalse(idle.await(first));
    assertFalse(idle.await(second));
    assertEquals(2, still.parker.woken.size());
    assertEquals(0, idle.idleMs());
    assertEquals(0, idle.endIdleMs());
  }

  @Test
  void idleProcessorRetiresAtOnce() {
    still.idle(still.p(0));
    still.idle(still.p(1));
    still.idle(still.p(2));
    assertSame(still.p(2), idle.retire(1), "the last that became idle");
    assertEquals(2, idle.idleProcs());
    assertEquals(0, idle.surplus());
    assertTrue(still.p(2).retired);

    assertSame(still.p(1), wokenWith());
    assertSame(still.p(0), wokenWith());
    assertEquals(0, idle.idleProcs());
  }

  /// Wakes an M, which finds work at once; answers the P that it got.
  private P wokenWith() {
    idle.wake();
    M m = (M) still.parker.woken.poll();
    assertTrue(idle.await(m));
    idle.foundWork(m);
    return m.p;
  }

  @Test
  void whoComesByFirstRetires() {
    assertNull(idle.retire(2), "none is idle");
    assertEquals(2, idle.surplus());
    P p = still.p(0);
    M m = still.idle(p);
    assertTrue(p.retired);
    assertEquals(0, idle.idleProcs());
    assertNull(m.p);
    assertEquals(1, idle.idleMs());
    assertTrue(idle.retires(still.p(1)));
    assertTrue(still.p(1).retired);
    assertEquals(0, idle.surplus());
    assertFalse(idle.retires(still.p(2)), "enough have gone");
    assertFalse(still.p(2).retired);
  }

  @Test
  void demandForProcessorsToGoIsTakenBack() {
    idle.retire(3);
    assertTrue(idle.keep(2));
    assertEquals(1, idle.surplus());
    assertFalse(idle.keep(2), "all or nothing: one has gone meanwhile");
    assertEquals(1, idle.surplus());
    assertTrue(idle.keep(1));
    assertFalse(idle.retires(still.p(0)));
  }

  // Threads that are too many.

  private static final long SECOND = 1_000_000_000;

  /// As many sleep as stay for good: one for each P and two more.
  private void enoughSleep() {
    for (int i = 0; i < 6; i++) {
      M m = still.busy(null);
      idle.join(m);
      assertFalse(m.expires);
    }
  }

  private M tooMany() {
    enoughSleep();
    M m = still.busy(null);
    idle.join(m);
    assertTrue(m.expires);
    return m;
  }

  @Test
  void threadThatIsOneTooManyEndsAfterAWhile() {
    M m = tooMany();
    still.clock.stopAt(5);
    still.parker.onPark =
        () -> {
          assertEquals(Idle.EXPIRE_NANOS, still.parker.lastNanos);
          still.clock.stopAt(5 + Idle.EXPIRE_NANOS);
        };
    assertFalse(idle.await(m));
    assertEquals(6, idle.idleMs());
    assertEquals(-1, sched.counters().threads(), "one less than none has been counted");
    assertFalse(idle.await(m), "for good");
    assertEquals(-1, sched.counters().threads(), "counted once");
  }

  @Test
  void threadThatIsNotOneTooManySleepsForAnyTime() {
    M m = still.busy(null);
    idle.join(m);
    still.parker.onPark =
        () -> {
          assertEquals(Alarm.NEVER, still.parker.lastNanos);
          still.clock.stopAt(100 * SECOND);
          m.ending = true;
        };
    assertFalse(idle.await(m));
    assertTrue(m.inIdleList, "it has not ended by itself");
  }

  @Test
  void wakeUpForNoReasonDoesNotEndIt() {
    M m = tooMany();
    still.clock.stopAt(0);
    var parks = new AtomicInteger();
    still.parker.onPark =
        () -> {
          int n = parks.incrementAndGet();
          assertFalse(m.ending);
          still.clock.stopAt(n * 4 * SECOND);
          Thread.currentThread().interrupt();
        };
    assertFalse(idle.await(m));
    assertEquals(3, parks.get(), "after 4, 8 and 12 s");
    assertEquals(2 * SECOND, still.parker.lastNanos, "only as long as was left");
    assertFalse(Thread.interrupted());
  }

  // It is the first to be woken: the others below it sleep on.
  @Test
  void whoIsGivenAProcessorAtTheLastMomentDoesNotEnd() {
    M m = tooMany();
    P p = still.p(1);
    p.put(still.g());
    still.clock.stopAt(0);
    still.parker.onPark =
        () -> {
          still.clock.stopAt(2 * Idle.EXPIRE_NANOS);
          idle.handOff(p);
        };
    assertTrue(idle.await(m));
    assertSame(p, m.p);
    assertFalse(m.ending);
    assertEquals(6, idle.idleMs());
  }

  // Somebody else watches now, and puts it into the list while it sleeps.
  @Test
  void formerWatcherThatIsOneTooManyHasAllTheTimeToo() {
    enoughSleep();
    still.clock.stopAt(30 * SECOND); // it has been the watcher for long
    still.p(0).timers.add(Bell.at(100 * SECOND));
    M first = still.idle(still.p(1));
    assertEquals(100 * SECOND, idle.watchUntil());
    var parks = new AtomicInteger();
    still.parker.onPark =
        () -> {
          switch (parks.incrementAndGet()) {
            case 1 -> {
              still.p(0).timers.add(Bell.at(50 * SECOND));
              still.idle(still.p(2)); // the new watcher
              assertTrue(first.inIdleList);
              assertTrue(first.expires);
            }
            case 2 -> {} // woken for no reason, at once
            case 3 -> still.clock.stopAt(40 * SECOND);
            default -> throw new AssertionError("it has slept enough");
          }
        };
    assertFalse(idle.await(first));
    assertEquals(3, parks.get());
  }

  // For the Starter.

  @Test
  void processorThatWantsAThreadIsGivenToOneThatHasGoneToSleepMeanwhile() {
    P p = still.p(1);
    assertFalse(idle.startSleeper(p), "nobody sleeps");
    M bottom = still.busy(null);
    idle.join(bottom);
    M top = still.busy(null);
    idle.join(top);
    assertTrue(idle.startSleeper(p));
    assertSame(p, top.given);
    assertTrue(top.givenSpinning, "as it was counted when it was wanted");
    assertTrue(idle.startSleeper(still.p(2)));
    assertSame(still.p(2), bottom.given);
    assertEquals(0, idle.idleMs());
    assertEquals(List.of(top, bottom), List.copyOf(still.parker.woken));
  }

  // It counts as a searcher, so whoever makes work ready wakes nobody, and the watcher sleeps long.
  @Test
  void watcherIsTheLastResort() {
    P p = still.p(1);
    assertFalse(idle.startWatcher(p), "nobody watches");
    still.clock.stopAt(0);
    still.p(0).timers.add(Bell.at(3_600 * SECOND));
    M watcher = still.idle(still.p(2));
    assertFalse(idle.startSleeper(p), "it is needed");
    assertTrue(idle.startWatcher(p));
    assertSame(p, watcher.given);
    assertTrue(watcher.givenSpinning);
    assertEquals(Alarm.NEVER, idle.watchUntil());
    assertTrue(idle.await(watcher));
    idle.release(watcher, p);
    assertEquals(3_600 * SECOND, idle.watchUntil(), "it watches again");
  }
}
