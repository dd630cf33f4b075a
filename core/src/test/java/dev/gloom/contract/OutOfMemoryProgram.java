package dev.gloom.contract;

import dev.gloom.Gloom;
import dev.gloom.Scheduler;
import dev.gloom.api.Lab;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/// More goroutines than memory, for a JVM with a small heap: starts goroutines that park until
/// there is no memory left, and then wakes them. Prints what became of them.
final class OutOfMemoryProgram {
  private static final int MOST = 2_000_000;

  // Made before memory is short.
  private static final Thread[] PARKED = new Thread[MOST];
  private static final AtomicInteger ENDED = new AtomicInteger();
  private static final Error[] SPAWNERS = new Error[1];
  private static volatile int started;
  private static volatile long beats;
  private static volatile boolean over;

  private OutOfMemoryProgram() {}

  public static void main(String[] args) throws Exception {
    boolean fromGoroutine = args[0].equals("goroutine");
    Scheduler scheduler = Scheduler.builder().maxProcs(Integer.parseInt(args[1])).build();
    scheduler.run(() -> {});
    scheduler.go(OutOfMemoryProgram::beat);
    Thread spawner =
        fromGoroutine
            ? scheduler.threadFactory().newThread(() -> spawn(scheduler))
            : new Thread(() -> spawn(scheduler));
    spawner.start();
    // Not join, which needs memory.
    while (SPAWNERS[0] == null) {
      LockSupport.parkNanos(1_000_000);
    }
    System.out.println("started=" + started);
    long before = beats;
    while (beats < before + 100) {
      LockSupport.parkNanos(1_000_000);
    }
    System.out.println("others=1");
    for (int i = 0; i < started; i++) {
      LockSupport.unpark(PARKED[i]);
      PARKED[i] = null;
    }
    int all = started;
    Lab.await("all are woken", () -> ENDED.get() == all);
    System.out.println("ended=" + ENDED.get());
    over = true;
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
    System.out.println("error=" + (SPAWNERS[0] instanceof OutOfMemoryError ? 1 : 0));
  }

  /// Goes on, needs no memory.
  @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
  private static void beat() {
    while (!over) {
      beats = beats + 1;
      Gloom.gosched();
      Lab.spin(10_000);
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
      SPAWNERS[0] = e;
    }
  }

  private static void parkOnce() {
    LockSupport.park();
    ENDED.incrementAndGet();
  }
}
