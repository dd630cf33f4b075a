package dev.gloom;

import dev.gloom.runtime.Sched;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Goroutines. Meant to be imported statically:
///
/// ```java
/// import static dev.gloom.Gloom.*;
///
/// void main() throws Exception {
///   run(() -> {
///     var hello = go(() -> IO.println("hello from a goroutine"));
///     hello.join();
///   });
/// }
/// ```
///
/// Each goroutine is a virtual thread: all of Java works inside one. Called inside a goroutine,
/// these methods mean the scheduler of that goroutine; elsewhere the default one, which is made at
/// its first use with `gloom.maxprocs`, else GOMAXPROCS, else as many processors as the machine
/// has.
public final class Gloom {
  private static final AtomicReference<@Nullable Scheduler> DEFAULT = new AtomicReference<>();

  private Gloom() {}

  /// Runs `body` as a goroutine and waits for it, from a goroutine or any other thread. Returns
  /// when the body does, without waiting for goroutines that it started; throws what it threw. On a
  /// platform thread it throws {@link DeadlockException} when all goroutines are asleep for good.
  public static void run(Body body) throws Exception {
    scheduler().run(body);
  }

  /// Starts a goroutine. An exception that leaves it goes to its thread's uncaught handler; in a
  /// program started by `./gloom run` it ends the program with status 2, as a panic does in Go.
  public static Goroutine go(Body body) {
    return scheduler().go(body);
  }

  /// Starts a goroutine whose thread has a name.
  public static Goroutine go(String name, Body body) {
    return scheduler().go(name, body);
  }

  /// Lets the other goroutines run first: those in line get their turn before this one goes on.
  /// Does nothing if there are none.
  public static void gosched() {
    Sched.gosched();
  }

  /// How many goroutines run at once.
  public static int maxProcs() {
    return scheduler().maxProcs();
  }

  /// Changes that number and answers the old one; 0 or less only reads, as in Go.
  public static int maxProcs(int n) {
    return scheduler().maxProcs(n);
  }

  /// Goroutines that have started and not ended, those in {@link #run} included.
  public static int numGoroutine() {
    return scheduler().numGoroutine();
  }

  /// Pauses the calling goroutine or thread. Zero or less returns at once.
  public static void sleep(Duration duration) throws InterruptedException {
    if (duration.isPositive()) {
      Sched.sleep(duration);
    }
  }

  /// Makes threads that are goroutines once started.
  public static ThreadFactory threadFactory() {
    return scheduler().threadFactory();
  }

  /// A new executor that runs each task in a goroutine of its own; its close waits for its tasks.
  public static ExecutorService executor() {
    return scheduler().executor();
  }

  /// What the scheduler has counted so far.
  public static Stats stats() {
    return scheduler().stats();
  }

  /// All goroutines with what they do and their stacks, in the shape of Go's goroutine dump; the
  /// caller first.
  public static String dump() {
    return scheduler().dump();
  }

  private static Scheduler scheduler() {
    Sched current = Sched.current();
    return current == null ? byDefault() : new Scheduler(current);
  }

  /// Made at the first use, not in a static initialiser: a wrong setting is then reported to every
  /// caller as what it is, not as a NoClassDefFoundError. Two that race make two; one is dropped
  /// before it has a thread.
  private static Scheduler byDefault() {
    Scheduler existing = DEFAULT.get();
    if (existing != null) {
      return existing;
    }
    Scheduler made = Scheduler.builder().build();
    Scheduler winner = DEFAULT.compareAndExchange(null, made);
    return winner == null ? made : winner;
  }
}
