package dev.gloom.runtime;

/// Time, from outside, so that a test can hold it. Go: `nanotime`
@FunctionalInterface
public interface Clock {
  /// The machine's monotonic clock.
  Clock SYSTEM = System::nanoTime;

  /// Nanoseconds since some fixed moment.
  long nanoTime();
}
