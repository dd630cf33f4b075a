package dev.gloom.runtime;

import java.util.concurrent.Callable;

/// A body of gloom's own around the one that the user gave: the place where the latter was started
/// is looked up by its class.
public interface Wrapping {
  /// The user's.
  Callable<?> wrapped();
}
