package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// A processor's local run queue: a ring of 256 goroutines and the run-next slot before it.
///
/// One owner (the M that holds the P) puts and takes; any number of thieves take.
///
/// - **Ring.** `head` and `tail` count for ever, modulo 2^32. The owner alone writes slots and
///   `tail`: first the slot, then `tail` by release, which pairs with the acquire of `tail` in
///   {@link #stealInto}. Everybody who removes first copies what it wants and then moves `head` by
///   CAS: if the CAS wins, no other has taken those slots, and the owner cannot have overwritten
///   them meanwhile, because it writes a slot only when `tail - head < capacity`.
/// - **Run-next.** Only the owner fills it, everybody may empty it by CAS. It is filled by a CAS, a
///   full fence: the wake-up protocol in Idle leans on that. Only an owner that tells nobody does
///   without ({@link #offerNext}).
///
/// Go: `runqput`, `runqget`, `runqgrab`, `runqsteal`, `runqempty`
final class RunQueue {
  /// Fits the index into the ring by a mask; Go's figure.
  static final int CAPACITY = 256;

  /// How far `G.ahead` reaches: so many reads from memory can be under way at once.
  private static final int AHEAD = 8;

  private final @Nullable G[] ring;
  private final int mask;

  private volatile int head;
  private volatile int tail;
  private volatile @Nullable G next;

  /// Owner only: slots before this position hold nothing that was taken.
  private int forgotten;

  RunQueue() {
    this(CAPACITY);
  }

  /// A smaller ring makes a smaller model: tests use 2 and 4. Must be a power of two.
  RunQueue(int capacity) {
    this(capacity, 0);
  }

  /// The counters may begin anywhere: tests begin just before they wrap around.
  RunQueue(int capacity, int position) {
    assert Integer.bitCount(capacity) == 1 : capacity;
    ring = new G[capacity];
    mask = capacity - 1;
    head = position;
    tail = position;
    forgotten = position;
  }

  // The owner's side.

  /// Puts `g` into the run-next slot and answers whom it pushed out, who belongs at the tail. Not
  /// by `getAndSet`: where that is interpreted, a call follows the swap, the cast of what it
  /// answers, and if there is no stack left for that one, `g` is in the queue and nobody knows.
  @Nullable G swapNext(G g) {
    for (; ; ) {
      G pushedOut = next;
      if (NEXT.compareAndSet(this, pushedOut, g)) {
        return pushedOut;
      }
    }
  }

  /// Puts `g` into the run-next slot if that is free, without a fence: for an owner that tells
  /// nobody about it. Thieves only ever empty the slot, so a free one stays free until its owner
  /// fills it.
  boolean offerNext(G g) {
    if (next != null) {
      return false;
    }
    NEXT.setRelease(this, g); // pairs with the volatile read in stealNext and peekNext
    return true;
  }

  /// Takes the run-next goroutine. A null after a lost CAS is right too: a thief has it.
  @Nullable G takeNext() {
    G g = next;
    return g != null && NEXT.compareAndSet(this, g, null) ? g : null;
  }

  /// Appends `g`; false if the ring is full.
  boolean offer(G g) {
    int t = tailPlain();
    if (t - head == ring.length) {
      return false;
    }
    ring[t & mask] = g;
    setTailRelease(t + 1); // pairs with tailAcquire in stealInto
    return true;
  }

  /// Takes the oldest of the ring.
  @Nullable G poll() {
    for (; ; ) {
      int h = head;
      if (h == tailPlain()) {
        return null;
      }
      G g = ring[h & mask];
      if (casHead(h, h + 1)) {
        return g;
      }
    }
  }

  /// Takes the older half of a full ring as a chain through `G.link`, oldest first, and answers its
  /// first element; null if a thief was quicker and there is room again.
  @Nullable G takeOlderHalf() {
    int h = head;
    int n = (tailPlain() - h) / 2;
    if (n != ring.length / 2) {
      return null;
    }
    // A thief may take some of them before this CAS, so nothing is linked before it.
    return casHead(h, h + n) ? chain(h, n) : null;
  }

  /// Appends goroutines of a chain while there is room, and answers the rest of the chain.
  @Nullable G offerChain(@Nullable G chain) {
    int t = tailPlain();
    int h = head;
    G g = chain;
    while (g != null && t - h < ring.length) {
      ring[t++ & mask] = g;
      G after = g.link;
      g.link = null;
      g = after;
    }
    setTailRelease(t); // pairs with tailAcquire in stealInto
    return g;
  }

