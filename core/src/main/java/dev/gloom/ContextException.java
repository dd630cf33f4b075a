package dev.gloom;

import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/// Why a {@link Context} is done: {@link Context#err()}. To throw it is how a task ends that was
/// told to stop.
///
/// There is one for each context that is cancelled, and those below it share it. Its Java cause is
/// the {@linkplain Context#cause() cause}, if one was given. It has no stack: it says that
/// something was cancelled, not where that was noticed.
public abstract sealed class ContextException extends CancellationException {
  private static final long serialVersionUID = 1;

  ContextException(String message, @Nullable Throwable cause) {
    super(message);
    if (cause != null) {
      initCause(cause);
    }
  }

  @Override
  @SuppressWarnings("UnsynchronizedOverridesSynchronized") // nothing is written
  public Throwable fillInStackTrace() {
    return this;
  }

  /// Somebody called {@link Context#cancel()}.
  public static final class Canceled extends ContextException {
    private static final long serialVersionUID = 1;

    Canceled(@Nullable Throwable cause) {
      super("context canceled", cause);
    }
  }

  /// Its time is over.
  public static final class DeadlineExceeded extends ContextException {
    private static final long serialVersionUID = 1;

    DeadlineExceeded(@Nullable Throwable cause) {
      super("context deadline exceeded", cause);
    }
  }
}
