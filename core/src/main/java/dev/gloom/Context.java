package dev.gloom;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The word that work is to stop, and by when, passed on to all who take part in it; and values
/// that go with it. Contexts form a tree: what is cancelled takes everything below it along.
///
/// ```java
/// try (var ctx = Context.background().withTimeout(Duration.ofSeconds(2))) {
///   go(() -> search(ctx, query, hits));
///   return select(
///       recv(hits, h -> h),
///       recv(ctx.done(), _ -> { throw ctx.err(); }));
/// }
/// ```
///
/// Whoever makes a context with `with…` closes it, also if it was never cancelled: until then the
/// one above holds on to it.
///
/// A context interrupts nobody: it is a request, seen by those who look at {@link #done()} or
/// {@link #err()}. Code that only knows interrupts is reached so, and {@link Group} does it for its
/// members:
///
/// ```java
/// Thread worker = Thread.currentThread();
/// var hook = ctx.afterFunc(worker::interrupt);
/// try { legacy(); } finally { hook.stop(); }
/// ```
///
/// In the other direction an interrupt cancels nothing; a task that ends by one closes the contexts
/// it made. Any thread may use a context, goroutine or not, also the subtasks of a
/// StructuredTaskScope, which are interrupted when their scope is and see the context as well.
public final class Context implements AutoCloseable {
  private static final Context BACKGROUND = new Context(null, null, null, null, null);

  /// For values, and for deadlines.
  private final @Nullable Context parent;

  /// What tells whether this is done: its own, or that of the nearest above that has one.
  private final @Nullable Done done;

  /// The same, if this context is the one that can be cancelled by it.
  private final @Nullable Done own;

  private final @Nullable Object key;
  private final @Nullable Object value;

  private Context(
      @Nullable Context parent,
      @Nullable Done done,
      @Nullable Done own,
      @Nullable Object key,
      @Nullable Object value) {
    this.parent = parent;
    this.done = done;
    this.own = own;
    this.key = key;
    this.value = value;
  }

  /// The root: never cancelled, no values, no deadline.
  public static Context background() {
    return BACKGROUND;
  }

  // Making more of them.

  /// A context that can be cancelled, and is when this one is.
  public Context withCancel() {
    return below(new Done(done, deadline()));
  }

  /// A context that is also cancelled after this time.
  public Context withTimeout(Duration timeout) {
    return withTimeout(timeout, null);
  }

  /// The same with a cause of one's own; it counts only if the time is what ends it.
  public Context withTimeout(Duration timeout, @Nullable Throwable cause) {
    Objects.requireNonNull(timeout, "context: the time is null");
    Instant at;
    try {
      at = Instant.now().plus(timeout);
    } catch (DateTimeException | ArithmeticException e) {
      at = timeout.isNegative() ? Instant.MIN : Instant.MAX;
    }
    return until(at, timeout, cause);
  }

  /// A context that is also cancelled at this time. If that has passed, it is at once; if this
  /// context ends earlier anyway, it is only one that can be cancelled.
  public Context withDeadline(Instant at) {
    return withDeadline(at, null);
  }

  /// The same with a cause of one's own; it counts only if the time is what ends it.
  public Context withDeadline(Instant at, @Nullable Throwable cause) {
    Objects.requireNonNull(at, "context: the time is null");
    return until(at, Duration.between(Instant.now(), at), cause);
  }

  private Context until(Instant at, Duration timeout, @Nullable Throwable cause) {
    Instant sooner = deadline();
    if (sooner != null && sooner.isBefore(at)) {
      return withCancel();
    }
    var timed = new Done(done, at);
    Context made = below(timed);
    timed.cancelAfter(timeout, new ContextException.DeadlineExceeded(cause));
    return made;
  }

  private Context below(Done made) {
    made.attach();
    return new Context(this, made, made, null, null);
  }

  /// A context that has this value for this key, whatever those above have for it. Keys are
  /// compared by `equals`; a key of a class or an enum of one's own keeps out of the way of others.
  public Context withValue(Object key, @Nullable Object value) {
    return new Context(this, done, null, Objects.requireNonNull(key, "nil key"), value);
  }

  /// A context with the same values that nothing ends: for what has to be done even so.
  public Context withoutCancel() {
    return new Context(this, null, null, null, null);
  }

  // Ending it.

  /// Cancels this context and all below it. The first to do so decides the reason; more do no harm.
  ///
  /// @throws UnsupportedOperationException if it has none of its own to cancel: the root, and those
  ///   of {@link #withValue} and {@link #withoutCancel}. So these can be handed to others who are
  ///   not to cancel
  public void cancel() {
    cancel(null);
  }

  /// The same, and says why.
  public void cancel(@Nullable Throwable cause) {
    if (own == null) {
      throw new UnsupportedOperationException(
          "context: nothing to cancel: this one was not made by withCancel, withTimeout or"
              + " withDeadline");
    }
    own.cancel(new ContextException.Canceled(cause));
  }

  /// Cancels it, if it can be cancelled: what it was made for is over.
  @Override
  public void close() {
    if (own != null) {
      cancel(null);
    }
  }

  // Looking at it.

  /// Closed when this context is done. Nothing is ever sent on it. The same at each call.
  public RecvChan<Void> done() {
    return done == null ? Chan.never() : done.chan();
  }

  /// Why it is done; null until {@link #done()} is closed, then always the same: {@link
  /// ContextException.Canceled} or {@link ContextException.DeadlineExceeded}.
  public @Nullable ContextException err() {
    return done == null ? null : (ContextException) done.reason();
  }

  /// What led to that: the cause that was given to the cancel or the deadline that ended this
  /// context or one above it, else the same as {@link #err()}; null until it is done.
  public @Nullable Throwable cause() {
    ContextException err = err();
    return err == null || err.getCause() == null ? err : err.getCause();
  }

  /// When it will be done, if nothing ends it before; null if there is no such time.
  public @Nullable Instant deadline() {
    return done == null ? null : done.deadline;
  }

  /// The value for this key, of this context or the nearest above that has one; null if none has.
  public @Nullable Object value(Object key) {
    Objects.requireNonNull(key, "nil key");
    for (Context c = this; c != null; c = c.parent) {
      if (key.equals(c.key)) {
        return c.value;
      }
    }
    return null;
  }

  /// Starts a goroutine when this context is done; at once, if it is. The scheduler is that of the
  /// caller.
  public Hook afterFunc(Body body) {
    var hook =
        new Hook(done, Objects.requireNonNull(body, "go of nil func value: the body is null"));
    hook.attach();
    return hook;
  }

  /// What is to happen when a context is done.
  public static final class Hook {
    private final AfterDone node;

    private Hook(@Nullable Done done, Body body) {
      node = new AfterDone(done, body);
    }

    private void attach() {
      node.attach();
    }

    /// Calls it off. True if that has kept it from happening; false if it has been started, which
    /// is not waited for, or if this was called before.
    public boolean stop() {
      return node.stop();
    }
  }

  /// What ends it, and when.
  @Override
  public String toString() {
    if (this == BACKGROUND) {
      return "context.Background";
    }
    ContextException err = err();
    Instant deadline = deadline();
    return "Context["
        + (err == null ? "running" : err.getMessage())
        + (deadline == null ? "" : ", deadline " + deadline)
        + "]";
  }
}