  /// Takes up to `most` of the oldest as a chain through `G.link`; null if the ring is empty.
  @Nullable G takeChain(int most) {
    for (; ; ) {
      int h = head;
      int n = Math.min(tailPlain() - h, most);
      if (n == 0) {
        return null;
      }
      if (casHead(h, h + n)) {
        return chain(h, n);
      }
    }
  }

  /// Links `n` slots that this owner has just taken; it alone writes slots, so they are still
  /// there.
  private G chain(int from, int n) {
    G first = slot(from);
    G last = first;
    for (int i = 1; i < n; i++) {
      G g = slot(from + i);
      last.link = g;
      if (i + AHEAD <= n) {
        last.ahead = slot(from + i + AHEAD - 1);
      }
      last = g;
    }
    last.link = null;
    return first;
  }

  /// Lets go of goroutines that were taken: a stale slot would keep an ended one and all it refers
  /// to from the collector. Called when the owner goes idle, and, where it matters, now and then
  /// while it does not.
  void forgetTaken() {
    int h = head;
    int oldest = tailPlain() - ring.length; // what was before has been overwritten
    forget(forgotten - oldest > 0 ? forgotten : oldest, h);
    forgotten = h;
  }

  private void forget(int from, int to) {
    for (int i = from; i - to < 0; i++) {
      ring[i & mask] = null;
    }
  }

  // Everybody's side.

  /// Moves the older half, rounded up, into the thief's own queue and answers the last of it, to be
  /// run at once; null if there was nothing. The thief owns `into`, which has room for it: a
  /// thief's own queue is empty.
  @Nullable G stealInto(RunQueue into) {
    int t = into.tailPlain();
    int copied = t;
    for (; ; ) {
      int h = head;
      int n = tailAcquire() - h;
      n -= n / 2;
      if (n == 0) {
        into.forget(t, copied);
        return null;
      }
      if (n < 0 || n > ring.length / 2) {
        continue; // head moved between the two reads
      }
      n = Math.min(n, into.ring.length / 2);
      assert into.ring.length - (t - into.head) >= n : "thief with a full queue";
      for (int i = 0; i < n; i++) {
        into.ring[(t + i) & into.mask] = ring[(h + i) & mask];
      }
      copied = Math.max(copied - t, n) + t;
      if (casHead(h, h + n)) {
        G last = into.slot(t + n - 1);
        if (n > 1) {
          into.setTailRelease(t + n - 1); // pairs with tailAcquire in stealInto
        }
        into.forget(t + n - 1, copied);
        return last;
      }
    }
  }

  /// Takes the run-next goroutine as a thief, if it still is `g`.
  boolean stealNext(G g) {
    return NEXT.compareAndSet(this, g, null);
  }

  /// The run-next goroutine at this moment.
  @Nullable G peekNext() {
    return next;
  }

  /// Never says empty while there is something: a goroutine that moves from run-next to the ring is
  /// seen in one of the two, because `tail` is read again after `next`.
  boolean isEmpty() {
    for (; ; ) {
      int h = head;
      int t = tail;
      G n = next;
      if (t == tail) {
        return h == t && n == null;
      }
    }
  }

  /// Whether the ring holds something, run-next not counted; quick, for the owner.
  boolean hasSome() {
    return head != tailPlain();
  }

  /// How many are in the ring, run-next not counted; a moment's view.
  int size() {
    int h = head;
    return Math.max(0, Math.min(tail - h, ring.length));
  }

  /// How many can be put before it overflows. Owner only: for others it may be more or less.
  int room() {
    return ring.length - size();
  }

  private G slot(int position) {
    G g = ring[position & mask];
    assert g != null : "hole in the run queue at " + position;
    return g;
  }

  private int tailPlain() {
    return (int) TAIL.get(this);
  }

  private int tailAcquire() {
    return (int) TAIL.getAcquire(this);
  }

  private void setTailRelease(int t) {
    TAIL.setRelease(this, t);
  }

  private boolean casHead(int from, int to) {
    return HEAD.compareAndSet(this, from, to);
  }

  private static final VarHandle HEAD = handle("head", int.class);
  private static final VarHandle TAIL = handle("tail", int.class);
  private static final VarHandle NEXT = handle("next", G.class);

  private static VarHandle handle(String name, Class<?> type) {
    return ConstantBootstraps.fieldVarHandle(
        MethodHandles.lookup(), name, VarHandle.class, RunQueue.class, type);
  }
}
