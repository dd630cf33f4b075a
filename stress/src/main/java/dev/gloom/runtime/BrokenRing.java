package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// A copy of {@link RunQueue}, as far as its tests need it, with wrong versions of its methods
/// beside the right ones. Not a subclass, because {@link RunQueue} is final and its fields are its
/// own.
final class BrokenRing {
  private final G[] ring;
  private final int mask;

  private volatile int head;
  private volatile int tail;
  private volatile G next;

  BrokenRing(int capacity) {
    ring = new G[capacity];
    mask = capacity - 1;
  }

  // As in RunQueue.

  G swapNext(G g) {
    return (G) NEXT.getAndSet(this, g);
  }

  G takeNext() {
    G g = next;
    return g != null && NEXT.compareAndSet(this, g, null) ? g : null;
  }

  G peekNext() {
    return next;
  }

  boolean stealNext(G g) {
    return NEXT.compareAndSet(this, g, null);
  }

  boolean offer(G g) {
    int t = tailPlain();
    if (t - head == ring.length) {
      return false;
    }
    ring[t & mask] = g;
    TAIL.setRelease(this, t + 1);
    return true;
  }

  G poll() {
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

  G stealInto(BrokenRing into) {
    for (; ; ) {
      int h = head;
      int n = stealable(h);
      if (n == 0) {
        return null;
      }
      if (n < 0 || n > ring.length / 2) {
        continue;
      }
      int t = into.tailPlain();
      copy(h, into, t, n);
      if (casHead(h, h + n)) {
        return into.append(t, n);
      }
    }
  }

  // Broken.

  /// Should move `head` by CAS.
  G pollByPlainStore() {
    int h = head;
    if (h == tailPlain()) {
      return null;
    }
    G g = ring[h & mask];
    HEAD.set(this, h + 1);
    return g;
  }

  /// Should move `head` by CAS.
  G takeOlderHalfByPlainStore() {
    int h = head;
    int n = (tailPlain() - h) / 2;
    if (n != ring.length / 2) {
      return null;
    }
    HEAD.set(this, h + n);
    return chain(h, n);
  }

  /// Should move `head` by CAS.
  G takeChainByPlainStore() {
    int h = head;
    int n = tailPlain() - h;
    if (n == 0) {
      return null;
    }
    HEAD.set(this, h + n);
    return chain(h, n);
  }

  /// Should move `head` by CAS.
  G stealByPlainStore(BrokenRing into) {
    for (; ; ) {
      int h = head;
      int n = stealable(h);
      if (n == 0) {
        return null;
      }
      if (n < 0 || n > ring.length / 2) {
        continue;
      }
      int t = into.tailPlain();
      copy(h, into, t, n);
      HEAD.set(this, h + n);
      return into.append(t, n);
    }
  }

  /// Should copy before the CAS: after it the slots are free for the owner.
  G copyAfterCas(BrokenRing into) {
    for (; ; ) {
      int h = head;
      int n = stealable(h);
      if (n == 0) {
        return null;
      }
      if (n < 0 || n > ring.length / 2) {
        continue;
      }
      if (casHead(h, h + n)) {
        int t = into.tailPlain();
        copy(h, into, t, n);
        return into.append(t, n);
      }
    }
  }

  /// Should take by CAS.
  G takeNextByPlainStore() {
    G g = next;
    if (g != null) {
      NEXT.set(this, null);
    }
    return g;
  }

  /// Should read `tail` again after `next`.
  boolean isEmptyWithoutSecondTail() {
    int h = head;
    int t = tail;
    G n = next;
    return h == t && n == null;
  }

  // Helpers.

  private int stealable(int h) {
    int n = (int) TAIL.getAcquire(this) - h;
    return n - n / 2;
  }

  private void copy(int h, BrokenRing into, int t, int n) {
    for (int i = 0; i < n; i++) {
      into.ring[(t + i) & into.mask] = ring[(h + i) & mask];
    }
  }

  private G append(int t, int n) {
    if (n > 1) {
      TAIL.setRelease(this, t + n - 1);
    }
    return ring[(t + n - 1) & mask];
  }

  private G chain(int from, int n) {
    G first = ring[from & mask];
    G last = first;
    for (int i = 1; i < n; i++) {
      G g = ring[(from + i) & mask];
      last.link = g;
      last = g;
    }
    last.link = null;
    return first;
  }

  private int tailPlain() {
    return (int) TAIL.get(this);
  }

  private boolean casHead(int from, int to) {
    return HEAD.compareAndSet(this, from, to);
  }

  private static final VarHandle HEAD = handle("head", int.class);
  private static final VarHandle TAIL = handle("tail", int.class);
  private static final VarHandle NEXT = handle("next", G.class);

  private static VarHandle handle(String name, Class<?> type) {
    return ConstantBootstraps.fieldVarHandle(
        MethodHandles.lookup(), name, VarHandle.class, BrokenRing.class, type);
  }
}
