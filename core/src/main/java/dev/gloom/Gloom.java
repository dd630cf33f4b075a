package dev.gloom;

import dev.gloom.runtime.Sched;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;

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
  private Gloom() {}

  /// Runs `body` as a goroutine and waits for it, from a goroutine or any other thread. Returns
  /// when the body does, without waiting for goroutines that it started; throws what it threw.
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

  /// Changes that number and answers the old one; 0 or less only reads, as in Go. When it returns,
  /// no more than `n` run; but for a goroutine that passes no scheduling point it waits about a
  /// second at most, and that one then goes on until it does. At most 65,536.
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
      Thread.sleep(duration);
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

  private static Scheduler scheduler() {
    Sched current = Sched.current();
    return new Scheduler(current == null ? Sched.byDefault() : current);
  }
}
