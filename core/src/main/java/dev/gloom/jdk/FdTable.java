package dev.gloom.jdk;

import org.jspecify.annotations.Nullable;

/// Who waits for which descriptor, one thread for each.
///
/// For descriptors that stay registered, a slot can also remember that something was ready when
/// nobody waited: whoever waits next goes on at once. Go: `rg`, `wg` of `pollDesc`
public final class FdTable {
  private static final Object READY = "ready";

  private final FdSlots slots = new FdSlots();

  FdTable() {}

  /// Puts `thread` into the slot of `fd`. False if something is ready: then it need not wait, and
  /// the slot is empty.
  boolean put(int fd, Thread thread) {
    Object before = slots.swap(fd, thread);
    assert !(before instanceof Thread) : "two wait for descriptor " + fd;
    if (before == null) {
      return true;
    }
    slots.replace(fd, thread, null); // unless it was taken meanwhile
    return false;
  }

  /// Empties the slot of `fd` and answers who was in it. One of those that race for it gets it.
  public @Nullable Thread take(int fd) {
    return slots.get(fd) instanceof Thread thread && slots.replace(fd, thread, null)
        ? thread
        : null;
  }

  /// The same; if nobody was in it, remembers that something is ready.
  public @Nullable Thread takeOrRemember(int fd) {
    for (; ; ) {
      Object there = slots.get(fd);
      if (there == READY) {
        return null;
      }
      if (there == null) {
        if (slots.replace(fd, null, READY)) {
          return null;
        }
      } else if (slots.replace(fd, there, null)) {
        return (Thread) there;
      }
    }
  }

  /// Whether somebody waits for `fd`.
  public boolean isAwaited(int fd) {
    return slots.get(fd) instanceof Thread;
  }

  /// Nothing is remembered of `fd` any more.
  public void forget(int fd) {
    if (slots.get(fd) == READY) {
      slots.replace(fd, READY, null);
    }
  }

  /// How many wait; looks at all slots.
  int size() {
    return slots.count(Thread.class);
  }
}
