package dev.gloom.api;

import dev.gloom.Gloom;
import dev.gloom.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
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
    var fired = new AtomicInteger();
    var late = new ConcurrentLinkedQueue<Long>();
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
            List<Timer> set = new ArrayList<>();
            for (int i = 0; i < timers; i++) {
              long millis = 1 + random.nextInt(MOST_MILLIS);
              set.add(arm(millis, fired, late));
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
                    set.set(other, arm(1 + random.nextInt(MOST_MILLIS), fired, late));
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
          "seed " + seed + ": all " + expected + " ring", () -> fired.get() >= expected.get());
      stop.set(true);
      if (fired.get() != expected.get()) {
        throw new AssertionError("seed " + seed + ": " + fired + " rang, not " + expected);
      }
    }
    double p99 = UnannouncedTest.percentile(new ArrayList<>(late), 99);
    double p50 = UnannouncedTest.percentile(new ArrayList<>(late), 50);
    System.out.printf(
        "timer storm: %d rang, late p50 %.2f ms, p99 %.2f ms%n", fired.get(), p50, p99);
    if (p99 > lateMillis) {
      throw new AssertionError("seed " + seed + ": p99 of lateness " + p99 + " ms");
    }
  }

  private static Timer arm(long millis, AtomicInteger fired, ConcurrentLinkedQueue<Long> late) {
    long due = System.nanoTime() + millis * 1_000_000;
    return Timer.afterFunc(
        Duration.ofMillis(millis),
        () -> {
          late.add(System.nanoTime() - due);
          fired.incrementAndGet();
        });
  }
}
