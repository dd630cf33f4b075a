package dev.gloom;

import dev.gloom.runtime.ChanTimer;
import dev.gloom.runtime.FuncTimer;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// One event in the future: a value on a channel, or a goroutine that starts.
///
/// ```java
/// var timer = new Timer(Duration.ofSeconds(1));
/// select(
///     recv(results, r -> "got " + r),
///     recv(timer.c(), at -> "gave up at " + at));
/// timer.stop();
/// ```
///
/// The value is the {@link Instant} at which the timer fired, also if it is received much later: it
/// tells how late one is. It follows the wall's clock; the delay itself does not, and is not
/// disturbed when somebody sets that.
///
/// After {@link #stop} or {@link #reset} no value of before can be received: there is no channel to
/// drain. A timer that nobody refers to is garbage, fired or not; only one of {@link #afterFunc} is
/// kept until then. `c().len()` and `c().cap()` are 0. All methods may be called by any thread.
///
/// To wait for a time in a single select, {@link Gloom#after} is all it takes.
public final class Timer {
  private final @Nullable ChanTimer clock;
  private final @Nullable FuncTimer func;
  private final RecvChan<Instant> c;

  /// A timer that fires once, after this time; zero or less is now.
  public Timer(Duration delay) {
    var timer = new ChanTimer(nanos(delay), 0);
    clock = timer;
    func = null;
    c = new Chan<>(timer.channel());
  }

  private Timer(FuncTimer func) {
    clock = null;
    this.func = func;
    c = Chan.never();
  }

  /// The channel of a new timer. Go: `time.After`
  public static RecvChan<Instant> after(Duration delay) {
    return new Timer(delay).c;
  }

  /// A timer that starts a goroutine after this time, on the scheduler of the caller.
  public static Timer afterFunc(Duration delay, Body body) {
    Objects.requireNonNull(body, "go of nil func value: the body is null");
    return new Timer(new FuncTimer(nanos(delay), body));
  }

  /// Where the value comes; nothing ever does if the timer starts a goroutine. Never closed.
  public RecvChan<Instant> c() {
    return c;
  }

  /// Keeps it from firing. True if it has: it was running, or had fired and nobody had received the
  /// value, which is gone. False if it was stopped, the value has been received, or the goroutine
  /// has been started; what that does is not waited for.
  public boolean stop() {
    return clock == null ? func().stop() : clock.stop();
  }

  /// Lets it fire after this time, counted from now, whatever it did before. Answers what {@link
  /// #stop} would have.
  public boolean reset(Duration delay) {
    long nanos = nanos(delay);
    return clock == null ? func().reset(nanos) : clock.reset(nanos, 0);
  }

  private FuncTimer func() {
    return Objects.requireNonNull(func);
  }

  private static long nanos(Duration delay) {
    return ChanTimer.nanos(Objects.requireNonNull(delay, "timer: the time is null"));
  }
}
