package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// A processor: the right to run goroutines, with a run queue of its own. There are `maxProcs` of
/// them; an M runs goroutines only while it holds one, and then it alone writes here.
///
/// Go: `p`
final class P {
  /// Sysmon asks: this P has run one slice without a tick, so its run-next chain goes to the back.
  static final int PREEMPT = 1;

  /// maxProcs has shrunk: whoever holds this P gives everything away and lets go of it.
  static final int RETIRE = 2;

  /// Ids are handed out in blocks, so that a spawn touches no shared counter.
  private static final int ID_BLOCK = 16;

  final int id;
  final Sched sched;
  final RunQueue queue;
  final Rand rand;

  /// What others ask of the holder; looked at before every dispatch.
  volatile int request;

  /// Slices begun: a dispatch that inherits its slice through run-next does not count. Owner writes,
  /// sysmon reads.
  int tick;

  /// Whether the G that FindWork returned last inherits the slice. Owner only.
  boolean inherit;

  // Counters: owner writes, stats reads them, a little late.
  long dispatches;
  long sameM;
  long steals;
  long stolen;
  long overflows;

  private long nextId;
  private long lastId;

  // Sysmon only: the tick that it saw last, and when it saw it first.
  int seenTick = -1;
  long seenSinceNanos;

  // Guarded by Idle's lock.
  @Nullable P link;
  boolean retired;

  /// Next in the Starter's stack.
  @Nullable P startLink;

  P(Sched sched, int id, RunQueue queue) {
    this.sched = sched;
    this.id = id;
    this.queue = queue;
    this.rand = new Rand(sched.seed + id);
  }

  /// Makes `g` the next to run; whom it pushes out goes to the tail.
  void putNext(G g) {
    G kicked = queue.swapNext(g);
    if (kicked != null) {
      try {
        put(kicked);
      } catch (StackOverflowError e) {
        // As in G.execute: no call, there is no stack for one.
        kicked.strandedAs = G.STRANDED_CLAIMED;
        sched.stranded = true;
      }
    }
  }

  /// Appends `g` to the ring, or, with half the ring, to the global queue.
  void put(G g) {
    while (!queue.offer(g)) {
      if (spill(g)) {
        return;
      }
    }
  }

  /// Moves the older half of a full ring and `g` behind it to the global queue: whoever makes more
  /// work than it does gives the others a large piece at once, not one by one. Go: `runqputslow`
  private boolean spill(G g) {
    Headroom.check(); // from here to the end the goroutines are in no queue
    G first = queue.takeOlderHalf();
    if (first == null) {
      return false;
    }
    int n = 1;
    G last = first;
    while (last.link != null) {
      last = last.link;
      n++;
    }
    last.link = g;
    g.link = null;
    overflows++;
    sched.global.putChain(first, g, n + 1);
    return true;
  }

  /// Gives run-next and ring, in this order, to the front of the global queue. Go: `runqdrain`
  void drain() {
    G first = null;
    G last = null;
    int n = 0;
    for (G g = queue.takeNext(); ; g = null) {
      if (g == null) {
        g = queue.poll();
        if (g == null) {
          break;
        }
      }
      if (last == null) {
        first = g;
      } else {
        last.link = g;
      }
      g.link = null;
      last = g;
      n++;
    }
    if (first != null && last != null) {
      sched.global.putChainFirst(first, last, n);
    }
  }

  /// An id that no other goroutine has. Owner only.
  long nextId() {
    if (nextId == lastId) {
      nextId = sched.takeIds(ID_BLOCK);
      lastId = nextId + ID_BLOCK;
    }
    return nextId++;
  }

  void ask(int what) {
    REQUEST.getAndBitwiseOr(this, what);
  }

  void served(int what) {
    REQUEST.getAndBitwiseAnd(this, ~what);
  }

  @Override
  public String toString() {
    return "P%d[tick=%d dispatches=%d ring=%d next=%s request=%d]"
        .formatted(id, tick, dispatches, queue.size(), queue.peekNext(), request);
  }

  private static final VarHandle REQUEST =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "request", VarHandle.class, P.class, int.class);
}
