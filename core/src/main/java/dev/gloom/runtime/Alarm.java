package dev.gloom.runtime;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// Something that happens at a time. Rings once, on a thread with no goroutine mounted.
public abstract class Alarm {
  private static final ScheduledThreadPoolExecutor CLOCKWORK = clockwork();

  private final AtomicBoolean over = new AtomicBoolean();
  private volatile @Nullable ScheduledFuture<?> future;

  /// Not armed.
  protected Alarm() {}

  /// Lets `a` ring at a time of {@link System#nanoTime}. From any thread, once.
  public static void arm(Alarm a, long whenNanos) {
    a.future = CLOCKWORK.schedule(a::fire, whenNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    if (a.over.get()) {
      a.cancel();
    }
  }

  /// True if it will not ring.
  public final boolean cancel() {
    boolean first = over.compareAndSet(false, true);
    ScheduledFuture<?> f = future;
    if (f != null) {
      f.cancel(false);
    }
    return first;
  }

  /// Must not block.
  protected abstract void ring();

  private void fire() {
    if (over.compareAndSet(false, true)) {
      ring();
    }
  }

  private static ScheduledThreadPoolExecutor clockwork() {
    var executor =
        new ScheduledThreadPoolExecutor(
            1,
            body -> {
              var t = new Thread(null, body, "gloom-alarms", 0, false);
              t.setDaemon(true);
              return t;
            });
    executor.setRemoveOnCancelPolicy(true);
    return executor;
  }
}
