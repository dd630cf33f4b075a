package dev.gloom.contract;

import dev.gloom.Scheduler;
import dev.gloom.api.Lab;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/// More goroutines than memory, for a JVM with a small heap: starts goroutines that park until
/// there is no memory left, and then wakes them. Prints what became of them.
///
/// A goroutine that parks needs memory too, for its stack; without, the JDK parks it on its carrier
/// and it keeps its processor until it is woken. So if nothing moves any more, all are woken, and
/// the spawner goes on until it gets the error itself.
final class OutOfMemoryProgram {
  private static final int MOST = 200_000;

  // Made before memory is short.
  private static final Thread[] PARKED = new Thread[MOST];
  private static final AtomicInteger ENDED = new AtomicInteger();
  private static final AtomicInteger SLEPT = new AtomicInteger();
  private static byte[] reserve = new byte[4 << 20];
  private static volatile Error error;
  private static volatile int started;
  private static volatile boolean over;

  private OutOfMemoryProgram() {}

  public static void main(String[] args) throws Exception {
    Scheduler scheduler = Scheduler.builder().maxProcs(Integer.parseInt(args[1])).build();
    warmUp(scheduler);
    boolean sleepers = args[0].contains("sleepers");
    for (int i = 0; sleepers && i < 10; i++) {
      scheduler.go(OutOfMemoryProgram::sleep);
    }
    Thread spawner =
        args[0].startsWith("goroutine")
            ? scheduler.threadFactory().newThread(() -> spawn(scheduler))
            : new Thread(() -> spawn(scheduler));
    spawner.start();
    int seen = -1;
    for (int unchanged = 0; error == null; unchanged++) { // nothing here needs memory
      LockSupport.parkNanos(1_000_000);
      if (started != seen) {
        seen = started;
        unchanged = 0;
      } else if (unchanged > 2_000) {
        wakeAll();
      }
    }
    reserve = null;
    // Goroutines that have not run yet need memory to park, more than there is in the reserve.
    int all = started;
    while (ENDED.get() < all) {
      wakeAll();
      LockSupport.parkNanos(1_000_000);
    }
    int before = SLEPT.get();
    Lab.await("the sleepers go on", () -> !sleepers || SLEPT.get() >= before + 100);
    System.out.println("error=" + (error instanceof OutOfMemoryError ? 1 : 0));
    System.out.println("started=" + all);
    System.out.println("ended=" + ENDED.get());
    over = true;
    spawner.join();
    Lab.quiet(scheduler);
    var ran = new AtomicInteger();
    scheduler.run(
        () -> {
          for (int i = 0; i < 10_000; i++) {
            scheduler.go(ran::incrementAndGet).join();
          }
        });
    System.out.println("after=" + ran.get());
    Lab.quiet(scheduler);
  }

  /// What is used for the first time needs memory of its own.
  private static void warmUp(Scheduler scheduler) {
    over = true;
    sleep();
    over = false;
    for (int round = 0; round < 50; round++) {
      for (int i = 0; i < 200; i++) {
        PARKED[i] = scheduler.go(OutOfMemoryProgram::parkOnce).thread();
      }
      started = 200;
      int all = 200 * (round + 1);
      Lab.await(
          "all are woken",
          () -> {
            wakeAll();
            return ENDED.get() == all;
          });
    }
    System.out.println("warmed up: " + started);
    ENDED.set(0);
    started = 0;
  }

  private static void sleep() {
    while (!over) {
      LockSupport.parkNanos(1_000_000);
      SLEPT.incrementAndGet();
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
  private static void spawn(Scheduler scheduler) {
    try {
      for (int i = 0; i < MOST; i++) {
        PARKED[i] = scheduler.go(OutOfMemoryProgram::parkOnce).thread();
        started = started + 1;
      }
    } catch (Error e) {
      error = e;
    }
  }

  private static void parkOnce() {
    LockSupport.park();
    ENDED.incrementAndGet();
  }

  private static void wakeAll() {
    for (int i = 0; i < started; i++) {
      LockSupport.unpark(PARKED[i]);
    }
  }
}
