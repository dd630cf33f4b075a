package dev.gloom.soak;

import dev.gloom.Chan;
import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import dev.gloom.api.Lab;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/// What goroutines leave on the heap: run in a JVM of its own, so that nothing else is counted.
/// Arguments: `parked N`, `sleeping N`, `passing N` or `selects N`. Prints figures as `name=value`.
public final class MemoryProgram {
  private static final int BATCH = 1_000;

  private MemoryProgram() {}

  public static void main(String[] args) throws Exception {
    int n = Integer.parseInt(args[1]);
    var scheduler = Scheduler.builder().maxProcs(2).build();
    pass(scheduler, 100_000); // what is made once is made now
    if (args[0].equals("parked")) {
      // Frames of the interpreter are several times as large: the first goroutines have those.
      parked(scheduler, 50_000, false);
      parked(scheduler, n, true);
    } else if (args[0].equals("selects")) {
      scheduler.run(() -> selects(10_000, false));
      scheduler.run(() -> selects(n, true));
    } else if (args[0].equals("sleeping")) {
      for (int i = 0; i < 2; i++) { // as above, for both ways
        sleeping(50_000, 0, false);
        sleeping(50_000, 60_000_000_000L, false);
      }
      long parked = sleeping(n, 0, false);
      long asleep = sleeping(n, 60_000_000_000L, true);
      print("bytesEach", asleep - parked);
    } else {
      passing(scheduler, n);
    }
    Lab.quiet(scheduler);
  }

  private static void parked(Scheduler scheduler, int n, boolean tell) {
    var open = new Gate();
    var threads = new Goroutine[n];
    long before = usedBytes();
    for (int i = 0; i < n; i++) {
      threads[i] = scheduler.go(open::pass);
    }
    Lab.await("all are parked", () -> open.waiting.get() == n && allParked(threads));
    if (tell) {
      print("bytesEach", (usedBytes() - before) / n);
      print("counted", scheduler.numGoroutine());
    }
    open.isOpen = true;
    for (Goroutine g : threads) {
      LockSupport.unpark(g.thread());
    }
    Lab.await("all have gone", () -> scheduler.numGoroutine() == 0);
    if (tell) {
      print("passed", open.passed.get());
    }
  }

  /// What a goroutine takes that waits for a time of `nanos`, or, if that is 0, for ever, through
  /// the same frames: the difference is what a timer takes. On a new scheduler each time, as a heap
  /// of timers that has grown stays large.
  private static long sleeping(int n, long nanos, boolean tell) {
    var scheduler = Scheduler.builder().maxProcs(2).build();
    var open = new Gate();
    var threads = new Goroutine[n];
    long before = usedBytes();
    for (int i = 0; i < n; i++) {
      threads[i] = scheduler.go(() -> open.pass(nanos));
    }
    Lab.await("all are parked", () -> open.waiting.get() == n && allParked(threads));
    long each = (usedBytes() - before) / n;
    open.isOpen = true;
    if (tell) {
      print("asleep", open.waiting.get());
    }
    for (Goroutine g : threads) {
      LockSupport.unpark(g.thread());
    }
    Lab.await("all have gone", () -> scheduler.numGoroutine() == 0);
    if (tell) {
      print("passed", open.passed.get());
    }
    scheduler.close();
    return each;
  }

  private static void passing(Scheduler scheduler, int n) throws Exception {
    long before = usedBytes();
    pass(scheduler, n);
    Lab.await("all have gone", () -> scheduler.numGoroutine() == 0);
    print("bytesLeft", usedBytes() - before);
    print("counted", scheduler.numGoroutine());
    print("started", scheduler.stats().started());
  }

  /// So many come and go: each yields once, so that it has a stack of its own for a while.
  private static void pass(Scheduler scheduler, int n) throws Exception {
    scheduler.run(
        () -> {
          var left = new AtomicInteger();
          var me = Thread.currentThread();
          for (int i = 0; i < n; i += BATCH) {
            left.set(BATCH);
            for (int j = 0; j < BATCH; j++) {
              scheduler.go(
                  () -> {
                    Thread.yield();
                    if (left.decrementAndGet() == 0) {
                      LockSupport.unpark(me);
                    }
                  });
            }
            while (left.get() != 0) {
              LockSupport.park();
            }
          }
        });
  }

  /// Selects that wait, of which one case of three is served, on channels that stay: a long
  /// time-out each, too.
  private static void selects(int n, boolean tell) throws Exception {
    Chan<Integer> served = Chan.make();
    Chan<Integer> never = Chan.make();
    Chan<Integer> full = Chan.make(1);
    full.send(0);
    Goroutine sender =
        Gloom.go(
            () -> {
              for (int i = 0; i < n; i++) {
                served.send(i);
              }
            });
    long before = usedBytes();
    long sum = 0;
    for (int i = 0; i < n; i++) {
      sum +=
          Gloom.<Integer>select(
              Gloom.recv(served, v -> v),
              Gloom.recv(never, v -> v),
              Gloom.send(full, 1, () -> -1),
              Gloom.after(Duration.ofHours(1), () -> -2));
    }
    sender.join();
    if (tell) {
      print("bytesLeft", usedBytes() - before);
      print("sum", sum);
    }
    if (never.trySend(1) || full.len() != 1) {
      throw new AssertionError("somebody is left in a queue");
    }
  }

  private static boolean allParked(Goroutine[] all) {
    for (Goroutine g : all) {
      if (g.state() != Goroutine.State.WAITING) {
        return false;
      }
    }
    return true;
  }

  private static long usedBytes() {
    System.gc();
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private static void print(String name, long value) {
    System.out.println(name + "=" + value);
  }

  /// Where goroutines wait until it opens.
  private static final class Gate {
    final AtomicInteger waiting = new AtomicInteger();
    final AtomicInteger passed = new AtomicInteger();
    volatile boolean isOpen;

    void pass() {
      waiting.incrementAndGet();
      while (!isOpen) {
        LockSupport.park();
      }
      passed.incrementAndGet();
    }

    void pass(long nanos) {
      waiting.incrementAndGet();
      while (!isOpen) {
        if (nanos == 0) {
          LockSupport.park();
        } else {
          LockSupport.parkNanos(nanos);
        }
      }
      passed.incrementAndGet();
    }
  }
}
