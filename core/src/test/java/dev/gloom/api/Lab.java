package dev.gloom.api;

import dev.gloom.Body;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import dev.gloom.jdk.Carrier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// A scheduler under test. Its close waits until the last goroutine has gone, checks that the
/// monitor never had to rescue one, and closes the scheduler: what every test owes at its end. Does
/// without JUnit, since programs in child JVMs use it too.
public final class Lab implements AutoCloseable {
  /// Far more than anything here takes on a busy machine.
  private static final long PATIENCE_NANOS = 30_000_000_000L;

  private static final long POLL_NANOS = 200_000;

  private final Scheduler scheduler;

  private Lab(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  /// A scheduler with this many processors.
  public static Lab procs(int n) {
    return new Lab(Scheduler.builder().maxProcs(n).build());
  }

  public Scheduler scheduler() {
    return scheduler;
  }

  public void run(Body body) throws Exception {
    scheduler.run(body);
  }

  public Goroutine go(Body body) {
    return scheduler.go(body);
  }

  @Override
  public void close() {
    quiet(scheduler);
    scheduler.close();
  }

  /// Waits until the last goroutine of `scheduler` has gone and checks that none was rescued.
  public static void quiet(Scheduler scheduler) {
    await(
        () -> scheduler.numGoroutine() + " goroutines have not ended: " + scheduler.stats(),
        () -> scheduler.numGoroutine() == 0);
    noRescues(scheduler);
  }

  /// Checks that no goroutine of `scheduler` had to be rescued so far.
  public static void noRescues(Scheduler scheduler) {
    if (scheduler.stats().rescues() != 0) {
      throw new AssertionError("rescues: " + scheduler.stats());
    }
  }

  /// What the names of a scheduler's threads begin with. Costs it a goroutine.
  public String threadPrefix() throws Exception {
    var name = new AtomicReference<String>();
    scheduler.run(() -> name.set(Carrier.current().getName()));
    String carrier = name.get();
    return carrier.substring(0, carrier.lastIndexOf('-') + 1);
  }

  /// The live platform threads whose names begin so.
  public static List<Thread> threads(String prefix) {
    var found = new ArrayList<Thread>();
    for (Thread t : Thread.getAllStackTraces().keySet()) {
      if (t.getName().startsWith(prefix)) {
        found.add(t);
      }
    }
    return found;
  }

  /// Waits for a state that must come. From any thread, also inside a goroutine.
  public static void await(String what, BooleanSupplier condition) {
    await(() -> "never came: " + what, condition);
  }

  private static void await(Supplier<String> complaint, BooleanSupplier condition) {
    await(complaint, Duration.ofNanos(PATIENCE_NANOS), condition);
  }

  /// The same for what may take longer than usual.
  public static void await(
      Supplier<String> complaint, Duration patience, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > patience.toNanos()
          || Thread.currentThread().isInterrupted()) {
        throw new AssertionError(complaint.get());
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /// Waits until this goroutine is parked.
  public static void awaitWaiting(Goroutine g) {
    await(g + " parks", () -> g.state() == Goroutine.State.WAITING);
  }

  /// The outcome that an order has if nobody is preempted. The monitor may ask a goroutine that the
  /// machine has held up for a slice to step back; so a wrong outcome is tried again a few times.
  public static <T> void settles(T expected, Attempt<T> attempt) throws Exception {
    T last = null;
    for (int i = 0; i < 10; i++) {
      last = attempt.run();
      if (expected.equals(last)) {
        return;
      }
    }
    throw new AssertionError("expected: " + expected + ", but was: " + last);
  }

  /// Something that has an outcome.
  @FunctionalInterface
  public interface Attempt<T> {
    T run() throws Exception;
  }

  /// Runs a test that depends on chance; a failure names the seed that repeats it.
  public static void seeded(Seeded body) {
    long seed = Long.getLong("gloom.seed", System.nanoTime());
    try {
      body.run(seed);
    } catch (Throwable e) {
      throw new AssertionError("failed with -Dgloom.seed=" + seed + ": " + e, e);
    }
  }

  /// A test that depends on chance.
  @FunctionalInterface
  public interface Seeded {
    void run(long seed) throws Exception;
  }

  /// Computes for at least this long, without a scheduling point.
  public static void spin(long nanos) {
    long until = System.nanoTime() + nanos;
    while (until - System.nanoTime() > 0) {
      Thread.onSpinWait();
    }
  }

  /// How much longer than usual this run is to take: `-Dgloom.stress=10`.
  public static int stress() {
    return Integer.getInteger("gloom.stress", 1);
  }
}
