package dev.gloom.runtime;

import org.jspecify.annotations.Nullable;

/// All goroutines that have started and not ended: what is counted, dumped, and searched for those
/// that ran out of stack.
///
/// A handful of doubly linked lists through the Gs themselves, each under a lock of its own; a G
/// stays in the list of the P that started it. No node, no hash, no resize: 8 bytes a goroutine and
/// nothing left behind by the ones that came and went. Go: `allgs`, which only grows
final class Registry {
  /// More lists than Ps that are likely to fight over one; a power of two.
  private static final int SHARDS = 16;

  private final Shard[] shards = new Shard[SHARDS];

  Registry() {
    for (int i = 0; i < SHARDS; i++) {
      shards[i] = new Shard();
    }
  }

  void add(G g) {
    M m = M.current();
    P p = m == null ? null : m.p;
    int index = (p == null ? (int) g.id : p.id) & (SHARDS - 1);
    Shard s = shards[index];
    s.lock.acquire();
    g.shard = (byte) index;
    g.registered = true;
    g.registryNext = s.first;
    if (s.first != null) {
      s.first.registryPrevious = g;
    }
    s.first = g;
    s.size++;
    s.lock.held = 0;
  }

  /// Takes an ended goroutine out. Its M does, and whoever joined it may be quicker: only the first
  /// counts.
  void remove(G g) {
    Shard s = shards[g.shard];
    s.lock.acquire();
    if (g.registered) {
      g.registered = false;
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
    s.lock.held = 0;
  }

  /// How many there are. Exact when nothing starts or ends meanwhile.
  int size() {
    int n = 0;
    for (Shard s : shards) {
      s.lock.acquire();
      n += s.size;
      s.lock.held = 0;
    }
    return n;
  }

  /// How many have ended since the beginning.
  long ended() {
    long n = 0;
    for (Shard s : shards) {
      s.lock.acquire();
      n += s.ended;
      s.lock.held = 0;
    }
    return n;
  }

  /// All of them, list by list, each list at one moment.
  G[] snapshot() {
    G[] all = new G[0];
    for (Shard s : shards) {
      G[] some = s.snapshot();
      G[] more = java.util.Arrays.copyOf(all, all.length + some.length);
      System.arraycopy(some, 0, more, all.length, some.length);
      all = more;
    }
    return all;
  }

  /// The one that `m` runs at this moment, if any; a moment's view.
  @Nullable G runningOn(M m) {
    for (Shard s : shards) {
      for (G g : s.snapshot()) {
        if (g.runsOn() == m) {
          return g;
        }
      }
    }
    return null;
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
