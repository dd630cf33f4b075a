package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
  void theHelperIsToldOfWhoeverIsAskedUnlessItIsOff() {
    var woken = new int[1];
    Hogs.helper(() -> woken[0]++);
    try {
      p.put(still.g());
      pass(11);
      assertTrue(p.caught);
      assertEquals(1, woken[0]);
      p.caught = false;
      sched.hogs.mode(Preemption.Mode.OFF);
      int before = woken[0];
      pass(10);
      assertEquals(P.PREEMPT, p.request, "scheduling points still look");
      assertFalse(p.caught);
      assertEquals(before, woken[0]);
    } finally {
      Hogs.helper(() -> {});
    }
  }

  @Test
  void oneThatDoesNotStopIsTriedAgainOnlyAfterASecond() {
    Hogs.helper(() -> {});
    p.put(still.g());
    pass(11);
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
    pass(11);
    assertTrue(p.caught);
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
  void roundThatComesLateOnlyTakesNewReadings() {
    M asleep = still.idle(other);
    p.put(still.g());
    sched.global.put(still.g());
    pass(2);
    now += 500 * MILLI;
    sched.sysmon.round(now);
    assertEquals(0, p.request);
    assertEquals(0, sched.sysmon.rescues());
    pass(9);
    assertEquals(0, p.request);
    assertEquals(0, sched.sysmon.rescues());
    assertNull(asleep.given);
    muted(() -> pass(2));
    assertEquals(P.PREEMPT, p.request);
    assertEquals(1, sched.sysmon.rescues());
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
    assertEquals(0, other.request);
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
