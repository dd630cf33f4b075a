package dev.gloom.runtime;

import org.jspecify.annotations.Nullable;

/// A node in a tree of things that can be cancelled, each once, with a reason; those below it go
/// with it.
///
/// The **reason** is set under the node's lock, by the first that cancels. After that no child is
/// added: one that comes too late is cancelled at once instead. So whoever then walks down finds
/// all children there ever were.
///
/// Everybody who cancels walks the whole subtree, also if somebody else does that already. A child
/// leaves its parent's list only when its own subtree is done, so at the end of the walk all that
/// was below is cancelled, whoever did it: when `cancel` returns, that holds, as it does in Go,
/// where the second caller waits for the first. The walk is a loop, down by the first child and up
/// by the parent, since a tree may be deeper than a stack; and it holds one lock at a time, for a
/// few field accesses ({@link SpinLock}). So a deadline's alarm can do it as well, on a thread that
/// must not block.
///
/// A node that is done is in nobody's list: what a long-lived parent holds is what still runs.
///
/// Go: `cancelCtx`, `propagateCancel`, `removeChild`
public abstract class Cancellation {
  private final @Nullable Cancellation parent;
  private final SpinLock lock = new SpinLock();

  /// Written once, under the lock.
  private volatile @Nullable Object reason;

  /// Guarded by the lock.
  private @Nullable Cancellation firstChild;

  // Guarded by the parent's lock.
  private @Nullable Cancellation next;
  private @Nullable Cancellation previous;
  private boolean linked;

  /// Not below its parent yet: see {@link #attach}.
  protected Cancellation(@Nullable Cancellation parent) {
    this.parent = parent;
  }

  /// The reason is set: closes what tells others. May be called more than once, by any thread.
  protected abstract void announce();

  /// It has been cancelled: called once, by the thread that did, after {@link #announce}. Must not
  /// block.
  protected abstract void cancelled();

  /// From now on it is cancelled with its parent; at once, if that has been.
  public final void attach() {
    Cancellation up = parent;
    if (up == null) {
      return;
    }
    up.lock.acquire();
    Object why = up.reason;
    if (why == null) {
      Cancellation sibling = up.firstChild;
      next = sibling;
      if (sibling != null) {
        sibling.previous = this;
      }
      up.firstChild = this;
      linked = true;
    }
    up.lock.held = 0;
    if (why != null) {
      cancel(why);
    }
  }

  /// Why it was cancelled; null if it was not. Others have been told by then.
  public final @Nullable Object reason() {
    Object why = reason;
    if (why != null) {
      announce();
    }
    return why;
  }

  /// Cancels this and all below it; false if somebody else had done so.
  public final boolean cancel(Object why) {
    Headroom.check();
    boolean first = mark(why);
    Cancellation n = this;
    for (; ; ) {
      Cancellation child = n.first();
      if (child != null) {
        Object its = n.reason; // not `why`, if somebody else was first
        assert its != null : "not cancelled";
        child.mark(its);
        n = child;
        continue;
      }
      n.unlink();
      if (n == this) {
        return first;
      }
      Cancellation up = n.parent;
      assert up != null : "a child without a parent";
      n = up;
    }
  }

  /// The same without its children, of which it has none, and without telling: whether it was the
  /// first.
  protected final boolean withdraw(Object why) {
    boolean first = set(why);
    unlink();
    return first;
  }

  private boolean mark(Object why) {
    boolean first = set(why);
    announce();
    if (first) {
      cancelled();
    }
    return first;
  }

  private boolean set(Object why) {
    boolean first = false;
    lock.acquire();
    if (reason == null) {
      reason = why;
      first = true;
    }
    lock.held = 0;
    return first;
  }

  private @Nullable Cancellation first() {
    lock.acquire();
    Cancellation child = firstChild;
    lock.held = 0;
    return child;
  }

  private void unlink() {
    Cancellation up = parent;
    if (up == null) {
      return;
    }
    up.lock.acquire();
    if (linked) {
      linked = false;
      Cancellation after = next;
      Cancellation before = previous;
      if (after != null) {
        after.previous = before;
      }
      if (before == null) {
        up.firstChild = after;
      } else {
        before.next = after;
      }
      next = null;
      previous = null;
    }
    up.lock.held = 0;
  }

  /// How many are directly below it at this moment and not yet done. For tests.
  final int children() {
    int n = 0;
    lock.acquire();
    for (Cancellation c = firstChild; c != null; c = c.next) {
      n++;
    }
    lock.held = 0;
    return n;
  }
}
