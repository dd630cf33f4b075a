package dev.gloom.runtime;

import org.jspecify.annotations.Nullable;

/// The scheduler's shared run queue: first in, first out, a chain through `G.link` under a lock.
///
/// What goes here: whoever yields or has used up its slice, what is made ready by a thread without
/// a P, and what no longer fits into a local queue. Local queues come first, so every 61st tick of
/// a P takes one from here ({@link FindWork}), else a batch when the local queue is empty.
///
/// `size` is written under the lock and read without it. A reader first reads `lock.held`: the
/// release of the lock is a volatile store after `size`, so either that read sees the release and
/// then the new size, or the writer's next volatile read comes after the reader's last volatile
/// write, and the wake-up protocol in Idle lets the writer act instead.
///
/// Go: `globrunqput`, `globrunqputbatch`, `globrunqget`, `globrunqgetbatch`
final class GlobalQueue {
  private final SpinLock lock = new SpinLock();
  // Guarded by lock.
  private @Nullable G first;
  private @Nullable G last;
  private int size;

  /// What was read ahead: kept, and of no use.
  private boolean warmed;

  /// Appends one. A full fence comes with the release of the lock.
  void put(G g) {
    g.link = null;
    lock.acquire();
    if (last == null) {
      first = g;
    } else {
      last.link = g;
    }
    last = g;
    size++;
    lock.held = 0;
  }

  /// Appends a chain of `n` goroutines, order kept.
  void putChain(G head, G tail, int n) {
    assert tail.link == null;
    lock.acquire();
    if (last == null) {
      first = head;
    } else {
      last.link = head;
    }
    last = tail;
    size += n;
    lock.held = 0;
  }

  /// Puts a chain of `n` in front of all others: what a processor had that exists no more.
  void putChainFirst(G head, G tail, int n) {
    assert tail.link == null;
    lock.acquire();
    tail.link = first;
    first = head;
    if (last == null) {
      last = tail;
    }
    size += n;
    lock.held = 0;
  }

  /// Takes the head.
  @Nullable G take() {
    return takeChain(1);
  }

  /// Takes up to `most` from the head, as a chain. Those that lay here long are out of the cache,
  /// and each would be waited for on the way to the next; so some places ahead are read on the way,
  /// and come from memory together (`./gloom bench skynet/1p`: a tenth).
  @Nullable G takeChain(int most) {
    lock.acquire();
    G head = first;
    if (head != null && most > 0) {
      boolean warm = false;
      G tail = head;
      for (int n = 1; ; n++) {
        G ahead = tail.ahead;
        if (ahead != null) {
          warm ^= ahead.waitReason == 0 ^ ahead.link == null; // both lines of it
          tail.ahead = null;
        }
        if (n == most || tail.link == null) {
          size -= n;
          break;
        }
        tail = tail.link;
      }
      warmed = warm;
      first = tail.link;
      if (first == null) {
        last = null;
      }
      tail.link = null;
    } else {
      head = null;
    }
    lock.held = 0;
    return head;
  }

  /// How many a P that found nothing else takes: its share, at most half a ring, at least one.
  static int batch(int size, int maxProcs) {
    return Math.min(Math.min(RunQueue.CAPACITY / 2, size), size / maxProcs + 1);
  }

  /// How many there are; a moment's view.
  int size() {
    // Volatile read before the plain one: see the header.
    return lock.held < 0 ? 0 : size;
  }

  boolean isEmpty() {
    return size() == 0;
  }
}
