package dev.gloom.java;

import dev.gloom.api.Lab;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/// The threads of a test that knows nothing of gloom: goroutines, or the JDK's own virtual threads
/// as a control. The test itself runs in one of them, so all its waits are waits of goroutines.
final class Crew {
  /// Far more than anything here takes on a busy machine.
  private static final long PATIENCE_MILLIS = 60_000;

  private final ThreadFactory factory;
  private final long seed;
  private final int scale;

  private Crew(ThreadFactory factory, long seed, int scale) {
    this.factory = factory;
    this.seed = seed;
    this.scale = scale;
  }

  /// What a test does with its threads, and the outcome.
  @FunctionalInterface
  interface Task<T> {
    T run(Crew crew) throws Exception;
  }

  /// What one of several threads does.
  @FunctionalInterface
  interface Work {
    void run(int number) throws Exception;
  }

  /// The outcome on a scheduler with this many processors, and no goroutine lost or rescued.
  static <T> T onGloom(int procs, long seed, int scale, Task<T> task) throws Exception {
    try (var lab = Lab.procs(procs)) {
      return new Crew(lab.scheduler().threadFactory(), seed, scale).call(task);
    }
  }

  /// The outcome on the JDK's own scheduler.
  static <T> T onTheJdk(long seed, int scale, Task<T> task) throws Exception {
    return new Crew(Thread.ofVirtual().factory(), seed, scale).call(task);
  }

  private <T> T call(Task<T> task) throws Exception {
    var outcome = new AtomicReference<T>();
    each(1, _ -> outcome.set(task.run(this)));
    return outcome.get();
  }

  ThreadFactory factory() {
    return factory;
  }

  /// `n` times as many for a longer run.
  int times(int n) {
    return n * scale;
  }

  /// Numbers of its own for each thread, the same for the same seed.
  SplittableRandom random(int number) {
    return new SplittableRandom(seed + 31L * number);
  }

  /// Starts a thread.
  Thread start(Runnable body) {
    Thread t = factory.newThread(body);
    t.start();
    return t;
  }

  /// Runs `work` in `n` threads at once and waits for them; the first failure is thrown here.
  void each(int n, Work work) throws Exception {
    var failure = new AtomicReference<Throwable>();
    var threads = new Thread[n];
    for (int i = 0; i < n; i++) {
      int number = i;
      threads[i] =
          start(
              () -> {
                try {
                  work.run(number);
                } catch (Throwable e) {
                  failure.compareAndSet(null, e);
                }
              });
    }
    for (Thread t : threads) {
      join(t, failure);
    }
    Throwable thrown = failure.get();
    if (thrown != null) {
      throw new AssertionError(thrown.toString(), thrown);
    }
  }

  /// Looks up now and then: if one has failed, those that wait for it never end.
  private static void join(Thread t, AtomicReference<Throwable> failure) throws Exception {
    long start = System.nanoTime();
    while (!t.join(Duration.ofMillis(500))) {
      long waited = (System.nanoTime() - start) / 1_000_000;
      if (waited > (failure.get() == null ? PATIENCE_MILLIS : 2_000)) {
        var at = String.join("\n\tat ", strings(t.getStackTrace()));
        throw new AssertionError(t + " hangs, " + t.getState() + "\n\tat " + at, failure.get());
      }
    }
  }

  private static String[] strings(StackTraceElement[] frames) {
    return Arrays.stream(frames).map(StackTraceElement::toString).toArray(String[]::new);
  }

  /// Waits a moment for what does not wake its waiters. Not a yield: on the JDK's own scheduler
  /// those that yield in a loop keep others from running for as long as they like.
  static void idle() {
    LockSupport.parkNanos(20_000);
  }

  /// Mixes the order of things: mostly nothing, at times a yield, seldom a short park.
  @SuppressWarnings("ThreadPriorityCheck") // a yield is meant
  static void stir(SplittableRandom random) {
    switch (random.nextInt(64)) {
      case 0, 1, 2, 3 -> Thread.yield();
      case 4 -> LockSupport.parkNanos(random.nextLong(1, 50_000));
      default -> {}
    }
  }
}
