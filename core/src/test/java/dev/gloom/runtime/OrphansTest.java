package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.Lab;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A P is taken from its M: the steps O1 to O5 of sysmon against A1 to A4 of the M, each order by
/// hand, and each way in which the M can notice.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OrphansTest {
  private final Still still = new Still(3);
  private final Sched sched = still.sched;
  private final Idle idle = sched.idle;
  private final Orphans orphans = sched.orphans;
  private final P p = still.p(0);
  private final M m = still.busy(p);
  private final P other = still.p(1);
  private final M otherM = still.busy(other);
  private final M asleep = still.busy(null);

  @BeforeEach
  void aThreadSleeps() {
    idle.join(asleep); // so that no real one is started
  }

  /// As many Ps in use as there are to be, each with an id of its own, and nobody searches for
  /// ever.
  @AfterEach
  void countsAreRight() {
    P[] inUse = Arrays.stream(sched.procs().all).filter(q -> !q.retired).toArray(P[]::new);
    assertEquals(sched.maxProcs(), inUse.length);
    assertEquals(inUse.length, Arrays.stream(inUse).mapToInt(q -> q.id).distinct().count());
    assertTrue(idle.searching() >= 0 && idle.searching() <= 1, "" + idle.searching());
    assertEquals(0, idle.surplus());
  }

  private P fresh() {
    P now = sched.procs().all[0];
    assertNotSame(p, now);
    return now;
  }

  /// Makes `p` an orphan; its successor is idle afterwards.
  private void orphan() {
    assertTrue(orphans.take(p, false));
    assertEquals(P.ORPHAN, p.status);
    assertEquals(1, idle.idleProcs());
  }

  private List<P> listed() {
    return List.of(sched.procs().orphans);
  }

  private void wellAbandoned() {
    assertEquals(P.ABANDONED, p.status);
    assertTrue(p.isEmpty());
    assertNotSame(p, m.p);
    assertFalse(idle.somebodyLooks() && idle.searching() == 0, "it has decided");
    orphans.look(0, false);
    assertEquals(List.of(), listed());
  }

  // O1 to O5.

  /// Or in a crowd of goroutines that block, those in the global queue would always come first, and
  /// one that sleeps for a millisecond waits for all of them.
  @Test
  void newProcessorGoesOnWhereTheOldOneWasWithTheGlobalQueue() {
    orphan();
    P fresh = fresh();
    G global = still.g();
    G local = still.g();
    sched.global.put(global);
    fresh.put(local);
    assertSame(local, FindWork.queued(sched, fresh));
    fresh.put(local);
    for (int i = 0; i < 61; i++) {
      Still.dispatched(fresh);
    }
    assertSame(global, FindWork.queued(sched, fresh));
    FindWork.queued(sched, fresh);
  }

  @Test
  void slotGetsANewProcessorAndTheOldOneIsListed() {
    orphan();
    P fresh = fresh();
    assertEquals(p.id, fresh.id);
    assertSame(p.timers, fresh.timers);
    assertEquals(P.FREE, fresh.status);
    assertEquals(List.of(p), listed());
    assertSame(other, still.p(1));
    assertSame(m, p.holder);
    assertSame(p, m.p, "its M knows nothing yet");
    assertEquals(P.PREEMPT, p.request, "but is asked");
    assertNull(asleep.given, "there is nothing to do");
  }

  @Test
  void withWorkTheNewProcessorGoesToAThreadAtOnce() {
    sched.global.put(still.g());
    assertTrue(orphans.take(p, true));
    assertSame(fresh(), asleep.given);
    assertFalse(asleep.givenSpinning);
    assertEquals(0, idle.idleProcs());
  }

  @Test
  void bothReasonsAreCounted() {
    orphans.take(p, true);
    assertEquals(1, sched.counters().takenBurning());
    assertEquals(0, sched.counters().takenBlocked());
    orphans.take(other, false);
    assertEquals(1, sched.counters().takenBlocked());
    assertEquals(2, sched.counters().orphans());
  }

  @ParameterizedTest
  @ValueSource(ints = {P.FREE, P.BLOCKED, P.ORPHAN, P.ABANDONED})
  void onlyWhatIsHeldIsTaken(int status) {
    p.status = status;
    assertFalse(orphans.take(p, false));
    assertEquals(status, p.status);
    assertSame(p, still.p(0));
    assertEquals(List.of(), listed());
  }

  @Test
  void whatIsThereMovesInOrder() {
    G[] ring = still.gs(3);
    G[] yielded = still.gs(2);
    G next = still.g();
    G before = still.g();
    for (G g : ring) {
      p.put(g);
    }
    for (G g : yielded) {
      p.putYielded(g);
    }
    p.putNext(next);
    sched.global.put(before);
    assertTrue(orphans.take(p, false));
    assertEquals(
        List.of(next, ring[0], ring[1], ring[2], before, yielded[0], yielded[1]), still.global());
    assertTrue(p.isEmpty());
    assertSame(fresh(), asleep.given);
  }

  @Test
  void fullRingsMoveInOrderToo() {
    var expected = new ArrayList<G>();
    G next = still.g();
    expected.add(next);
    for (int i = 0; i < RunQueue.CAPACITY; i++) {
      G g = still.g();
      p.put(g);
      expected.add(g);
    }
    p.putNext(next);
    for (int i = 0; i < 1024; i++) {
      G g = still.g();
      p.putYielded(g);
      expected.add(g);
    }
    assertTrue(orphans.take(p, false));
    assertEquals(expected, still.global());
    assertEquals(expected.size(), sched.global.size());
  }

  @Test
  void runNextThatWasKeptIsKeptNoLonger() {
    FindWorkTest.makeKeepNext(still, p);
    orphan();
    assertFalse(p.keepsNext());
    assertTrue(p.putNext(still.g()), "others are told");
  }

  @Test
  void countersOfAnOrphanAreNotLost() {
    Still.dispatched(p);
    Still.dispatched(other);
    long before = sched.counters().dispatches();
    orphan();
    assertEquals(before, sched.counters().dispatches());
    Still.dispatched(p);
    Orphans.abandon(m, p);
    assertEquals(before + 1, sched.counters().dispatches());
    orphans.look(0, false);
    assertEquals(before + 1, sched.counters().dispatches(), "when it is no longer listed");
    orphans.look(0, false);
    assertEquals(before + 1, sched.counters().dispatches());
  }

  /// One that reads them while an orphan is forgotten sees it in the list or among those that are
  /// gone.
  @Test
  void noFigureGoesBackWhenAnOrphanIsForgotten() throws Exception {
    long before = sched.counters().dispatches();
    var done = new AtomicBoolean();
    var back = new FutureTask<>(() -> stepsBack(done));
    var reader = new Thread(back, "reader");
    reader.start();
    P held = p;
    for (int i = 0; i < 20_000; i++) {
      Still.dispatched(held);
      assertTrue(orphans.take(held, false));
      Orphans.abandon(m, held);
      orphans.look(0, false);
      held = idle.acquire();
      held.heldBy(m);
    }
    done.set(true);
    assertEquals(0, back.get());
    assertEquals(before + 20_000, sched.counters().dispatches());
  }

  private int stepsBack(AtomicBoolean done) {
    int steps = 0;
    long last = 0;
    while (!done.get()) {
      long now = sched.counters().dispatches();
      if (now < last) {
        steps++;
      }
      last = now;
    }
    return steps;
  }

  // The orders of O1 to O5 and A1 to A4.

  @Test
  void mayNoticeBeforeTheSlotHasANewProcessor() {
    G g = still.g();
    p.put(g);
    var fresh = new P(sched, p.id, p.timers);
    fresh.status = P.FREE;
    assertTrue(p.casStatus(P.HELD, P.ORPHAN)); // O1
    Orphans.abandon(m, p); // A1 to A3
    assertEquals(P.ABANDONED, p.status);
    idle.comeBack(m); // A4
    assertNull(m.p, "no P is idle");
    assertEquals(List.of(g), still.global());
    orphans.replace(p, fresh, false); // O2 to O5
    assertSame(fresh, fresh());
    assertSame(fresh, m.given, "it slept last");
    assertEquals(List.of(p), listed());
    orphans.look(0, false);
    assertEquals(List.of(), listed());
  }

  @Test
  void whatItPutsBetweenTheFirstStepAndTheLookIsFound() {
    var fresh = new P(sched, p.id, p.timers);
    fresh.status = P.FREE;
    p.casStatus(P.HELD, P.ORPHAN);
    G g = still.g();
    p.put(g);
    orphans.replace(p, fresh, false);
    assertEquals(List.of(g), still.global());
    assertSame(fresh, asleep.given);
  }

  @Test
  void whatItPutsAfterTheLookIsSeenByThieves() {
    orphan();
    G g = still.g();
    p.put(g);
    assertTrue(sched.hasQueuedWork());
    assertSame(g, FindWork.steal(sched, other));
    G next = still.g();
    p.putNext(next);
    assertSame(next, FindWork.steal(sched, other));
    G yielded = still.g();
    p.putYielded(yielded);
    assertSame(yielded, FindWork.steal(sched, other));
    assertFalse(sched.hasQueuedWork());
  }

  @Test
  void whatItPutsAfterTheLookIsSeenByWhoGoesToSleep() {
    orphan();
    p.put(still.g());
    idle.release(otherM, other);
    assertTrue(otherM.p != null, "it stays awake");
    assertTrue(otherM.spinning);
  }

  @Test
  void whatItMakesReadyAfterTheLookWakesSomebody() {
    orphan();
    sched.ready(m, still.g());
    assertSame(fresh(), asleep.given);
    assertTrue(asleep.givenSpinning);
  }

  @Test
  void sysmonEmptiesOrphansEachRound() {
    orphan();
    assertFalse(orphans.look(0, false), "nothing to do");
    G g = still.g();
    p.put(g);
    assertTrue(orphans.look(0, false));
    assertEquals(List.of(g), still.global());
    assertSame(fresh(), asleep.given);
    assertEquals(List.of(p), listed(), "its M may put more there");
    assertFalse(orphans.look(0, false));
  }

  // It served the request, or counted, while sysmon was between O1 and O3.
  @Test
  void orphanThatMissedTheRequestIsAskedAgain() {
    orphan();
    p.served(P.PREEMPT);
    FindWorkTest.makeKeepNext(still, p);
    orphans.look(0, false);
    assertEquals(P.PREEMPT, p.request);
    assertFalse(p.keepsNext());
  }

  @Test
  void goroutinesThatWereMovedAreNotKeptFromTheCollector() {
    var gs = new ArrayList<WeakReference<G>>();
    for (int i = 0; i < 100; i++) {
      G g = still.g();
      p.put(g);
      gs.add(new WeakReference<>(g));
    }
    orphans.take(p, false);
    assertEquals(100, sched.global.size());
    while (sched.global.take() != null) {
      // it runs
    }
    Orphans.abandon(m, p);
    orphans.look(0, false);
    p.queue.forgetTaken(); // the orphan itself, which this test still has
    Lab.await(
        "all but the last one that was stolen are collected",
        () -> {
          System.gc();
          return gs.stream().filter(r -> r.get() != null).count() <= 1;
        });
  }

  // A1: how it notices.

  @Test
  void beforeItLooksForWork() {
    orphan();
    G g = still.g();
    p.put(g);
    assertSame(g, FindWork.next(m));
    assertSame(fresh(), m.p, "the new one in its slot was idle");
    assertFalse(m.spinning);
    assertEquals(0, idle.idleProcs());
    wellAbandoned();
  }

  @Test
  void beforeItLooksForWorkAndNoProcessorIsIdle() {
    orphan();
    assertSame(fresh(), idle.acquire());
    fresh().heldBy(still.busy(null));
    G g = still.g();
    p.put(g);
    still.parker.onPark =
        () -> {
          assertNull(m.p);
          assertTrue(m.inIdleList);
          assertEquals(List.of(g), still.global(), "for whoever has a P");
          fresh().free();
          idle.handOff(fresh());
        };
    assertSame(g, FindWork.next(m));
    assertSame(fresh(), m.p);
    wellAbandoned();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whenItWouldLetGoOfIt(boolean spinning) {
    if (spinning) {
      assertTrue(idle.maySearch(m));
    }
    orphan();
    idle.release(m, p);
    assertSame(fresh(), m.p, "it takes an idle one");
    assertTrue(m.spinning);
    assertEquals(1, idle.searching());
    wellAbandoned();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whenItWouldLetGoOfItAndNoProcessorIsIdle(boolean spinning) {
    if (spinning) {
      assertTrue(idle.maySearch(m));
    }
    orphan();
    fresh().heldBy(still.busy(idle.acquire()));
    idle.release(m, p);
    assertNull(m.p);
    assertTrue(m.inIdleList);
    assertFalse(m.spinning);
    assertEquals(0, idle.searching());
    wellAbandoned();
  }

  @Test
  void whenItsProcessorWasToRetire() {
    orphan();
    p.ask(P.RETIRE);
    assertFalse(idle.leaves(m, p));
    assertFalse(p.retired);
    assertSame(p, m.p, "it notices later");
    G g = still.g();
    p.put(g);
    assertSame(g, FindWork.next(m));
    wellAbandoned();
  }

  @Test
  void whenItHasALockedGoroutineToHandOver() {
    orphan();
    M owner = still.busy(null);
    G g = still.g();
    ThreadLock.handOver(m, g, owner);
    assertNull(owner.given, "it has no P to give");
    assertEquals(List.of(g), still.global());
    assertTrue(asleep.given != null || m.p != null, "somebody looks for it");
    wellAbandoned();
  }

  @Test
  void whenItIsLockedAndItsGoroutineSuspends() {
    orphan();
    G g = still.g();
    m.lockedG = g;
    m.lockCount = 1;
    G queued = still.g();
    p.put(queued);
    still.parker.onPark =
        () -> {
          assertNull(m.p);
          assertFalse(m.inIdleList, "it waits for its goroutine only");
          assertEquals(List.of(queued), still.global());
          ThreadLock.handOver(otherM, g, m);
        };
    assertSame(g, ThreadLock.next(m, g));
    assertSame(other, m.p);
    wellAbandoned();
  }

  @Test
  void searcherThatFoundWorkWithAnOrphanRunsItThere() {
    orphan();
    p.served(P.PREEMPT); // not asked yet
    sched.global.put(still.g());
    assertTrue(idle.maySearch(m));
    assertTrue(FindWork.next(m) != null);
    assertFalse(m.spinning);
    assertSame(p, m.p);
    Orphans.abandon(m, p);
    wellAbandoned();
  }

  // Alarms.

  @Test
  void alarmsStayWithTheSlot() {
    Bell bell = Bell.at(1_000_000);
    p.timers.add(bell);
    assertTrue(orphans.take(p, false));
    assertSame(fresh(), asleep.given, "who looks for work and then watches");
    assertEquals(1_000_000, sched.earliestAlarm());
    assertEquals(1_000_000, fresh().timers.earliest());
    Bell later = Bell.at(500_000);
    sched.arm(m, later);
    assertEquals(500_000, fresh().timers.earliest(), "armed by the orphan's M");
    still.clock.stopAt(2_000_000);
    assertTrue(fresh().ringDue(fresh().timers));
    assertEquals(1, bell.rang.get());
    assertEquals(1, later.rang.get());
  }

  @Test
  void alarmThatNobodyWasToldOfIsToldAtTheEnd() {
    orphan();
    ParkTimers.add(m, Bell.at(1_000_000));
    assertTrue(p.newEarliest);
    assertEquals(Alarm.NEVER, idle.watchUntil());
    Orphans.abandon(m, p);
    assertSame(fresh(), asleep.given, "who looks for work and then watches");
    assertFalse(p.newEarliest);
  }

  /// Makes the slot of the orphan go.
  private void slotGoes() {
    still.clock.step(1_000_000_000L / 3);
    orphan();
    assertEquals(3, sched.maxProcs(2));
    assertEquals(Alarm.NEVER, p.timers.earliest());
    assertEquals(TimerHeap.Added.CLOSED, p.timers.add(Bell.at(1)));
  }

  @Test
  void alarmOfAnOrphanWhoseSlotHasGoneGoesElsewhere() {
    slotGoes();
    sched.arm(m, Bell.at(700_000));
    assertEquals(700_000, sched.earliestAlarm());
  }

  // The time-outs of the JDK, which nobody would wake else.
  @Test
  void timeOutOfAnOrphanWhoseSlotHasGoneGoesElsewhere() {
    slotGoes();
    ParkTimers.add(m, Bell.at(700_000));
    assertEquals(700_000, sched.earliestAlarm());
    ParkTimers.add(still.busy(null), Bell.at(600_000));
    assertEquals(600_000, sched.earliestAlarm(), "so does that of an M without a P");
  }

  // Against a change of maxProcs.

  @Test
  void newProcessorGoesAtOnceIfThereAreTooMany() {
    Bell bell = Bell.at(900_000);
    p.timers.add(bell);
    p.put(still.g());
    still.clock.onRead =
        _ -> {
          if (idle.surplus() > 0) {
            still.clock.onRead = _ -> {};
            assertTrue(orphans.take(p, true));
          }
        };
    assertEquals(3, sched.maxProcs(2));
    assertEquals(2, sched.procs().all.length);
    assertEquals(List.of(p), listed());
    assertEquals(1, sched.global.size());
    assertEquals(900_000, sched.earliestAlarm(), "its alarm has moved");
    assertEquals(0, idle.idleProcs());
    Orphans.abandon(m, p);
    wellAbandoned();
  }

  @Test
  void newProcessorThatTakesTheSlotBeforeTheDemandIsAskedLikeAll() {
    orphan();
    fresh().heldBy(still.busy(idle.acquire()));
    still.clock.step(1_000_000_000L / 3);
    assertEquals(3, sched.maxProcs(2));
    assertTrue((fresh().request & P.RETIRE) != 0);
    assertEquals(1, idle.surplus(), "nobody came by");
    assertEquals(2, sched.maxProcs(3));
  }

  @Test
  void growingKeepsOrphansAndNewProcessors() {
    orphan();
    P fresh = fresh();
    assertEquals(3, sched.maxProcs(5));
    assertSame(fresh, still.p(0));
    assertEquals(List.of(p), listed());
    assertEquals(5, sched.procs().all.length);
    assertTrue(asleep.given == null || idle.searching() == 1);
  }

  // How many run.

  @Test
  void onlyThoseThatRunWithoutAProcessorCountAsBeyond() {
    orphan();
    assertEquals(1, sched.counters().overcommitted());
    still.kernel.sleeps(m);
    assertEquals(0, sched.counters().overcommitted());
    still.kernel.runs(m);
    Orphans.abandon(m, p);
    assertEquals(0, sched.counters().overcommitted());
  }

  @Test
  void closedSchedulerDoesNotEndWhileAnOrphanHasWork() {
    orphan();
    idle.release(otherM, other);
    idle.release(still.busy(still.p(2)), still.p(2));
    assertEquals(3, idle.idleProcs());
    p.queue.offerNext(still.g());
    sched.close();
    assertFalse(sched.endThreadsIfDone());
    assertEquals(3, idle.idleMs(), "nobody has been told to end");
    p.queue.takeNext();
    sched.endThreadsIfDone();
    assertEquals(0, idle.idleMs());
  }
}
