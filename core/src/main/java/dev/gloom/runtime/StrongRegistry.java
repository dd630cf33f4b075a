package dev.gloom.runtime;

import org.jspecify.annotations.Nullable;

/// The registry that is used by default: a goroutine stays until it ends.
///
/// A handful of doubly linked lists through the Gs themselves, each under a lock of its own; a G
/// stays in the list of the P that started it. No node, no hash, no resize: 8 bytes a goroutine and
/// nothing left behind by the ones that came and went. (Go's only grows.)
final class StrongRegistry implements Registry {
  /// More lists than Ps that are likely to fight over one; a power of two.
  static final int SHARDS = 16;

  private final Shard[] shards = new Shard[SHARDS];

  StrongRegistry() {
    for (int i = 0; i < SHARDS; i++) {
      shards[i] = new Shard();
    }
  }

  /// The list for one that starts now.
  static int shardFor(G g) {
    M m = M.current();
    P p = m == null ? null : m.p;
    return (p == null ? (int) g.id : p.id) & (SHARDS - 1);
  }

  @Override
  public void add(G g) {
    int index = shardFor(g);
    Shard s = shards[index];
    s.lock.acquire();
    g.shard = (byte) index;
    g.registryNext = s.first;
    if (s.first != null) {
      s.first.registryPrevious = g;
    }
    s.first = g;
    s.size++;
    try {
      s.lock.release();
    } catch (Throwable e) { // no stack for the call: it has not happened
      s.lock.held = 0;
    }
  }

  @Override
  public void remove(G g) {
    int index = g.shard;
    if (index < 0) {
      return;
    }
    Shard s = shards[index];
    s.lock.acquire();
    if (g.shard == index) {
      g.shard = -1;
      if (g.registryPrevious == null) {
        s.first = g.registryNext;
      } else {
        g.registryPrevious.registryNext = g.registryNext;
      }
      if (g.registryNext != null) {
        g.registryNext.registryPrevious = g.registryPrevious;
      }
      g.registryNext = null;
      g.registryPrevious = null;
      s.size--;
      s.ended++;
    }
    try {
      s.lock.release();
    } catch (Throwable e) { // no stack for the call: it has not happened
      s.lock.held = 0;
    }
  }

  @Override
  public int size() {
    int n = 0;
    for (Shard s : shards) {
      s.lock.acquire();
      n += s.size;
      s.lock.held = 0;
    }
    return n;
  }

  @Override
  public long started() {
    long n = 0;
    for (Shard s : shards) {
      s.lock.acquire();
      n += s.size + s.ended;
      s.lock.held = 0;
    }
    return n;
  }

  @Override
  public void sweep() {} // none is taken

  @Override
  public G[] snapshot() {
    G[] all = new G[0];
    for (Shard s : shards) {
      G[] some = s.snapshot();
      G[] more = java.util.Arrays.copyOf(all, all.length + some.length);
      System.arraycopy(some, 0, more, all.length, some.length);
      all = more;
    }
    return all;
  }

  private static final class Shard {
    final SpinLock lock = new SpinLock();
    @Nullable G first;
    int size;
    long ended;

    /// Copies into an array that is allocated outside the lock, larger each time it does not fit.
    G[] snapshot() {
      for (int room = 16; ; room = room * 2) {
        G[] copy = new G[room];
        int n = 0;
        lock.acquire();
        if (size <= copy.length) {
          for (G g = first; g != null; g = g.registryNext) {
            copy[n++] = g;
          }
          lock.held = 0;
          return java.util.Arrays.copyOf(copy, n);
        }
        room = size;
        lock.held = 0;
      }
    }
  }
}
