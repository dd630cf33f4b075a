package dev.gloom.jdk;

import org.jspecify.annotations.Nullable;

/// Who waits for which descriptor, one thread for each.
///
/// For descriptors that stay registered, a slot can also remember what became of it when nobody
/// waited:
///
/// - *ready*: something came; whoever waits next goes on at once;
/// - *ended*: the other side sends no more, so that no read is in vain any more;
/// - *doubted*: that was said, and a read may have been in vain all the same: of another socket
///   then, which had the number before. One more read is tried; if it is in vain too, its thread
///   waits. Whatever is told next counts as the end, which is safe: nothing is drained by then;
/// - *drained*: all that came has been read, and nothing since: a read would be in vain.
///
/// Go: `rg`, `wg` of `pollDesc`
public final class FdTable {
  private static final Object READY = "ready";
  private static final Object ENDED = "ended";
  private static final Object DOUBTED = "doubted";
  private static final Object DRAINED = "drained";

  private final FdSlots slots = new FdSlots();

  /// All empty.
  public FdTable() {}

  /// Puts `thread` into the slot of `fd`. False if something is ready: then it need not wait, and
  /// is not there.
  boolean put(int fd, Thread thread) {
    Object before = slots.swap(fd, thread);
    assert !(before instanceof Thread) : "two wait for descriptor " + fd;
    if (before == READY) {
      slots.replace(fd, thread, null); // unless it was taken meanwhile
      return false;
    }
    if (before == ENDED) {
      slots.swap(fd, DOUBTED); // in any case: who was told of something else meanwhile tries now
      return false;
    }
    return true;
  }

  /// Empties the slot of `fd` and answers who was in it. One of those that race for it gets it.
  public @Nullable Thread take(int fd) {
    return slots.get(fd) instanceof Thread thread && slots.replace(fd, thread, null)
        ? thread
        : null;
  }

  /// The same; if nobody was in it, remembers that something is ready. If that is the end, it is
  /// remembered in any case.
  public @Nullable Thread takeOrRemember(int fd, boolean end) {
    for (; ; ) {
      Object there = slots.get(fd);
      if (there == ENDED || there == READY && !end) {
        return null;
      }
      Thread waiting = there instanceof Thread thread ? thread : null;
      Object then = end || there == DOUBTED ? ENDED : waiting == null ? READY : null;
      if (slots.replace(fd, there, then)) {
        return waiting;
      }
    }
  }

  /// A read is about to be tried: what became of it before is no news any more.
  public void reading(int fd) {
    Object there = slots.get(fd);
    if (there == READY || there == DRAINED) {
      slots.replace(fd, there, null);
    }
  }

  /// That read got all there was; unless something has come since.
  public void drained(int fd) {
    slots.replace(fd, null, DRAINED);
  }

  /// Whether all has been read and nothing has come since.
  public boolean isDrained(int fd) {
    return slots.get(fd) == DRAINED;
  }

  /// Who waits for `fd`; null if nobody does.
  public @Nullable Thread waiter(int fd) {
    return slots.get(fd) instanceof Thread thread ? thread : null;
  }

  /// Whether somebody waits for `fd`.
  public boolean isAwaited(int fd) {
    return waiter(fd) != null;
  }

  /// Nothing is remembered of `fd` any more.
  public void forget(int fd) {
    Object there = slots.get(fd);
    if (there != null && !(there instanceof Thread)) {
      slots.replace(fd, there, null);
    }
  }

  /// How many wait; looks at all slots.
  int size() {
    return slots.count(Thread.class);
  }
}
