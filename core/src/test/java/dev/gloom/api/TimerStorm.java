package dev.gloom.api;

import dev.gloom.Gloom;
import dev.gloom.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/// Timers that are set, changed and stopped at random while all processors compute and yield. Also
/// a program, `PROCS TIMERS LATE FIRST`, for a collector that does not stop the world for longer
/// than a timer may be late. It begins with a storm of FIRST timers, which may be late, if the
/// compiler is to be done before it counts.
final class TimerStorm {
  private static final int MOST_MILLIS = 2_000;

  private TimerStorm() {}

  public static void main(String[] args) throws Exception {
    int procs = Integer.parseInt(args[0]);
    int timers = Integer.parseInt(args[1]);
    int first = Integer.parseInt(args[3]);
    if (first > 0) {
      run(procs, first, Double.MAX_VALUE);
    }
    run(procs, timers, Double.parseDouble(args[2]));
  }

  static void run(int procs, int timers, double lateMillis) throws Exception {
    long seed = System.nanoTime();
    var random = new Random(seed);
    var rang = new Rang(timers);
    try (var lab = Lab.procs(procs)) {
      var stop = new AtomicBoolean();
      for (int i = 0; i < procs; i++) {
        lab.go(
            () -> {
              while (!stop.get()) {
                long until = System.nanoTime() + 50_000;
                while (System.nanoTime() < until) {
                  Thread.onSpinWait();
                }
                Gloom.gosched();
              }
            });
      }
      var expected = new AtomicInteger();
      lab.run(
          () -> {
            List<Timer> set = new ArrayList<>(timers);
            for (int i = 0; i < timers; i++) {
              long millis = 1 + random.nextInt(MOST_MILLIS);
              set.add(arm(millis, rang));
              expected.incrementAndGet();
              int other = random.nextInt(set.size());
              switch (random.nextInt(4)) {
                case 0 -> {
                  if (set.get(other).stop()) {
                    expected.decrementAndGet();
                  }
                }
                case 1 -> {
                  // A change is a stop and a new one: its own lateness counts from there.
                  if (set.get(other).stop()) {
                    set.set(other, arm(1 + random.nextInt(MOST_MILLIS), rang));
                  }
                }
                default -> {}
              }
              if (i % 100 == 0) {
                Gloom.gosched();
              }
            }
          });
      Lab.await(
          "seed " + seed + ": all " + expected + " ring", () -> rang.count.get() >= expected.get());
      stop.set(true);
      if (rang.count.get() != expected.get()) {
        throw new AssertionError("seed " + seed + ": " + rang.count + " rang, not " + expected);
      }
    }
    long[] late = rang.sorted();
    double p50 = late[late.length / 2] / 1e6;
    double p99 = late[(int) (late.length * 99L / 100)] / 1e6;
    System.out.printf(
        "timer storm: %d rang, late p50 %.2f ms, p99 %.2f ms%n", late.length, p50, p99);
    if (p99 > lateMillis) {
      throw new AssertionError("seed " + seed + ": p99 of lateness " + p99 + " ms");
    }
  }

  private static Timer arm(long millis, Rang rang) {
    long due = System.nanoTime() + millis * 1_000_000;
    return Timer.afterFunc(Duration.ofMillis(millis), () -> rang.add(System.nanoTime() - due));
  }

  /// How late each was. Makes nothing for the collector, whose time it would be that is measured.
  private static final class Rang {
    final AtomicInteger count = new AtomicInteger();
    private final long[] late;

    Rang(int most) {
      late = new long[most];
    }

    void add(long nanos) {
      late[count.getAndIncrement()] = nanos;
    }

    long[] sorted() {
      long[] all = Arrays.copyOf(late, count.get());
      Arrays.sort(all);
      return all;
    }
  }
}
