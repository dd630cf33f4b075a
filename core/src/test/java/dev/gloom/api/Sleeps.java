package dev.gloom.api;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/// Many goroutines that sleep, and how late they were. Also a program, for more of them than the
/// tests' JVM has memory for: `N PROCS SEED` for as many at once, `N PROCS SEED EACH` for some
/// after each other in each; prints figures as `name=value`.
public final class Sleeps {
  /// What one that began too late to sleep is counted as: neither early nor late.
  private static final long DID_NOT_SLEEP = Long.MAX_VALUE;

  private static final long LOST = Long.MIN_VALUE;

  final long p50Nanos;
  final long p99Nanos;
  private final long mostNanos;
  private final int counted;

  private Sleeps(long[] late) {
    long[] slept = Arrays.stream(late).filter(l -> l != DID_NOT_SLEEP).sorted().toArray();
    counted = slept.length;
    check(counted > late.length / 4, "only " + counted + " were asleep in time");
    check(slept[0] != LOST, "lost");
    check(slept[0] >= 0, -slept[0] + " ns early");
    p50Nanos = slept[counted / 2];
    p99Nanos = slept[(int) (counted * 99L / 100)];
    mostNanos = slept[counted - 1];
  }

  private static void check(boolean holds, String complaint) {
    if (!holds) {
      throw new AssertionError(complaint);
    }
  }

  public static void main(String[] args) {
    int n = Integer.parseInt(args[0]);
    int procs = Integer.parseInt(args[1]);
    long seed = Long.parseLong(args[2]);
    long from = 20_000L * n; // 20 us for each to be told when it may sleep
    Sleeps late =
        args.length == 4
            ? repeat(n, Integer.parseInt(args[3]), procs, seed)
            : run(n, procs, from, from + 40_000L * n, seed);
    System.out.println("slept=" + late.counted);
    System.out.println("p50Micros=" + late.p50Nanos / 1_000);
    System.out.println("p99Micros=" + late.p99Nanos / 1_000);
    System.out.println("maxMicros=" + late.mostNanos / 1_000);
  }

  /// Starts `n` goroutines; when the last one has begun, each sleeps until a time between `from`
  /// and `to` after that. So nothing but those whose sleep ends is awake.
  static Sleeps run(int n, int procs, long from, long to, long seed) {
    var late = new long[n];
    Arrays.fill(late, LOST);
    try (var lab = Lab.procs(procs)) {
      Scheduler scheduler = lab.scheduler();
      var random = new SplittableRandom(seed);
      var gate = new Gate();
      var all = new Goroutine[n];
      for (int i = 0; i < n; i++) {
        int k = i;
        long after = random.nextLong(from, to);
        all[i] =
            scheduler.go(
                () -> {
                  long until = gate.pass() + after;
                  long left = until - System.nanoTime();
                  Gloom.sleep(Duration.ofNanos(left));
                  late[k] = left > 0 ? System.nanoTime() - until : DID_NOT_SLEEP;
                });
      }
      Lab.await(() -> "begun: " + gate.begun, Duration.ofMinutes(2), () -> gate.begun.get() == n);
      gate.open(all);
      Lab.await(
          () -> scheduler.numGoroutine() + " never ended: " + scheduler.stats(),
          Duration.ofNanos(to).plusSeconds(60),
          () -> scheduler.numGoroutine() == 0);
    }
    return new Sleeps(late);
  }

  /// `n` goroutines that sleep `each` times: all together 25,000 sleeps end in a second, so that
  /// the Ps are idle most of the time, and nothing is left for the collector to do.
  private static Sleeps repeat(int n, int each, int procs, long seed) {
    var late = new long[n * each];
    Arrays.fill(late, LOST);
    long most = 80_000L * n;
    try (var lab = Lab.procs(procs)) {
      for (int i = 0; i < n; i++) {
        int k = i;
        lab.go(
            () -> {
              var random = new SplittableRandom(seed + k);
              for (int j = 0; j < each; j++) {
                long nanos = random.nextLong(1, most);
                long start = System.nanoTime();
                Gloom.sleep(Duration.ofNanos(nanos));
                late[k * each + j] = System.nanoTime() - start - nanos;
              }
            });
      }
      Lab.await(
          () -> lab.scheduler().numGoroutine() + " never ended",
          Duration.ofMinutes(2),
          () -> lab.scheduler().numGoroutine() == 0);
    }
    return new Sleeps(late);
  }

  @Override
  public String toString() {
    return "late by p50 %,d us, p99 %,d us, max %,d us (%,d asleep in time)"
        .formatted(p50Nanos / 1_000, p99Nanos / 1_000, mostNanos / 1_000, counted);
  }

  /// Where goroutines wait until it opens; answers when that was.
  private static final class Gate {
    final AtomicInteger begun = new AtomicInteger();
    private volatile long openedAt;

    long pass() {
      begun.incrementAndGet();
      while (openedAt == 0) {
        LockSupport.park();
      }
      return openedAt;
    }

    void open(Goroutine[] all) {
      openedAt = System.nanoTime();
      for (Goroutine g : all) {
        LockSupport.unpark(g.thread());
      }
    }
  }
}
