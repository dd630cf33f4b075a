package dev.gloom.bench.cases;

import java.util.Map;

/// A kind of thread that a case can run on: gloom and its rivals run the same lines through this.
///
/// A process uses one kind only, so that the calls are as good as direct once compiled.
public interface Threads {
  /// Runs `root` as a thread of this kind, from a platform thread, and returns when it has ended.
  void run(Runnable root) throws Exception;

  /// Starts a thread; called from a thread of this kind.
  void start(Runnable body);

  /// Lets the other threads go first.
  void yield();

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
