package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.SynchronousQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What sysmon does in a round, each round called by hand; and how long it sleeps between them, its
/// thread stepped by hand.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SysmonTest {
  private static final long MILLI = 1_000_000;

  private final Still still = new Still(2);
  private final Sched sched = still.sched;
  private final P p = still.p(0);
  private final P other = still.p(1);
  private long now;

  @AfterEach
  void nobodyHelps() {
    Hogs.helper(null);
  }

  /// One round a millisecond, as when something is going on.
  private void pass(int millis) {
    for (int i = 0; i < millis; i++) {
      now += MILLI;
      sched.sysmon.round(now);
    }
  }

  // Slices.

  @Test
  void processorIsAskedToLetOthersRunAfterASliceWithoutATick() {
    p.put(still.g());
    pass(1); // sees the tick
    pass(9);
    assertEquals(0, p.request, "9 ms");
    pass(1);
    assertEquals(P.PREEMPT, p.request, "10 ms");
    assertEquals(0, other.request, "the other has nobody waiting");
  }

  @Test
  void theSliceCanBeChangedWhileItRuns() {
    p.put(still.g());
    pass(1);
    sched.hogs.slice(3);
    pass(2);
    assertEquals(0, p.request, "2 ms");
    pass(1);
    assertEquals(P.PREEMPT, p.request, "3 ms");
    p.served(P.PREEMPT);
    sched.hogs.slice(20);
    pass(19);
    assertEquals(0, p.request, "19 ms");
    pass(1);
    assertEquals(P.PREEMPT, p.request, "20 ms");
  }

  @Test
  void theHelperIsToldOfWhoeverIsAskedAndGoesOnUnlessItIsOff() {
    var woken = new int[1];
    Hogs.helper(() -> woken[0]++);
    p.put(still.g());
    pass(11);
    assertEquals(P.PREEMPT, p.request);
    assertFalse(p.caught, "it has time to stop");
    pass(1);
    assertTrue(p.caught);
    assertEquals(1, woken[0]);
    p.caught = false;
    sched.hogs.mode(Preemption.Mode.OFF);
    int before = woken[0];
    pass(11);
    assertEquals(P.PREEMPT, p.request, "scheduling points still look");
    assertFalse(p.caught);
    assertEquals(before, woken[0]);
  }

  @Test
  void theHelperIsNotToldOfOneThatStops() {
    var woken = new int[1];
    Hogs.helper(() -> woken[0]++);
    p.put(still.g());
    for (int i = 0; i < 10; i++) {
      pass(11);
      assertEquals(P.PREEMPT, p.request);
      p.served(P.PREEMPT);
      Still.dispatched(p);
    }
    assertEquals(0, woken[0]);
    assertFalse(p.caught);
  }

  @Test
  void oneThatDoesNotStopIsTriedAgainOnlyAfterASecond() {
    Hogs.helper(() -> {});
    p.put(still.g());
    pass(12);
    assertTrue(p.caught);
    p.caught = false;
    Hogs.cannotStop(p);
    pass(900);
    assertFalse(p.caught);
    pass(200);
    assertTrue(p.caught);
    p.caught = false;
    Hogs.cannotStop(p);
    Still.dispatched(p); // another one has it
    pass(12);
    assertTrue(p.caught);
  }

  @Test
  void whoIsKnownNotToStopHasLessTime() {
    Hogs.helper(() -> {});
    assertEquals(50 * MILLI, sched.hogs.patienceNanos(p));
    Hogs.cannotStop(p);
    assertEquals(10 * MILLI / 4, sched.hogs.patienceNanos(p));
    p.stuckAgain = true;
    assertEquals(10 * MILLI / 16, sched.hogs.patienceNanos(p));
    Still.dispatched(p); // another one has it
    assertEquals(50 * MILLI, sched.hogs.patienceNanos(p));
  }

  @Test
  void nobodyIsAskedWhileNobodyWaits() {
    pass(100);
    assertEquals(0, p.request);
  }

  @Test
  void goroutineInTheGlobalQueueWaitsForEveryProcessor() {
    sched.global.put(still.g());
    pass(11);
    assertEquals(P.PREEMPT, p.request);
    assertEquals(P.PREEMPT, other.request);
  }

  @Test
  void chainThroughRunNextIsOneSlice() {
    p.putNext(still.g());
    for (int i = 0; i < 11; i++) {
      assertEquals(0, p.request, i + " ms");
      pass(1);
      p.inherit = true;
      Still.dispatched(p); // dispatches, but no tick
    }
    assertEquals(P.PREEMPT, p.request);
  }

  @Test
  void tickStartsTheSliceAnew() {
    p.put(still.g());
    for (int i = 0; i < 10; i++) {
      pass(9);
      Still.dispatched(p);
    }
    assertEquals(0, p.request);
  }

  @Test
  void servedRequestComesAgainOnlyAfterAnotherSlice() {
    p.put(still.g());
    pass(11);
    p.served(P.PREEMPT);
    pass(9);
    assertEquals(0, p.request);
    pass(1);
    assertEquals(P.PREEMPT, p.request);
  }

  @Test
  void oneThatBeginsToWaitLateInALongSliceNeedNotWaitForAnotherOne() {
    pass(30);
    p.put(still.g());
    pass(1);
    assertEquals(P.PREEMPT, p.request);
  }

  // A pause of the whole process, by a debugger or the collector, is nobody's slice.
  @Test
  void nobodyIsBlamedForTheTimeThatARoundComesLate() {
    M asleep = still.idle(other);
    p.put(still.g());
    sched.global.put(still.g());
    pass(2);
    now += 500 * MILLI;
    sched.sysmon.round(now);
    assertEquals(0, p.request);
    assertEquals(0, sched.sysmon.rescues());
    pass(7);
    assertEquals(0, p.request, "9 ms without the pause");
    pass(1);
    assertEquals(P.PREEMPT, p.request, "10 ms");
    pass(1);
    assertEquals(0, sched.sysmon.rescues());
    assertNull(asleep.given);
    muted(() -> pass(2));
    assertEquals(1, sched.sysmon.rescues());
  }

  // In a container with a tenth of a core, all of its threads stand still most of the time.
  @Test
  void evenIfEveryRoundComesLateWhoeverComputesIsAskedToStopAndLosesItsProcessor() {
    M burning = still.busy(p);
    sched.idle.join(still.busy(null));
    p.put(still.g());
    int rounds = 0;
    while (p.request == 0 && rounds++ < 100) {
      now += 100 * MILLI;
      sched.sysmon.round(now);
    }
    assertTrue(rounds >= 9, rounds + ": its own time counts");
    assertEquals(P.PREEMPT, p.request);
    for (int i = 0; i < 100 && p.status == P.HELD; i++) {
      still.kernel.burnt(burning, MILLI);
      now += 100 * MILLI;
      sched.sysmon.round(now);
    }
    assertEquals(P.ORPHAN, p.status);
  }

  @Test
  void processorThatWentLateIsLeftAlone() {
    p.put(still.g());
    p.retired = true;
    pass(100);
    assertEquals(0, p.request);
  }

  // Run-next that its P keeps for itself.

  @Test
  void keptRunNextIsGivenUpAfterARoundWithoutADispatch() {
    M asleep = still.idle(other);
    FindWorkTest.makeKeepNext(still, p);
    assertFalse(p.putNext(still.g()), "nobody is told");
    Still.dispatched(p);
    pass(1);
    assertTrue(p.keepsNext(), "it got on since the last look");
    assertNull(asleep.given);
    pass(1);
    assertFalse(p.keepsNext());
    assertSame(other, asleep.given, "an M looks for work now");
    assertSame(asleep, still.parker.woken.poll());
    assertEquals(0, sched.sysmon.rescues(), "this is no rescue");
  }

  @Test
  void keptRunNextStaysWhileItsProcessorGetsOn() {
    M asleep = still.idle(other);
    FindWorkTest.makeKeepNext(still, p);
    p.putNext(still.g());
    for (int i = 0; i < 100; i++) {
      p.inherit = true;
      Still.dispatched(p);
      pass(1);
    }
    assertTrue(p.keepsNext());
    assertNull(asleep.given);
    assertEquals(0, sched.sysmon.rescues());
  }

  @Test
  void keptRunNextStaysWhileNoProcessorIsIdle() {
    FindWorkTest.makeKeepNext(still, p);
    p.putNext(still.g());
    pass(5);
    assertTrue(p.keepsNext());
  }

  /// Its M asks itself whether it keeps run-next, and before it puts one there a thief has taken
  /// the one before, so that it is to keep nothing: nobody is told, and nobody can know.
  @Test
  void whatIsKeptInTheMomentAThiefComesIsGivenUpTooAndIsNoRescue() {
    M asleep = still.idle(other);
    pass(1);
    FindWorkTest.makeKeepNext(still, p);
    p.keepNothing();
    assertTrue(p.queue.offerNext(still.g()));
    assertFalse(p.keepsNext());
    pass(1);
    assertSame(other, asleep.given, "an M looks for work now");
    assertEquals(0, sched.sysmon.rescues());
  }

  @Test
  void afterAFewDispatchesNothingThatWasKeptIsLeft() {
    still.idle(other);
    p.keepNothing();
    assertTrue(p.mayKeep());
    for (int i = 0; i <= P.LAST_KEPT; i++) {
      Still.dispatched(p);
    }
    assertFalse(p.mayKeep());
    pass(1);
    p.put(still.g());
    muted(() -> pass(11));
    assertEquals(1, sched.sysmon.rescues(), "a bug like any other");
  }

  // Without memory.

  /// Each look at a thread takes memory, and so does a P in place of the one that is taken.
  @Test
  void withoutMemoryItDoesOnlyWhatNeedsNoneForASecond() {
    M asleep = still.idle(other);
    sched.idle.acquire();
    M m = still.busy(p);
    still.kernel.sleeps(m);
    p.put(still.g());
    pass(2);
    int asked = still.kernel.asked;
    assertTrue(asked > 0);
    assertSame(p, still.p(0), "one look is not enough");
    sched.sysmon.outOfMemory(now);
    pass(999);
    assertEquals(asked, still.kernel.asked, "nobody is asked");
    assertSame(p, still.p(0), "nothing is taken");
    assertEquals(P.PREEMPT, p.request, "slices go on");
    pass(3);
    assertTrue(still.kernel.asked > asked);
    assertNotSame(p, still.p(0), "it sleeps, and has been found out");
    assertSame(still.p(0), asleep.given);
  }

  @Test
  void whoeverIsStrandedWithoutMemoryIsLookedForLater() {
    sched.stranded = true;
    sched.sysmon.outOfMemory(now);
    pass(999);
    assertTrue(sched.stranded);
    pass(1);
    assertFalse(sched.stranded);
  }

  // The safety net.

  @Test
  void workThatWaits10MsNextToAnIdleProcessorIsRescued() {
    M asleep = still.idle(other);
    sched.global.put(still.g()); // and nobody calls wake: the bug
    pass(10);
    assertEquals(0, sched.sysmon.rescues(), "seen at 1 ms, so not before 11");
    assertNull(asleep.given);
    String said = muted(() -> pass(1));
    assertEquals(1, sched.sysmon.rescues());
    assertEquals(1, sched.counters().rescues());
    assertSame(other, asleep.given);
    assertTrue(
        said.startsWith("gloom: goroutines waited although a processor was idle: a bug in gloom"),
        said);
    assertTrue(said.contains("seed=" + still.seed), said);
  }

  @Test
  void workInARingIsRescuedToo() {
    still.idle(other);
    p.put(still.g());
    muted(() -> pass(11));
    assertEquals(1, sched.sysmon.rescues());
  }

  @Test
  void rescueIsReportedOnceAndCountedEachTime() {
    M asleep = still.idle(other);
    G g = still.g();
    sched.global.put(g);
    muted(() -> pass(11));

    sched.global.take(); // the M that was woken runs it and sleeps again
    assertSame(other, asleep.given);
    asleep.given = null;
    other.heldBy(asleep);
    asleep.spinning = true;
    sched.idle.release(asleep, other);
    sched.global.put(g);
    assertEquals("", muted(() -> pass(11)));
    assertEquals(2, sched.sysmon.rescues());
  }

  @Test
  void nothingIsRescuedWhileSomebodySearches() {
    M asleep = still.idle(other);
    M searcher = still.searcher(p);
    sched.global.put(still.g());
    pass(100);
    assertEquals(0, sched.sysmon.rescues());
    assertNull(asleep.given);
    assertTrue(searcher.spinning);
  }

  @Test
  void nothingIsRescuedWithoutAnIdleProcessor() {
    sched.global.put(still.g());
    pass(100);
    assertEquals(0, sched.sysmon.rescues());
  }

  @Test
  void startOfAProcessorStartsTheWaitAnew() {
    M asleep = still.idle(other);
    G g = still.g();
    sched.global.put(g);
    pass(9);
    sched.idle.wake(); // late, but it comes
    assertSame(other, asleep.given);
    sched.global.take();
    asleep.given = null;
    other.heldBy(asleep);
    asleep.spinning = true;
    sched.idle.release(asleep, other);
    sched.global.put(g);
    pass(9);
    assertEquals(0, sched.sysmon.rescues());
    muted(() -> pass(2));
    assertEquals(1, sched.sysmon.rescues());
  }

  // Alarms.

  @Test
  void busyProcessorIsToldOfItsAlarmThatIsDue() {
    p.timers.add(Bell.at(now + 5 * MILLI));
    pass(4);
    assertEquals(0, p.request);
    pass(1);
    assertEquals(P.TIMERS, p.request);
    assertEquals(0, other.request, "only the one whose alarm it is");
    p.served(P.TIMERS);
    pass(1);
    assertEquals(0, other.request, "that one has looked");
    pass(1);
    assertEquals(P.TIMERS, other.request, "it does not get to it");
  }

  @Test
  void nobodyIsToldOfAnAlarmThatTheWatcherWillRing() {
    p.timers.add(Bell.at(5 * MILLI));
    still.idle(other);
    assertEquals(5 * MILLI, sched.idle.watchUntil());
    pass(8); // however late the kernel wakes it
    assertEquals(0, p.request);
  }

  @Test
  void processorWhoseAlarmIsDueIsAskedToLetItRingAfterASlice() {
    p.timers.add(Bell.at(3 * MILLI));
    pass(10);
    assertEquals(P.TIMERS, p.request);
    pass(1);
    assertEquals(P.TIMERS | P.PREEMPT, p.request, "nobody waits but the alarm");
    assertEquals(P.TIMERS, other.request);
  }

  @Test
  void alarmThatNobodyWatchesNextToAnIdleProcessorIsRescued() {
    M asleep = still.idle(other);
    p.timers.add(Bell.at(5 * MILLI)); // and nobody calls armed: the bug
    pass(14);
    assertEquals(0, sched.sysmon.rescues(), "due at 5 ms, so not before 15");
    muted(() -> pass(1));
    assertEquals(1, sched.sysmon.rescues());
    assertSame(other, asleep.given);
  }

  @Test
  void alarmThatTheWatcherKnowsIsNeverRescuedHoweverLateItWakes() {
    p.timers.add(Bell.at(5 * MILLI));
    still.idle(other);
    pass(100);
    assertEquals(0, sched.sysmon.rescues());
  }

  @Test
  void alarmThatIsEarlierThanTheWatcherKnowsIsRescued() {
    p.timers.add(Bell.at(500 * MILLI));
    M watcher = still.idle(other);
    p.timers.add(Bell.at(5 * MILLI)); // the bug again
    muted(() -> pass(15));
    assertEquals(1, sched.sysmon.rescues());
    assertSame(other, watcher.given);
  }

  @Test
  void alarmIsNotRescuedWhileSomebodyLooksOrAllAreBusy() {
    p.timers.add(Bell.at(5 * MILLI));
    pass(50);
    assertEquals(0, sched.sysmon.rescues(), "all are busy");
    M searcher = still.searcher(p);
    still.idle(other);
    pass(50);
    assertTrue(searcher.spinning);
    assertEquals(0, sched.sysmon.rescues());
  }

  @Test
  void pendingAlarmIsNoReasonToStayAwake() throws Exception {
    var steps = new Steps(1);
    steps.sched.procs().all[0].timers.add(Bell.at(3_600_000 * MILLI));
    steps.sched.sysmon.ensureRunning();
    assertEquals(MILLI, steps.next());
    assertTrue(steps.next() >= 1_000 * MILLI, "the watcher sees to it");
    steps.sched.procs().all[0].timers.close(); // else it would keep the scheduler
    steps.end();
  }

  /// Goroutines that an alarm wakes inherit the slice, so an idle P may not have had a tick for
  /// long.
  @Test
  void anAlarmThatTheWatcherIsAboutToRingIsNoReasonToPreempt() {
    p.timers.add(Bell.at(5 * MILLI));
    still.idle(other); // watches
    pass(30);
    assertEquals(0, p.request);
  }

  // Its sleep.

  @Test
  void looksEveryMillisecondAndLessOftenWhileNothingHappens() throws Exception {
    var steps = new Steps(1);
    P busy = steps.sched.procs().all[0];
    steps.sched.idle.retire(1);
    busy.retired = false;
    steps.sched.sysmon.ensureRunning();
    for (int i = 0; i < 51; i++) {
      assertEquals(MILLI, steps.next(), "sleep " + i);
    }
    assertEquals(2 * MILLI, steps.next());
    assertEquals(4 * MILLI, steps.next());
    assertEquals(8 * MILLI, steps.next());
    for (int i = 0; i < 20; i++) {
      assertEquals(10 * MILLI, steps.next(), "never longer while a P is busy");
    }
    steps.sched.idle.add(new P[] {busy}, 0);
    steps.end();
  }

  @Test
  void neverSleepsLongerThanASlice() throws Exception {
    var steps = new Steps(1);
    P busy = steps.sched.procs().all[0];
    steps.sched.idle.retire(1);
    busy.retired = false;
    steps.sched.hogs.slice(3);
    steps.sched.sysmon.ensureRunning();
    for (int i = 0; i < 70; i++) {
      assertTrue(steps.next() <= 3 * MILLI, "sleep " + i);
    }
    steps.sched.idle.add(new P[] {busy}, 0);
    steps.end();
  }

  @Test
  @SuppressWarnings("NonAtomicVolatileUpdate") // the monitor only reads the time
  void toAskSomebodyToStopIsNoReasonToLookEveryMillisecond() throws Exception {
    Hogs.helper(() -> {});
    var steps = new Steps(1);
    P busy = steps.sched.idle.acquire();
    steps.sched.global.put(Spawn.make(steps.sched, "", () -> null, null));
    steps.sched.sysmon.ensureRunning();
    int looks = 0;
    long begun = 0;
    while (steps.now < 1_000 * MILLI) {
      long sleep = steps.next();
      if (steps.now > 100 * MILLI) {
        looks++;
      }
      if ((busy.request & P.PREEMPT) != 0) {
        long slice = steps.now - begun;
        assertTrue(slice >= 10 * MILLI && slice <= 11 * MILLI, () -> "a slice of " + slice);
        busy.served(P.PREEMPT);
        Still.dispatched(busy);
        begun = steps.now;
      }
      steps.now += sleep;
    }
    int all = looks;
    assertTrue(looks <= 500, () -> all + " looks in 900 ms");
    steps.sched.global.take();
    steps.sched.idle.add(new P[] {busy}, 0);
    steps.end();
  }

  @Test
  void looksEveryMillisecondWhileAProcessorKeepsItsRunNextAndAnotherIsIdle() throws Exception {
    var steps = new Steps(2);
    P busy = steps.sched.idle.acquire();
    keepNext(steps.sched, busy);
    steps.sched.sysmon.ensureRunning();
    for (int i = 0; i < 100; i++) {
      busy.inherited++;
      assertEquals(MILLI, steps.next(), "sleep " + i);
    }
    steps.sched.idle.add(new P[] {busy}, 0);
    steps.end();
  }

  /// Else those that it is told of could wait for the next look, ten milliseconds later.
  @Test
  void looksSoonWhetherABusyProcessorGotToItsAlarm() throws Exception {
    var steps = new Steps(1);
    P busy = steps.sched.idle.acquire();
    steps.sched.sysmon.ensureRunning();
    for (int i = 0; i < 60; i++) {
      steps.next();
    }
    assertEquals(10 * MILLI, steps.next());
    busy.timers.add(Bell.at(steps.now));
    assertEquals(MILLI, steps.next(), "it was told");
    assertEquals(P.TIMERS, busy.request);
    assertEquals(MILLI, steps.next(), "it has not got to it");
    busy.timers.ringDue(steps.now);
    assertEquals(2 * MILLI, steps.next(), "now it has");
    steps.sched.idle.add(new P[] {busy}, 0);
    steps.end();
  }

  /// A goroutine that sleeps in a loop: the monitor finds its P idle, though it has run meanwhile.
  @Test
  void aProcessorThatIsIdleAtEachLookIsNoReasonToLookSoon() throws Exception {
    var steps = new Steps(2);
    P p = steps.sched.idle.acquire();
    keepNext(steps.sched, p);
    steps.sched.idle.add(new P[] {p}, 0);
    steps.sched.sysmon.ensureRunning();
    for (int i = 0; i < 51; i++) {
      assertEquals(MILLI, sleepAfterARun(steps), "sleep " + i);
    }
    assertEquals(2 * MILLI, sleepAfterARun(steps));
    assertEquals(4 * MILLI, sleepAfterARun(steps));
    assertEquals(8 * MILLI, sleepAfterARun(steps));
    assertEquals(10 * MILLI, sleepAfterARun(steps));

    P again = steps.sched.idle.acquire();
    assertSame(p, again);
    p.inherited++;
    assertEquals(MILLI, steps.next(), "this time it was busy");
    steps.sched.idle.add(new P[] {p}, 0);
    assertEquals(2 * MILLI, sleepAfterARun(steps), "and then at once less often again");
    steps.end();
  }

  /// It goes to sleep between two short sleeps of a goroutine, and is woken at once: nothing new.
  @Test
  void aDeepSleepThatWasShortDoesNotBeginAnew() throws Exception {
    assertEquals(2 * MILLI, afterADeepSleepOf(MILLI));
    assertEquals(MILLI, afterADeepSleepOf(10 * MILLI));
  }

  /// The second sleep after a deep one, which came after so many quiet rounds that looks had become
  /// rare.
  @SuppressWarnings("NonAtomicVolatileUpdate") // the monitor only reads the time
  private static long afterADeepSleepOf(long nanos) throws InterruptedException {
    var steps = new Steps(2);
    steps.sched.sysmon.ensureRunning();
    while (sleepAfterARun(steps) != 10 * MILLI) {
      // on
    }
    assertTrue(steps.next() >= 1_000 * MILLI, "nothing has started: deep sleep");
    steps.now += nanos;
    P p = steps.sched.idle.acquire();
    steps.sched.idle.add(new P[] {p}, 0);
    assertEquals(MILLI, steps.next(), "the first look is always soon");
    long second = sleepAfterARun(steps);
    steps.end();
    return second;
  }

  /// A P leaves the idle list, runs something and is idle again.
  private static long sleepAfterARun(Steps steps) throws InterruptedException {
    P p = steps.sched.idle.acquire();
    p.inherited++;
    steps.sched.idle.add(new P[] {p}, 0);
    return steps.next();
  }

  private static void keepNext(Sched sched, P p) {
    while (!p.keepsNext()) {
      p.putNext(Spawn.make(sched, "", () -> null, null));
      p.takeNext();
    }
  }

  // Item 76: deep sleep, and what ends it.
  @Test
  void sleepsDeeplyWhileAllProcessorsAreIdleUntilOneStarts() throws Exception {
    var steps = new Steps(2);
    steps.sched.sysmon.ensureRunning();
    assertEquals(MILLI, steps.next(), "the first look is always soon");
    assertTrue(steps.next() >= 1_000 * MILLI, "deep sleep");
    assertTrue(steps.next() >= 1_000 * MILLI, "and nothing has ended it");

    steps.sched.sysmon.somethingStarts();
    assertSame(steps.thread, steps.woken.poll());
    assertEquals(MILLI, steps.next(), "awake, it looks after a millisecond");
    assertTrue(steps.next() >= 1_000 * MILLI, "nothing started after all");
    steps.end();
  }

  @Test
  @SuppressWarnings("NonAtomicVolatileUpdate") // the monitor only reads the time
  void deepSleepIsLeftAtLeastOnceAMinute() throws Exception {
    var steps = new Steps(1);
    steps.sched.sysmon.ensureRunning();
    steps.next();
    assertTrue(steps.next() >= 1_000 * MILLI);
    steps.now += 60_000 * MILLI;
    assertEquals(MILLI, steps.next());
    steps.end();
  }

  @Test
  void coarseClockIsSetByEachRoundAndByWhoeverEndsADeepSleep() throws Exception {
    var steps = new Steps(1);
    steps.now = 5;
    steps.sched.sysmon.ensureRunning();
    steps.next();
    steps.now = 7;
    assertTrue(steps.next() >= 1_000 * MILLI);
    assertEquals(7, steps.sched.coarseNanos, "a round");
    steps.now = 9;
    assertEquals(7, steps.sched.coarseNanos);
    steps.sched.sysmon.somethingStarts();
    assertEquals(9, steps.sched.coarseNanos, "before sysmon has got up");
    steps.end();
  }

  @Test
  void strandedGoroutineEndsADeepSleepWithoutAWakeUp() throws Exception {
    var steps = new Steps(1);
    steps.sched.sysmon.ensureRunning();
    steps.next();
    assertTrue(steps.next() <= 1_000 * MILLI, "it looks now and then");
    steps.sched.stranded = true;
    assertEquals(MILLI, steps.next());
    steps.next();
    assertFalse(steps.sched.stranded, "looked after");
    steps.end();
  }

  @Test
  void closingEndsADeepSleepAndTheThread() throws Exception {
    var steps = new Steps(1);
    steps.sched.sysmon.ensureRunning();
    steps.next();
    assertTrue(steps.next() >= 1_000 * MILLI);
    steps.sched.close();
    assertSame(steps.thread, steps.woken.poll());
    steps.end();
  }

  // Threads that sleep in the kernel with a P.

  private M sleeper(P p) {
    M m = still.busy(p);
    still.kernel.sleeps(m);
    return m;
  }

  /// A thread for the P that is taken.
  private M spare() {
    M m = still.busy(null);
    sched.idle.join(m);
    return m;
  }

  private boolean taken(P p) {
    return p.status == P.ORPHAN;
  }

  /// Rounds as they come in a hurry.
  private void hurry(int rounds) {
    for (int i = 0; i < rounds; i++) {
      now += MILLI / 10;
      sched.sysmon.round(now);
    }
  }

  @Test
  void processorOfASleeperIsTakenAtTheThirdLookIfSomebodyWaits() {
    M spare = spare();
    sleeper(p);
    p.put(still.g());
    pass(2); // sees its goroutine; sees it asleep
    assertFalse(taken(p));
    hurry(1);
    assertTrue(taken(p));
    assertSame(still.p(0), spare.given);
    assertEquals(1, sched.counters().takenBlocked());
    assertFalse(taken(other), "only that one");
  }

  @Test
  void globalQueueAndAnAlarmThatIsDueAreReasonsToo() {
    spare();
    M m = sleeper(p);
    sched.global.put(still.g());
    pass(3);
    assertTrue(taken(p));
    Orphans.abandon(m, p);
    sched.global.take();

    spare();
    sleeper(other);
    other.timers.add(Bell.at(now));
    pass(3);
    assertTrue(taken(other));
  }

  @Test
  void whoRunsKeepsItsProcessor() {
    M m = still.busy(p);
    p.put(still.g());
    pass(100);
    assertFalse(taken(p));
    still.kernel.sleeps(m);
    for (int i = 0; i < 100; i++) {
      still.kernel.started(m); // a loop of short calls
      pass(1);
    }
    assertFalse(taken(p));
  }

  // Nobody waits, and there is an idle one for who comes: no hurry.
  @Test
  void whileOtherProcessorsAreIdleASleeperKeepsItsOwnForASlice() {
    still.idle(other);
    sleeper(p);
    pass(1);
    pass(9);
    assertFalse(taken(p));
    assertEquals(0, still.kernel.asked);
    pass(2);
    assertTrue(taken(p), "so that all can be idle, and sysmon sleeps");
    assertEquals(2, sched.idle.idleProcs());
  }

  @Test
  void withoutAnIdleProcessorItIsTakenBeforeSomebodyWaits() {
    spare();
    sleeper(p);
    pass(3);
    assertTrue(taken(p));
    assertEquals(1, sched.idle.idleProcs());
  }

  // They come in crowds: the next is looked at at once, and needs two looks only.
  @Test
  void afterOneTheNextIsTakenAtTheSecondLook() {
    M m = sleeper(p);
    M spare = spare();
    sched.global.put(still.g());
    pass(3);
    assertTrue(taken(p));

    P fresh = still.p(0);
    fresh.heldBy(spare);
    still.kernel.sleeps(spare);
    spare.given = null;
    spare();
    hurry(1);
    assertFalse(taken(fresh));
    hurry(1);
    assertTrue(taken(fresh));
    assertEquals(2, sched.counters().takenBlocked());
    assertTrue(taken(p), "the first is still away: " + m);
  }

  @Test
  void crowdIsOverAfterAWhile() {
    sleeper(p);
    M spare = spare();
    sched.global.put(still.g());
    pass(3);
    pass(5);
    P fresh = still.p(0);
    fresh.heldBy(spare);
    still.kernel.sleeps(spare);
    spare();
    hurry(2);
    assertFalse(taken(fresh));
    hurry(1);
    assertTrue(taken(fresh));
  }

  @Test
  void roundThatComesLateForgetsWhoWasAsleep() {
    spare();
    sleeper(p);
    p.put(still.g());
    pass(2);
    now += 100 * MILLI;
    sched.sysmon.round(now);
    assertFalse(taken(p), "only seen for the first time again");
    pass(1);
    assertTrue(taken(p), "seen twice since");
  }

  @Test
  void nothingIsTakenWithoutAThreadForIt() {
    var limited = new Still(2, 0, Knobs.OVERCOMMIT_BY_DEFAULT);
    P held = limited.p(0);
    limited.kernel.sleeps(limited.busy(held));
    held.put(limited.g());
    String said =
        muted(
            () -> {
              for (int i = 1; i <= 100; i++) {
                limited.sched.sysmon.round(i * MILLI);
              }
            });
    assertEquals(P.HELD, held.status);
    assertEquals(
        "gloom: program exceeds 0-thread limit: goroutines wait until a thread is free. Too many of"
            + " them block at once (Gloom.dump() shows where); or raise -Dgloom.maxthreads"
            + System.lineSeparator(),
        said,
        "once");
    limited.sched.idle.join(limited.busy(null));
    limited.sched.sysmon.round(101 * MILLI);
    assertEquals(P.ORPHAN, held.status, "a thread is free");
  }

  // Threads that burn.

  private void burn(Still still, M m, int from, int millis) {
    for (int i = 1; i <= millis; i++) {
      still.kernel.burnt(m, MILLI);
      still.sched.sysmon.round((from + i) * MILLI);
    }
  }

  @Test
  void processorOfWhoBurnsASliceAfterItWasAskedIsTaken() {
    M m = still.busy(p);
    M spare = spare();
    p.put(still.g());
    burn(still, m, 0, 11);
    assertEquals(P.PREEMPT, p.request);
    burn(still, m, 11, 9);
    assertFalse(taken(p));
    burn(still, m, 20, 1);
    assertTrue(taken(p));
    assertSame(still.p(0), spare.given);
    assertEquals(1, sched.counters().takenBurning());
    assertEquals(0, sched.counters().takenBlocked());
  }

  // 8 Ps on 2 cores.
  @Test
  void whoWaitsForACoreKeepsItsProcessor() {
    still.busy(p);
    spare();
    p.put(still.g());
    pass(1_000);
    assertFalse(taken(p));
  }

  @Test
  void nobodyLosesItsProcessorWhileNobodyWaitsOrAnotherIsIdle() {
    M m = still.busy(p);
    spare();
    burn(still, m, 0, 100);
    assertFalse(taken(p), "nobody waits");
    still.idle(other);
    p.putNext(still.g());
    assertTrue(sched.idle.maySearch(m)); // so that nobody is woken for it
    burn(still, m, 100, 100);
    assertFalse(taken(p));
  }

  private void boundedBy(int most, int procs) {
    var bounded = new Still(procs, 100, most);
    for (P q : bounded.sched.procs().all) {
      bounded.busy(q);
    }
    for (int i = 0; i < procs; i++) {
      bounded.sched.idle.join(bounded.busy(null));
    }
    for (int i = 0; i < procs; i++) {
      bounded.sched.global.put(bounded.g());
    }
    P[] first = bounded.sched.procs().all;
    for (int i = 1; i <= 100; i++) {
      for (P q : first) {
        bounded.kernel.burnt(q.holder, MILLI);
      }
      bounded.sched.sysmon.round(i * MILLI);
    }
    assertEquals(most, bounded.sched.counters().takenBurning());
    assertEquals(most, bounded.sched.counters().overcommitted());
    for (P q : first) {
      if (q.status == P.ORPHAN) {
        bounded.kernel.sleeps(q.holder); // takes nothing from anybody
        break;
      }
    }
    bounded.sched.sysmon.round(101 * MILLI);
    assertEquals(most == 0 ? 0 : most + 1, bounded.sched.counters().takenBurning());
  }

  @Test
  void onlySoManyLoseTheirsBecauseTheyBurn() {
    boundedBy(0, 3);
    boundedBy(1, 3);
    boundedBy(2, 4);
  }

  /// A scheduler whose sysmon goes to sleep only when the test has seen for how long.
  private static final class Steps implements Parker {
    final Sched sched;
    final Queue<Thread> woken = new ConcurrentLinkedQueue<>();
    volatile long now;
    volatile Thread thread;
    private volatile boolean free;
    private final SynchronousQueue<Long> sleeps = new SynchronousQueue<>();
    private final SynchronousQueue<Long> wakes = new SynchronousQueue<>();
    private boolean sleeping;

    Steps(int maxProcs) {
      sched = new Sched(maxProcs, new Knobs(maxProcs, false, true), 1, () -> now, this);
    }

    /// Lets sysmon wake from its last sleep and waits until it is in the next one; answers for how
    /// long.
    long next() throws InterruptedException {
      if (sleeping) {
        wakes.put(0L);
      }
      sleeping = true;
      return sleeps.take();
    }

    /// Closes the scheduler and sees its sysmon end.
    void end() throws InterruptedException {
      sched.close();
      free = true;
      wakes.put(0L);
      assertTrue(thread.join(Duration.ofSeconds(30)), "sysmon ends with the scheduler");
    }

    @Override
    public void parkNanos(long nanos) {
      thread = Thread.currentThread();
      if (free) {
        return;
      }
      try {
        sleeps.put(nanos);
        wakes.take();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void park() {
      throw new IllegalStateException("no M in this test");
    }

    @Override
    public void unpark(Thread t) {
      woken.add(t);
    }
  }

  /// Runs `body` and answers what it printed to the error stream.
  private static String muted(Runnable body) {
    PrintStream before = System.err;
    var bytes = new ByteArrayOutputStream();
    System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      body.run();
    } finally {
      System.setErr(before);
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
