package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import dev.gloom.jdk.Carrier;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What gloom's own threads cost when there is little or nothing to do: a trap of schedulers that
/// search. The figures are CPU time of those threads, so other load on the machine adds little.
@Timeout(120)
class IdleCpuTest {
  private static final long WINDOW_NANOS = 3_000_000_000L;

  /// Spec item 76; issue 3, "must show": under 0.1 % of a core.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void anIdleSchedulerCostsNothing(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      String prefix = lab.threadPrefix();
      for (int i = 0; i < 1_000; i++) { // something to have been busy with
        lab.go(() -> Lab.spin(10_000));
      }
      Lab.quiet(lab.scheduler());
      var parked = lab.go(LockSupport::park); // parked goroutines cost nothing either
      Lab.awaitWaiting(parked);
      Lab.await("all are idle", () -> lab.scheduler().stats().idleProcs() == procs);
      double share = best(prefix, 0.001, () -> LockSupport.parkNanos(WINDOW_NANOS));
      LockSupport.unpark(parked.thread());
      System.out.printf("IdleCpuTest: idle, %d Ps: %.4f %% of a core%n", procs, 100 * share);
      assertTrue(share < 0.001, () -> "idle: " + 100 * share + " % of a core");
    }
  }

  /// The same while it looks at the CPUs and the quota of its container once a second.
  @Test
  void anIdleSchedulerThatFollowsTheQuotaCostsNothing() throws Exception {
    try (var scheduler = Scheduler.builder().build()) {
      scheduler.defaultMaxProcs(); // whatever the environment says
      var name = new AtomicReference<String>();
      scheduler.run(() -> name.set(Carrier.current().getName()));
      String prefix = name.get().substring(0, name.get().lastIndexOf('-') + 1);
      Lab.quiet(scheduler);
      double share = best(prefix, 0.001, () -> LockSupport.parkNanos(WINDOW_NANOS));
      System.out.printf("IdleCpuTest: idle, following: %.4f %% of a core%n", 100 * share);
      assertTrue(share < 0.001, () -> "idle: " + 100 * share + " % of a core");
    }
  }

  /// The same with goroutines that sleep: one thread of gloom sleeps until the first of them is
  /// due, and nobody looks before.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void sleepersCostNothing(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      String prefix = lab.threadPrefix();
      var sleepers = new ArrayList<Goroutine>();
      for (int i = 0; i < 100; i++) {
        sleepers.add(
            lab.go(
                () -> {
                  try {
                    Gloom.sleep(Duration.ofHours(1));
                  } catch (InterruptedException e) {
                    // the end of this test
                  }
                }));
      }
      sleepers.forEach(Lab::awaitWaiting);
      Lab.await("all are idle", () -> lab.scheduler().stats().idleProcs() == procs);
      double share = best(prefix, 0.001, () -> LockSupport.parkNanos(WINDOW_NANOS));
      sleepers.forEach(g -> g.thread().interrupt());
      System.out.printf("IdleCpuTest: sleepers, %d Ps: %.4f %% of a core%n", procs, 100 * share);
      assertTrue(share < 0.001, () -> "sleepers: " + 100 * share + " % of a core");
    }
  }

  /// One goroutine that sleeps a millisecond, again and again: under 5 % of a core is wanted, and
  /// not always reached.
  @Tag("slow")
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aSleepEachMillisecondCostsLittle(int procs) throws Exception {
    sleepsEachMillisecond(procs, 0.05);
  }

  /// The same, so that it does not get worse unseen.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aSleepEachMillisecondCostsNoTenthOfACore(int procs) throws Exception {
    sleepsEachMillisecond(procs, 0.10);
  }

  private static void sleepsEachMillisecond(int procs, double most) throws Exception {
    try (var lab = Lab.procs(procs)) {
      String prefix = lab.threadPrefix();
      var stop = new AtomicBoolean();
      var sleeps = new AtomicInteger();
      lab.go(
          () -> {
            while (!stop.get()) {
              Gloom.sleep(Duration.ofMillis(1));
              sleeps.incrementAndGet();
            }
          });
      LockSupport.parkNanos(1_000_000_000); // compiles what is used here
      int before = sleeps.get();
      double share = best(prefix, most, () -> LockSupport.parkNanos(WINDOW_NANOS));
      int after = sleeps.get();
      stop.set(true);
      System.out.printf(
          "IdleCpuTest: sleeping 1 ms in a loop, %d Ps: %.2f %% of a core, %d sleeps%n",
          procs, 100 * share, after - before);
      assertTrue(after - before > 100, () -> "only " + (after - before) + " sleeps");
      assertTrue(share < most, () -> "sleeping 1 ms in a loop: " + 100 * share + " % of a core");
    }
  }

  /// Issue 3, "must show": one goroutine every millisecond, under 5 % of a core.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void oneGoroutineEachMillisecondCostsLittle(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      String prefix = lab.threadPrefix();
      var ran = new AtomicInteger();
      eachMillisecond(1_000, lab, ran); // compiles what is used here
      double share = best(prefix, 0.05, () -> eachMillisecond(WINDOW_NANOS / 1_000_000, lab, ran));
      System.out.printf("IdleCpuTest: one a ms, %d Ps: %.2f %% of a core%n", procs, 100 * share);
      assertTrue(share < 0.05, () -> "one a millisecond: " + 100 * share + " % of a core");
    }
  }

  private static void eachMillisecond(long times, Lab lab, AtomicInteger ran) {
    long next = System.nanoTime();
    for (long i = 0; i < times; i++) {
      next += 1_000_000;
      lab.go(ran::incrementAndGet);
      long left;
      while ((left = next - System.nanoTime()) > 0) {
        LockSupport.parkNanos(left);
      }
    }
  }

  /// The share of a core that gloom's threads use while `wait` lasts; the best of up to three, as a
  /// compilation or a page fault is not the scheduler's fault. One below `most` is good at once.
  private static double best(String prefix, double most, Runnable wait) {
    double best = Double.MAX_VALUE;
    for (int i = 0; i < 3 && best >= most; i++) {
      long cpu = cpuNanos(prefix);
      long start = System.nanoTime();
      wait.run();
      best = Math.min(best, (double) (cpuNanos(prefix) - cpu) / (System.nanoTime() - start));
    }
    return best;
  }

  private static long cpuNanos(String prefix) {
    var bean = ManagementFactory.getThreadMXBean();
    long sum = 0;
    for (Thread t : Lab.threads("gloom")) {
      if (t.getName().startsWith(prefix) || t.getName().equals("gloom-starter")) {
        sum += Math.max(0, bean.getThreadCpuTime(t.threadId()));
      }
    }
    return sum;
  }
}
