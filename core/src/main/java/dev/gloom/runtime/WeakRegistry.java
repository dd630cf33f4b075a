package dev.gloom.runtime;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// A registry that keeps no goroutine alive.
///
/// One that can run is in a queue, one that runs is on a thread, one that sleeps is in a heap, one
/// that waits for a socket is with the poller. One that waits for another goroutine is with
/// whatever it waits in, a channel for instance; and if nobody else has that channel, nobody can
/// ever wake it, and the collector takes both. It counts as ended then. Nothing of its code runs
/// any more, no `finally` either, as nothing would have if it had stayed.
///
/// For each goroutine there is an entry with a weak reference to it, 48 bytes more than {@link
/// StrongRegistry} takes. The collector says which ones it has cleared, and sysmon takes these out,
/// so a goroutine that is gone is counted a second longer at most.
///
/// **Without stack.** A goroutine that could not be queued for lack of stack is in no queue, and
/// only found here ({@link Sched#recoverStranded}). So whoever notes that also has its entry hold
/// it ({@link Entry#held}), in the order *what is left to do; held; `stranded`*. Sysmon lets go
/// first and then looks what is to be done: if it misses a note, `stranded` makes it look again,
/// and it has not let go of what came with that note.
final class WeakRegistry implements Registry {
  private final Shard[] shards = new Shard[StrongRegistry.SHARDS];
  private final ReferenceQueue<G> collected = new ReferenceQueue<>();

  WeakRegistry() {
    for (int i = 0; i < shards.length; i++) {
      shards[i] = new Shard();
    }
  }

  @Override
  public void add(G g) {
    Shard s = shards[StrongRegistry.shardFor(g)];
    var e = new Entry(g, collected, s);
    g.entry = e;
    s.lock.acquire();
    e.registered = true;
    e.next = s.first;
    if (s.first != null) {
      s.first.previous = e;
    }
    s.first = e;
    s.size++;
    s.lock.held = 0;
  }

  @Override
  public void remove(G g) {
    Entry e = g.entry;
    if (e != null) {
      remove(e);
    }
  }

  @Override
  public void sweep() {
    while (collected.poll() instanceof Entry e) {
      remove(e);
    }
  }

  private static void remove(Entry e) {
    Shard s = e.shard;
    s.lock.acquire();
    if (e.registered) {
      e.registered = false;
      if (e.previous == null) {
        s.first = e.next;
      } else {
        e.previous.next = e.next;
      }
      if (e.next != null) {
        e.next.previous = e.previous;
      }
      e.next = null;
      e.previous = null;
      s.size--;
      s.ended++;
    }
    s.lock.held = 0;
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
  public G[] snapshot() {
    G[] all = new G[0];
    int n = 0;
    for (Shard s : shards) {
      Entry[] some = s.snapshot();
      all = Arrays.copyOf(all, n + some.length);
      for (Entry e : some) {
        G g = e.get();
        if (g != null) {
          all[n++] = g;
        }
      }
    }
    return Arrays.copyOf(all, n);
  }

  /// One goroutine's place in the list.
  static final class Entry extends WeakReference<G> {
    private final Shard shard;

    /// The goroutine itself, while sysmon has something to do for it.
    volatile @Nullable G held;

    // Guarded by the shard's lock.
    private @Nullable Entry next;
    private @Nullable Entry previous;
    private boolean registered;

    private Entry(G g, ReferenceQueue<G> collected, Shard shard) {
      super(g, collected);
      this.shard = shard;
    }
  }

  private static final class Shard {
    final SpinLock lock = new SpinLock();
    @Nullable Entry first;
    int size;
    long ended;

    /// As in StrongRegistry.
    Entry[] snapshot() {
      for (int room = 16; ; room = room * 2) {
        Entry[] copy = new Entry[room];
        int n = 0;
        lock.acquire();
        if (size <= copy.length) {
          for (Entry e = first; e != null; e = e.next) {
            copy[n++] = e;
          }
          lock.held = 0;
          return Arrays.copyOf(copy, n);
        }
        room = size;
        lock.held = 0;
      }
    }
  }
}
