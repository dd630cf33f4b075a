package dev.gloom.runtime;

import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/// A goroutine that will be started later, by an alarm or by whoever cancels a context: its body,
/// the place in the program that asked for it, and the scheduler of whoever did.
///
/// It is started from places that cannot deal with a failure. If the scheduler is closed by then,
/// the default one takes it: a clean-up that was asked for has to run somewhere.
public final class Launch {
  private final Sched sched;
  private final Callable<?> body;
  private final @Nullable StackTraceElement site;

  /// For the scheduler of the calling goroutine, or else the default one.
  public Launch(Callable<?> body) {
    Sched current = Sched.current();
    sched = current == null ? Sched.byDefault() : current;
    this.body = body;
    site = Site.of(body);
  }

  /// Starts a goroutine. From any thread, also one of the scheduler's without a goroutine: unlike
  /// {@link Spawn#go} it is no scheduling point.
  public void start() {
    try {
      start(sched);
    } catch (RejectedExecutionException e) {
      start(Sched.byDefault());
    }
  }

  private void start(Sched on) {
    Spawn.make(on, "", body, site).start();
  }
}
