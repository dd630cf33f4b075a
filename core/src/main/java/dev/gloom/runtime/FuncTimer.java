package dev.gloom.runtime;

import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Starts a goroutine at a time. Unlike a timer's channel it always has an alarm while it runs.
///
/// Whether it starts is decided by the alarm, which rings or is cancelled, once. The lock only
/// keeps a stop and a reset apart; the alarm does not take it when it rings.
///
/// Go: `time.AfterFunc`
public final class FuncTimer {
  /// Before an alarm that found no memory for a goroutine tries again.
  private static final long RETRY_NANOS = 1_000_000;

  private final Launch launch;
  private final ReentrantLock changing = new ReentrantLock();

  /// The last; guarded by the lock.
  private @Nullable Ring alarm;

  /// Running.
  public FuncTimer(long delayNanos, Callable<?> body) {
    launch = new Launch(body);
    reset(delayNanos);
  }

  /// Whether it has kept the goroutine from being started.
  public boolean stop() {
    changing.lock();
    try {
      return alarm != null && alarm.cancel();
    } finally {
      changing.unlock();
    }
  }

  /// Starts it, perhaps once more, after this time; whether it would have been started otherwise.
  public boolean reset(long delayNanos) {
    var fresh = new Ring(launch);
    changing.lock();
    try {
      boolean pending = alarm != null && alarm.cancel();
      alarm = fresh;
      Alarm.armAfter(fresh, delayNanos);
      return pending;
    } finally {
      changing.unlock();
    }
  }

  private static final class Ring extends Alarm {
    private final Launch launch;

    Ring(Launch launch) {
      this.launch = launch;
    }

    @Override
    protected void ring() {
      try {
        launch.start();
      } catch (OutOfMemoryError e) {
        again(RETRY_NANOS);
      }
    }
  }
}
