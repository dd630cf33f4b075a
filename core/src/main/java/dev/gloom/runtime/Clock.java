package dev.gloom.runtime;

/// Time, from outside, so that a test can hold it. Go: `nanotime`
@FunctionalInterface
public interface Clock {
  /// The machine's monotonic clock, from a moment near the start of the process: times are small
  /// and positive, so that adding a long while to one can be told from an overflow.
  Clock SYSTEM = new SystemClock();

  /// Nanoseconds since some fixed moment; not negative.
  long nanoTime();

  /// See {@link #SYSTEM}.
  final class SystemClock implements Clock {
    private static final long START = System.nanoTime();

    private SystemClock() {}

    @Override
    public long nanoTime() {
      return System.nanoTime() - START;
    }
  }
}
