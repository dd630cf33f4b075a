package dev.gloom.bench.cases;

import dev.gloom.Body;
import java.time.Duration;
import java.util.Map;

/// A kind of thread that a case can run on: gloom and its rivals run the same lines through this.
///
/// A process uses one kind only, so that the calls are as good as direct once compiled.
public interface Threads {
  /// What a thread does: a lambda of this type goes to each kind as it is. An adapter in between
  /// would be one more frame on the stack that every switch copies, and only one side would have
  /// it.
  @FunctionalInterface
  interface Code extends Runnable, Body {}

  /// Runs `root` as a thread of this kind, from a platform thread, and returns when it has ended.
  void run(Runnable root) throws Exception;

  /// Starts a thread; called from a thread of this kind.
  void start(Code body);

  /// Lets the other threads go first.
  void yield();

  /// Pauses the calling thread.
  default void sleep(Duration duration) {
    throw new UnsupportedOperationException("no sleep of " + duration);
  }

  /// The channels that go with these threads.
  default Channels channels() {
    throw new UnsupportedOperationException("no channels");
  }

  /// Waits, in the thread that made `left`, until it is down to zero.
  default void await(Countdown left) {
    left.await();
  }

  /// How many of these threads can run at once.
  int procs();

  /// What the scheduler has counted since the start of the process: totals by name, empty if it
  /// does not count.
  default Map<String, Long> counters() {
    return Map.of();
  }

  /// What was measured, for the results file.
  String version();
}
