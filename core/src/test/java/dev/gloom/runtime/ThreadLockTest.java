package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// How a P gets from a locked M to another one and back, each step by hand.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ThreadLockTest {
  private final Still still = new Still(4);
  private final Sched sched = still.sched;
  private final Idle idle = sched.idle;
  private final P p = still.p(0);

  /// An M with `p` and the goroutine that is locked to it, as it stands after a suspension.
  private M locked(P p, G g) {
    M m = still.busy(p);
    m.lockedG = g;
    m.lockCount = 1;
    g.lastM = m;
    g.lockedM = m;
    return m;
  }

  private M locked(P p) {
    return locked(p, still.g());
  }

  // L1: its P goes on without it.

  @Test
  void processorWithWorkGoesToASleepingThreadThatNeedNotSearch() {
    M asleep = still.idle(still.p(1));
    p.put(still.g());
    idle.handOff(p);
    assertSame(p, asleep.given);
    assertFalse(asleep.givenSpinning);
    assertEquals(List.of(asleep), List.copyOf(still.parker.woken));
    assertEquals(0, idle.searching());
    assertEquals(0, idle.idleMs());
    assertEquals(1, idle.idleProcs(), "the sleeper's own");
    assertEquals(1, idle.handoffs());
  }

  @Test
  void lastToSleepGetsItAndTheListStaysWhole() {
    M first = still.idle(still.p(1));
    M second = still.idle(still.p(2));
    p.put(still.g());
    idle.handOff(p);
    assertSame(p, second.given);
    idle.handOff(p);
    assertSame(p, first.given);
    assertEquals(0, idle.idleMs());
  }

  @Test
  void oneThatYieldedIsWorkToo() {
    M asleep = still.idle(still.p(1));
    p.putYielded(still.g());
    idle.handOff(p);
    assertSame(p, asleep.given);
  }

  // Nobody else would look for it.
  @Test
  void runNextThatIsKeptIsWorkToo() {
    M asleep = still.idle(still.p(1));
    FindWorkTest.makeKeepNext(still, p);
    p.putNext(still.g());
    idle.handOff(p);
    assertSame(p, asleep.given);
  }

  @Test
  void globalQueueIsWorkToo() {
    M asleep = still.idle(still.p(1));
    sched.global.put(still.g());
    idle.handOff(p);
    assertSame(p, asleep.given);
  }

  @Test
  void processorWithoutWorkBecomesIdleAndNobodyIsWoken() {
    M asleep = still.idle(still.p(1));
    idle.handOff(p);
    assertNull(asleep.given);
    assertEquals(2, idle.idleProcs());
    assertEquals(0, idle.handoffs());
    assertFalse(idle.somebodyLooks());
  }

  // I3: the M cannot take its P back, so another is woken.
  @Test
  void workOfAnotherProcessorWakesASearcherForTheIdleOne() {
    M asleep = still.busy(null);
    idle.join(asleep);
    still.p(2).put(still.g());
    idle.handOff(p);
    assertSame(p, asleep.given);
    assertTrue(asleep.givenSpinning);
    assertEquals(1, idle.searching());
    assertEquals(0, idle.idleProcs());
  }

  @Test
  void retiringProcessorIsEmptied() {
    G next = still.g();
    G queued = still.g();
    p.put(queued);
    p.putNext(next);
    idle.retire(1);
    p.ask(P.RETIRE);
    idle.handOff(p);
    assertEquals(List.of(next, queued), still.global());
    assertTrue(p.isEmpty());
    assertTrue(p.retired);
    assertEquals(0, idle.idleProcs());
  }

  @Test
  void processorThatRetiresAtTheLastMomentDoesNotBecomeIdle() {
    idle.retire(1); // the request is not there yet
    idle.handOff(p);
    assertTrue(p.retired);
    assertEquals(0, idle.idleProcs());
  }

  @Test
  void whoWatchesIsToldOfTheAlarmsOfAProcessorThatIsShelved() {
    M asleep = still.idle(still.p(1));
    p.timers.add(alarm(5));
    still.parker.woken.clear();
    idle.handOff(p);
    assertEquals(2 - 1, idle.idleProcs(), "one of the two searches");
    assertTrue(asleep.given != null, "and becomes the watcher");
  }

  private Alarm alarm(long delayNanos) {
    var alarm =
        new Alarm() {
          @Override
          protected void ring() {}
        };
    alarm.prepare(still.clock, delayNanos);
    return alarm;
  }

  // H2 and H3.

  @Test
  void whoFindsALockedGoroutineGivesItsProcessorAndSleeps() {
    M owner = locked(p);
    M finder = still.busy(still.p(1));
    ThreadLock.handOver(finder, still.g(), owner);
    assertNull(finder.p);
    assertSame(still.p(1), owner.given);
    assertFalse(owner.givenSpinning);
    assertEquals(List.of(owner), List.copyOf(still.parker.woken));
    assertEquals(1, idle.idleMs(), "the finder, for the next P");
    assertEquals(0, idle.idleProcs());
    assertEquals(0, idle.searching());
    assertEquals(1, idle.handoffs());
  }

  @Test
  void finderCanBeGivenAnotherProcessorAtOnce() {
    M owner = locked(p);
    M finder = still.busy(still.p(1));
    still.parker.onPark = () -> {};
    ThreadLock.handOver(finder, still.g(), owner);
    still.p(2).put(still.g());
    idle.handOff(still.p(2));
    assertTrue(idle.await(finder));
    assertSame(still.p(2), finder.p);
    assertFalse(finder.spinning);
  }

  // L2 and L3.

  @Test
  void lockedThreadSleepsUntilItIsGivenAProcessor() {
    G g = still.g();
    M m = locked(p, g);
    var parks = new AtomicInteger();
    still.parker.onPark =
        () -> {
          assertNull(m.p);
          assertEquals(1, idle.idleProcs());
          assertEquals(0, idle.idleMs(), "it is not one to be woken for just anything");
          Thread.currentThread().interrupt();
          if (parks.incrementAndGet() == 3) {
            ThreadLock.handOver(still.busy(still.p(1)), g, m);
          }
        };
    assertSame(g, ThreadLock.next(m, g));
    assertEquals(3, parks.get());
    assertFalse(Thread.interrupted(), "else each later park would return at once");
    assertSame(still.p(1), m.p);
    assertNull(m.given);
    assertFalse(m.spinning);
  }

  @Test
  void handOverMayComeBeforeItSleepsEvenBeforeItHasGivenUpItsOwnProcessor() {
    G g = still.g();
    M m = locked(p, g);
    ThreadLock.handOver(still.busy(still.p(1)), g, m);
    assertSame(g, ThreadLock.next(m, g), "and nobody parks in this test");
    assertSame(still.p(1), m.p);
    assertNull(m.given);
    assertEquals(1, idle.idleProcs(), "its own, which it handed off");
  }

  @Test
  void ownGoroutineInRunNextGoesOnAtOnceInTheSameSlice() {
    G g = still.g();
    M m = locked(p, g);
    p.putNext(g);
    assertSame(g, ThreadLock.next(m, g));
    assertSame(p, m.p);
    assertTrue(p.inherit);
    assertTrue(p.isEmpty());
    assertEquals(0, idle.handoffs());
  }

  @Test
  void ownGoroutineInRunNextThatHasUsedUpItsSliceLetsOthersRun() {
    G g = still.g();
    M m = locked(p, g);
    M asleep = still.idle(still.p(1));
    p.putNext(g);
    p.ask(P.PREEMPT);
    still.parker.onPark = () -> ThreadLock.handOver(still.busy(still.p(2)), g, m);
    ThreadLock.next(m, g);
    assertSame(p, asleep.given);
    assertSame(still.p(2), m.p);
  }

  // Real goroutines.

  @Test
  void countOverflowSaysSoInGosWords() throws Exception {
    try (var sched = new Closing()) {
      sched.it.run(
          () -> {
            ThreadLock.lock();
            M m = M.current();
            m.lockCount = Integer.MAX_VALUE;
            var e = assertThrows(IllegalStateException.class, ThreadLock::lock);
            assertEquals(
                "LockOSThread nesting overflow: locked 2147483647 times; unlock as often as you"
                    + " lock",
                e.getMessage());
            assertEquals(Integer.MAX_VALUE, m.lockCount);
            m.lockCount = 1;
            ThreadLock.unlock();
            assertNull(m.lockedG);
            return null;
          });
    }
  }

  @Test
  void lockIsSeenOnBothSidesAndNotInherited() throws Exception {
    try (var sched = new Closing()) {
      sched.it.run(
          () -> {
            G g = Sched.currentG();
            M m = M.current();
            assertNull(g.lockedM);
            ThreadLock.lock();
            ThreadLock.lock();
            assertSame(m, g.lockedM);
            assertSame(g, m.lockedG);
            assertEquals(2, m.lockCount);
            var child = new AtomicReference<G>();
            Thread.ofVirtual().start(() -> child.set(Sched.currentG())).join();
            assertNull(child.get().lockedM);
            ThreadLock.unlock();
            assertSame(m, g.lockedM);
            ThreadLock.unlock();
            assertNull(g.lockedM);
            assertNull(m.lockedG);
            ThreadLock.unlock();
            assertEquals(0, m.lockCount);
            return null;
          });
    }
  }

  // The number of threads stays near what is needed: one for each that is locked, and the others.
  @Test
  void handingOverMakesNoThreadsOverAndOver() throws Exception {
    try (var sched = new Closing()) {
      int locked = 10;
      var done = new CountDownLatch(locked);
      for (int i = 0; i < locked; i++) {
        Spawn.go(
            sched.it,
            "",
            () -> {
              ThreadLock.lock();
              for (int k = 0; k < 200; k++) {
                Sched.gosched();
                Thread.sleep(0, 10_000);
              }
              ThreadLock.unlock();
              done.countDown();
              return null;
            });
      }
      done.await();
      int threads = sched.it.counters().threads();
      assertTrue(threads <= locked + 2 * sched.it.maxProcs() + 1, threads + " threads");
    }
  }

  private static final class Closing implements AutoCloseable {
    final Sched it = new Sched(2, new Knobs(2, false, true));

    @Override
    public void close() {
      assertEquals(0, it.counters().rescues());
      it.close();
    }
  }
}
