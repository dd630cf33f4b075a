package dev.gloom;

import dev.gloom.runtime.WaitCount;
import dev.gloom.runtime.Wrapping;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Goroutines that work on one task: if one of them fails, the others are told to stop.
///
/// ```java
/// try (var group = new Group()) {
///   group.limit(8);
///   for (var url : urls) {
///     group.go(() -> fetch(group.context(), url));
///   }
///   group.await();                            // throws the first failure
/// }
/// ```
///
/// **Failure.** What a member throws, of whatever type, is its failure; it does not go to an
/// uncaught handler, and does not end the program. The first one counts, the others are dropped, as
/// in Go's errgroup. It cancels the group's {@link #context()}, with itself as the cause, and
/// {@link #await} throws it when all members have ended.
///
/// **How members learn of it.** By the context, as in Go; and, beyond Go, those that still run are
/// interrupted: that also reaches what knows nothing of contexts, a sleep, a lock, a socket. One
/// that is started later is interrupted from its start. The same happens when a context above the
/// group is done. A member that ends by that interrupt has not failed by itself: its failure is
/// then the {@link ContextException} of the group. An `InterruptedException` of a member never
/// comes out of `await` as such, where it would look like the caller's own; if nothing was
/// cancelled it is the cause of a {@link CancellationException}.
public final class Group implements AutoCloseable {
  private final Context context;
  private final Context.Hook interrupts;
  private final WaitCount running = new WaitCount();
  private final Set<Thread> members = ConcurrentHashMap.newKeySet();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final AtomicBoolean over = new AtomicBoolean();

  /// Full of those that run; null: no limit.
  private volatile @Nullable Chan<Group> slots;

  /// A group with a context below the root.
  public Group() {
    this(Context.background());
  }

  /// A group with a context below this one.
  public Group(Context parent) {
    context = Objects.requireNonNull(parent, "cannot create context from nil parent").withCancel();
    interrupts = context.afterFunc(this::interruptAll);
  }

  /// Cancelled when a member fails, with its failure as the cause; also when {@link #await}
  /// returns.
  public Context context() {
    return context;
  }

  /// At most so many members run at once: {@link #go} waits for its turn. Negative: no limit, which
  /// is the default; with 0 none can be started.
  ///
  /// @throws IllegalStateException if members run
  public Group limit(int n) {
    int active = running.count();
    if (active != 0) {
      throw new IllegalStateException(
          "errgroup: modify limit while " + active + " goroutines in the group are still active");
    }
    slots = n < 0 ? null : Chan.make(n);
    return this;
  }

  /// Starts a member, when the limit allows it.
  ///
  /// @throws InterruptedException if the calling thread is interrupted while it waits for its turn;
  ///   nothing has been started
  /// @throws IllegalStateException if {@link #await} or {@link #close} has ended the group
  public Goroutine go(Body body) throws InterruptedException {
    Objects.requireNonNull(body, "go of nil func value: the body is null");
    refuseIfOver();
    Chan<Group> s = slots;
    if (s != null) {
      s.send(this);
    }
    return start(body, s);
  }

  /// Starts a member if the limit allows it at once; false if not.
  ///
  /// @throws IllegalStateException if the group is over
  public boolean tryGo(Body body) {
    Objects.requireNonNull(body, "go of nil func value: the body is null");
    refuseIfOver();
    Chan<Group> s = slots;
    if (s != null && !s.trySend(this)) {
      return false;
    }
    start(body, s);
    return true;
  }

  private void refuseIfOver() {
    if (over.get()) {
      throw new IllegalStateException("group: it is over, await has returned: make a new one");
    }
  }

  private Goroutine start(Body body, @Nullable Chan<Group> s) {
    running.add(1);
    try {
      return Gloom.go(new Member(this, body, s));
    } catch (Throwable e) { // refused
      ended(s);
      throw e;
    }
  }

  private void ended(@Nullable Chan<Group> s) {
    if (s != null) {
      s.tryRecv();
    }
    running.add(-1);
  }

  /// Waits until all members have ended, and throws the first failure as it is. The group is over
  /// then, and its context is cancelled.
  ///
  /// @throws InterruptedException if the calling thread is interrupted; members go on, until {@link
  ///   #close}
  /// @throws Exception what a member threw
  public void await() throws Exception {
    running.await();
    finish();
    Throwable e = failure.get();
    if (e != null) {
      Group.<RuntimeException>rethrow(e);
    }
  }

  /// Cancels what still runs, interrupts it, and waits for its end, whether interrupted or not.
  /// Throws no failure. Does nothing after {@link #await} has returned.
  @Override
  public void close() {
    if (over.get()) {
      return;
    }
    context.cancel();
    boolean interrupted = false;
    for (; ; ) {
      try {
        running.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    finish();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void finish() {
    over.set(true);
    interrupts.stop();
    context.cancel();
  }

  private void interruptAll() {
    for (Thread member : members) {
      member.interrupt();
    }
  }

  private void failed(Throwable e) {
    Throwable told = e;
    if (e instanceof InterruptedException) {
      told = context.err();
      if (told == null) {
        told = new CancellationException("group: a member was interrupted").initCause(e);
      }
    }
    if (failure.compareAndSet(null, told)) {
      context.cancel(told);
    }
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // as it is
  private static <E extends Throwable> void rethrow(Throwable e) throws E {
    throw (E) e;
  }

  private record Member(Group group, Body body, @Nullable Chan<Group> slots)
      implements Body, Wrapping {
    @Override
    public Body wrapped() {
      return body;
    }

    @Override
    public void run() {
      Thread self = Thread.currentThread();
      group.members.add(self); // and then a look at the context; who cancels does it the other way
      try {
        if (group.context.err() != null) {
          self.interrupt();
        }
        body.run();
      } catch (Throwable e) {
        group.failed(e);
      } finally {
        group.members.remove(self);
        group.ended(slots);
      }
    }
  }

  /// How many run.
  @Override
  public String toString() {
    return "Group[" + running.count() + "]";
  }
}
