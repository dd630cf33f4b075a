package dev.gloom.runtime;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;

/// RunQueue's algorithm in a ring of two, with every access sequentially consistent and one fault:
/// shows that the checks of RunQueue would notice. Without a fault it passes them.
final class FaultyRunQueue {
  enum Fault {
    NONE,
    /// A thief moves head by a store, not by CAS: two take the same goroutine.
    PLAIN_HEAD,
    /// A thief moves head before it copies: the owner may have overwritten the slots.
    COPY_AFTER_CAS,
    /// `isEmpty` does not read tail again: it misses one that moves from run-next to the ring.
    ONE_LOOK_AT_TAIL
  }

  private final Fault fault;
  private final AtomicReferenceArray<G> ring = new AtomicReferenceArray<>(2);
  private final AtomicInteger head = new AtomicInteger();
  private final AtomicInteger tail = new AtomicInteger();
  private final AtomicReference<G> next = new AtomicReference<>();

  FaultyRunQueue(Fault fault) {
    this.fault = fault;
  }

  G swapNext(G g) {
    return next.getAndSet(g);
  }

  G takeNext() {
    G g = next.get();
    return g != null && next.compareAndSet(g, null) ? g : null;
  }

  boolean offer(G g) {
    int t = tail.get();
    if (t - head.get() == 2) {
      return false;
    }
    ring.set(t % 2, g);
    tail.set(t + 1);
    return true;
  }

  G poll() {
    for (; ; ) {
      int h = head.get();
      if (h == tail.get()) {
        return null;
      }
      G g = ring.get(h % 2);
      if (head.compareAndSet(h, h + 1)) {
        return g;
      }
    }
  }

  /// In a ring of two half is never more than one.
  G steal() {
    for (; ; ) {
      int h = head.get();
      int n = tail.get() - h;
      if (n == 0) {
        return null;
      }
      if (n > 2) {
        continue;
      }
      G stolen = ring.get(h % 2);
      if (moveHead(h, h + 1)) {
        return fault == Fault.COPY_AFTER_CAS ? ring.get(h % 2) : stolen;
      }
    }
  }

  boolean isEmpty() {
    for (; ; ) {
      int h = head.get();
      int t = tail.get();
      G n = next.get();
      if (fault == Fault.ONE_LOOK_AT_TAIL || t == tail.get()) {
        return h == t && n == null;
      }
    }
  }

  private boolean moveHead(int from, int to) {
    if (fault == Fault.PLAIN_HEAD) {
      head.set(to);
      return true;
    }
    return head.compareAndSet(from, to);
  }
}
