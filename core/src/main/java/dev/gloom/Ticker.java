package dev.gloom;

import dev.gloom.runtime.ChanTimer;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

/// Values on a channel at regular times.
///
/// ```java
/// try (var ticker = new Ticker(Duration.ofMillis(100))) {
///   for (Instant at : ticker.c()) {
///     report(at);
///   }
/// }
/// ```
///
/// Each value is the {@link Instant} of its tick. For a receiver that is late one tick is kept, the
/// first that it missed; the others are dropped, and the next one comes at its regular time. A
/// ticker that nobody refers to is garbage, stopped or not. All methods may be called by any
/// thread.
public final class Ticker implements AutoCloseable {
  private final ChanTimer clock;
  private final RecvChan<Instant> c;

  /// Ticks after each such period, for the first time when one has passed.
  ///
  /// @throws IllegalArgumentException if it is zero or less
  public Ticker(Duration period) {
    long nanos = nanos(period, "non-positive interval for NewTicker");
    clock = new ChanTimer(nanos, nanos);
    c = new Chan<>(clock.channel());
  }

  /// The channel of a new ticker; one on which nothing ever comes if the period is zero or less.
  /// Go: `time.Tick`
  public static RecvChan<Instant> tick(Duration period) {
    return period.isPositive() ? new Ticker(period).c : Chan.never();
  }

  /// Where the ticks come.
  public RecvChan<Instant> c() {
    return c;
  }

  /// No more ticks. The channel is not closed: who waits there waits on.
  public void stop() {
    clock.stop();
  }

  /// Ticks with this period from now on, also if it was stopped.
  ///
  /// @throws IllegalArgumentException if it is zero or less; the ticker is as before
  public void reset(Duration period) {
    long nanos = nanos(period, "non-positive interval for Ticker.Reset");
    clock.reset(nanos, nanos);
  }

  /// The same as {@link #stop}.
  @Override
  public void close() {
    stop();
  }

  private static long nanos(Duration period, String refusal) {
    Objects.requireNonNull(period, "ticker: the period is null");
    if (!period.isPositive()) {
      throw new IllegalArgumentException(refusal + ": " + period);
    }
    return ChanTimer.nanos(period);
  }
}
