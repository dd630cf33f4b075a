package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The idle M that sleeps only until the first alarm: each step of the protocol in Idle's header,
/// and each order of its steps, by hand.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WatcherTest {
  private static final long NOW = 1_000;

  private final Still still = new Still(4);
  private final Sched sched = still.sched;
  private final Idle idle = sched.idle;

  @BeforeEach
  void timeStands() {
    still.clock.stopAt(NOW);
  }

  /// A1: into the heap of a P, and nobody is told.
  private Bell put(P p, long when) {
    Bell bell = Bell.at(when);
    p.timers.add(bell);
    return bell;
  }

  /// A1 to A4.
  private Bell arm(P p, long when) {
    Bell bell = put(p, when);
    idle.armed(when);
    return bell;
  }

  private List<Thread> woken() {
    var all = List.copyOf(still.parker.woken);
    still.parker.woken.clear();
    return all;
  }

  // A2: no P is idle.

  @Test
  void nobodyIsToldOfAnAlarmWhileNoProcessorIsIdle() {
    idle.join(still.busy(null)); // a thread would be there
    arm(still.p(0), 5_000);
    assertEquals(List.of(), woken());
    assertEquals(0, idle.searching());
    assertEquals(Alarm.NEVER, idle.watchUntil());
  }

  // I5 and I6: A1 came before.

  @Test
  void threadThatGoesIdleWatchesForTheAlarmsOfAllProcessors() {
    put(still.p(3), 7_000);
    put(still.p(0), 5_000);
    put(still.p(2), 6_000);
    M m = still.idle(still.p(1));
    assertEquals(5_000, idle.watchUntil());
    assertEquals(1, idle.idleMs(), "it counts as idle");
    assertEquals(1, idle.idleProcs());
    assertNull(m.p);
    assertFalse(m.inIdleList, "but is not in the list");
  }

  @Test
  void alsoForThoseThatItLeavesWithItsOwnProcessor() {
    put(still.p(1), 5_000);
    still.p(1).newEarliest = true; // armed by the goroutine that ran there last
    still.idle(still.p(1));
    assertEquals(5_000, idle.watchUntil());
    assertFalse(still.p(1).newEarliest, "seen to");
  }

  @Test
  void withoutAlarmsNobodyWatches() {
    M m = still.idle(still.p(1));
    assertTrue(m.inIdleList);
    assertEquals(Alarm.NEVER, idle.watchUntil());
  }

  @Test
  void oneWatcherIsEnough() {
    put(still.p(0), 5_000);
    still.idle(still.p(1));
    M second = still.idle(still.p(2));
    assertTrue(second.inIdleList);
    assertEquals(2, idle.idleMs());
  }

  @Test
  void whoGoesIdleAndSeesAnEarlierAlarmTakesOver() {
    put(still.p(0), 5_000);
    M first = still.idle(still.p(1));
    put(still.p(0), 3_000); // and A2 to A4 are still to come
    M second = still.idle(still.p(2));
    assertEquals(3_000, idle.watchUntil());
    assertTrue(first.inIdleList, "the first is idle like any other now");
    assertFalse(second.inIdleList);
    assertEquals(List.of(), woken(), "nobody had to be woken for it");
    idle.armed(3_000);
    assertEquals(List.of(), woken(), "A3: it knows");
  }

  @Test
  void whoSeesWorkAtTheLastLookDoesNotWatch() {
    put(still.p(0), 5_000);
    sched.global.put(still.g());
    M m = still.idle(still.p(1));
    assertSame(still.p(1), m.p);
    assertTrue(m.spinning);
    assertEquals(Alarm.NEVER, idle.watchUntil());
  }

  // A3 and A4: the M was idle before.

  @Test
  void laterAlarmThanTheWatchersWakesNobody() {
    put(still.p(0), 5_000);
    still.idle(still.p(1));
    still.idle(still.p(2));
    arm(still.p(0), 5_000);
    arm(still.p(3), 9_000);
    assertEquals(List.of(), woken());
  }

  @Test
  void earlierAlarmWakesTheWatcherOnly() {
    put(still.p(0), 5_000);
    M watcher = still.idle(still.p(1));
    still.idle(still.p(2));
    arm(still.p(0), 4_000);
    assertEquals(List.of(watcher), woken());
    assertEquals(2, idle.idleProcs(), "no P was given for it");
    assertEquals(0, idle.searching());
  }

  @Test
  void firstAlarmOfAllWakesAnIdleThreadWhichWillWatch() {
    M m = still.idle(still.p(1));
    arm(still.p(0), 5_000);
    assertEquals(List.of(m), woken());
    assertTrue(idle.await(m));
    assertTrue(m.spinning, "it searches first");
    idle.release(m, still.p(1)); // finds nothing
    assertEquals(5_000, idle.watchUntil());
    assertEquals(0, idle.searching());
  }

  // A searcher counts as one that will go idle.

  @Test
  void whileSomebodySearchesNobodyIsWokenForAnAlarm() {
    M asleep = still.idle(still.p(1));
    M searcher = still.searcher(still.p(2));
    arm(still.p(0), 5_000);
    assertEquals(List.of(), woken());

    idle.release(searcher, still.p(2)); // finds nothing: I5
    assertEquals(5_000, idle.watchUntil());
    assertTrue(asleep.inIdleList);
    assertFalse(searcher.inIdleList);
  }

  @Test
  void searcherThatFindsWorkHandsTheWatchOn() {
    M asleep = still.idle(still.p(1));
    M searcher = still.searcher(still.p(2));
    arm(still.p(0), 5_000);
    idle.foundWork(searcher);
    assertEquals(List.of(asleep), woken(), "one that will watch");
    assertTrue(idle.await(asleep));
    idle.release(asleep, asleep.p);
    assertEquals(5_000, idle.watchUntil());
  }

  @Test
  void searcherThatFindsWorkAsksForNoSecondWatcher() {
    put(still.p(0), 5_000);
    still.idle(still.p(1));
    still.idle(still.p(3));
    idle.foundWork(still.searcher(still.p(2)));
    assertEquals(List.of(), woken());
  }

  // W: the watcher's turns.

  /// Lets `m` wait; at each park the next of `steps` is done; answers for how long it parked.
  private List<Long> await(M m, boolean withP, Runnable... steps) {
    var nanos = new ArrayList<Long>();
    still.parker.onPark =
        () -> {
          nanos.add(still.parker.lastNanos);
          steps[nanos.size() - 1].run();
        };
    assertEquals(withP, idle.await(m));
    assertEquals(steps.length, nanos.size());
    return nanos;
  }

  @Test
  void watcherSleepsUntilTheFirstAlarmAndThenSearchesWithAnIdleProcessor() {
    put(still.p(0), 5_000);
    M m = still.idle(still.p(1));
    var nanos =
        await(
            m,
            true,
            () -> still.clock.stopAt(2_000), // for no reason
            () -> still.clock.stopAt(5_000));
    assertEquals(List.of(4_000L, 3_000L), nanos);
    assertSame(still.p(1), m.p);
    assertTrue(m.spinning);
    assertEquals(1, idle.searching());
    assertEquals(0, idle.idleProcs());
    assertEquals(0, idle.idleMs());
    assertEquals(Alarm.NEVER, idle.watchUntil());
    assertEquals(1, idle.starts(), "sysmon sees that something happens");
  }

  @Test
  void alarmThatIsDueAlreadyIsNotSleptFor() {
    put(still.p(0), NOW);
    M m = still.idle(still.p(1));
    assertEquals(List.of(), await(m, true));
    assertSame(still.p(1), m.p);
  }

  @Test
  void watcherThatIsToldOfAnEarlierAlarmSleepsLess() {
    put(still.p(0), 5_000);
    M m = still.idle(still.p(1));
    var nanos =
        await(
            m,
            true,
            () -> {
              arm(still.p(3), 3_000);
              assertEquals(List.of(m), woken());
            },
            () -> {
              assertEquals(3_000, idle.watchUntil(), "W1 before W4");
              still.clock.stopAt(3_000);
            });
    assertEquals(List.of(4_000L, 2_000L), nanos);
  }

  /// A3 saw the time that W1 was about to replace by a later one: then A1 came before W1, and W2
  /// sees it.
  @Test
  void watcherLooksAgainAfterItHasChosenALaterTime() {
    Bell first = put(still.p(0), 2_000);
    M m = still.idle(still.p(1));
    var nanos =
        await(
            m,
            true,
            () -> {
              first.cancel();
              still.p(0).timers.sweep();
              put(still.p(0), 9_000); // W1 will choose this one
              arm(still.p(2), 4_000); // A3 sees 2,000: early enough
              assertEquals(List.of(), woken());
            },
            () -> {
              assertEquals(4_000, idle.watchUntil());
              still.clock.stopAt(4_000);
            });
    assertEquals(List.of(1_000L, 3_000L), nanos);
  }

  @Test
  void watcherSleepsLongerWhenTheFirstAlarmIsCancelled() {
    Bell first = put(still.p(0), 2_000);
    put(still.p(0), 9_000);
    M m = still.idle(still.p(1));
    var nanos =
        await(
            m,
            true,
            () -> {
              assertTrue(first.cancel());
              assertEquals(1, still.p(0).timers.sweep());
            },
            () -> {
              assertEquals(9_000, idle.watchUntil());
              still.clock.stopAt(9_000);
            });
    assertEquals(List.of(1_000L, 8_000L), nanos);
  }

  @Test
  void watcherWithoutAnAlarmIsAnIdleThreadLikeAnyOther() {
    Bell only = put(still.p(0), 2_000);
    M m = still.idle(still.p(1));
    var nanos =
        await(
            m,
            true,
            () -> {
              assertTrue(only.cancel());
              assertEquals(0, still.p(0).timers.sweep());
            },
            () -> {
              assertTrue(m.inIdleList);
              assertEquals(Alarm.NEVER, idle.watchUntil());
              assertEquals(1, idle.idleMs());
              idle.wake();
            });
    assertEquals(List.of(1_000L, Alarm.NEVER), nanos);
    assertSame(still.p(1), m.p);
  }

  @Test
  void watcherThatWasRelievedSleepsOnLikeTheOthers() {
    put(still.p(0), 5_000);
    M first = still.idle(still.p(1));
    var nanos =
        await(
            first,
            true,
            () -> {
              put(still.p(0), 3_000);
              still.idle(still.p(2)); // takes over
              still.clock.stopAt(5_000); // the time that the first had in mind
            },
            () -> {
              assertTrue(first.inIdleList);
              idle.wake();
            });
    assertEquals(List.of(4_000L, Alarm.NEVER), nanos);
    assertTrue(first.p != null);
  }

  @Test
  void dueAlarmIsLeftToTheBusyProcessorsIfNoneIsIdle() {
    put(still.p(0), 5_000);
    idle.retire(1);
    M m = still.idle(still.p(1)); // its P goes, and none is idle
    assertEquals(0, idle.idleProcs());
    assertEquals(5_000, idle.watchUntil());
    var nanos =
        await(
            m,
            false,
            () -> still.clock.stopAt(5_000),
            () -> {
              assertTrue(m.inIdleList);
              assertEquals(Alarm.NEVER, idle.watchUntil());
              idle.endIdleMs();
            });
    assertEquals(List.of(4_000L, Alarm.NEVER), nanos);
    assertNull(m.p);
  }

  // Waking.

  @Test
  void workIsGivenToAnotherThanTheWatcher() {
    M other = still.idle(still.p(2));
    put(still.p(0), 5_000);
    M watcher = still.idle(still.p(1));
    idle.wake();
    assertEquals(List.of(other), woken());
    assertNull(watcher.given);
    assertEquals(5_000, idle.watchUntil());
  }

  @Test
  void watcherIsTakenIfThatLeavesNoProcessorIdle() {
    put(still.p(0), 5_000);
    M watcher = still.idle(still.p(1));
    idle.wake();
    assertEquals(List.of(watcher), woken());
    assertSame(still.p(1), watcher.given);
    assertEquals(Alarm.NEVER, idle.watchUntil());
    assertEquals(0, idle.idleMs());
    assertTrue(idle.await(watcher), "it takes what it was given");
    assertSame(still.p(1), watcher.p);
    still.idle(still.p(2));
    assertEquals(5_000, idle.watchUntil(), "and the next that goes idle watches");
  }

  // It slept for less time than the others, and with no idle P there is nothing to watch for.
  @Test
  void watcherIsTakenForTheLastIdleProcessorBeforeThoseThatSleepForLonger() {
    M third = still.busy(null);
    idle.join(third);
    M other = still.idle(still.p(2));
    put(still.p(0), 5_000);
    M watcher = still.idle(still.p(1));
    idle.wake();
    assertEquals(List.of(other), woken());
    assertTrue(idle.await(other));
    sched.global.put(still.g());
    idle.foundWork(other);
    assertEquals(List.of(watcher), woken());
    assertNull(third.given);
    assertEquals(Alarm.NEVER, idle.watchUntil());
  }

  @Test
  void watcherEndsWithTheOthers() {
    put(still.p(0), 5_000);
    M watcher = still.idle(still.p(1));
    M other = still.idle(still.p(2));
    assertEquals(2, idle.endIdleMs());
    assertFalse(idle.await(watcher));
    assertFalse(idle.await(other));
    assertEquals(0, idle.idleMs());
    assertEquals(Alarm.NEVER, idle.watchUntil());
  }

  @Test
  void interruptFromOutsideDoesNotKeepTheWatcherAwake() {
    put(still.p(0), 5_000);
    M m = still.idle(still.p(1));
    await(
        m,
        true,
        () -> {
          Thread.currentThread().interrupt();
          still.clock.stopAt(5_000);
        });
    assertFalse(Thread.interrupted());
  }
}
