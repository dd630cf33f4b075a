package dev.gloom.java;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import dev.gloom.api.Lab;
import java.util.concurrent.locks.LockSupport;

/// What {@link DebuggerTest} debugs. The debugger knows these names.
final class DebuggerProgram {
  static volatile boolean stop;
  static volatile long ticks;
  static volatile long tocks;
  static volatile Thread ticker;

  private DebuggerProgram() {}

  public static void main(String[] args) throws Exception {
    Scheduler scheduler = Scheduler.builder().maxProcs(Integer.parseInt(args[0])).build();
    scheduler.run(
        () -> {
          Goroutine ticking = Gloom.go("ticker", DebuggerProgram::tick);
          ticker = ticking.thread();
          Goroutine tocking = Gloom.go("tocker", DebuggerProgram::tock);
          var results = new int[5];
          int sum = 0;
          for (int i = 0; i < results.length; i++) {
            int number = i;
            // One after the other: two that are stopped would take two processors from the rest.
            Gloom.go("worker " + i, () -> results[number] = work(number)).join();
            sum += results[i];
          }
          System.out.println("sum=" + sum);
          ticking.join();
          tocking.join();
        });
    Lab.quiet(scheduler);
    System.out.println("the end");
  }

  /// The debugger stops at the second line of this method, and steps to the last.
  private static int work(int number) {
    int square = number * number;
    Gloom.gosched();
    int result = square + 1;
    LockSupport.parkNanos(200_000);
    return result;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
  private static void tick() {
    while (!stop) {
      ticks++;
      LockSupport.parkNanos(50_000);
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
  private static void tock() {
    while (!stop) {
      tocks++;
      Gloom.gosched();
      LockSupport.parkNanos(50_000);
    }
  }
}
