package dev.gloom.bench.cases;

/// The work of one case. A round is one call, timed from outside.
@FunctionalInterface
public interface Work {
  /// Does about `size` operations in a thread of `threads`, and returns how many it really did.
  ///
  /// It returns when every thread it started has finished its part, and throws
  /// IllegalStateException if the outcome is wrong: a round that did not do its work has no time.
  long run(Threads threads, long size);
}
