package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// The alarms of one P: a heap with four children a node, under a lock of its own.
///
/// Whoever holds the P adds and looks, so the lock is nearly always free; but a thief rings what is
/// due on a P that is busy or has no M, and any thread may arm an alarm. `earliest` is written
/// under the lock and read without it: the release of the lock is a full fence after it, on which
/// the protocol of the watcher leans ({@link Idle}).
///
/// A cancelled alarm stays in the heap until its time comes or more than a quarter is cancelled;
/// then whoever cancelled the last one sweeps. So to cancel costs a CAS, a counter, and a share of
/// a sweep, and the heap is hardly ever larger than a third above what it needs. (Go sweeps only on
/// the P itself; here a P that has gone idle is not left with a million dead time-outs.)
///
/// A sweep lets go of the lock after every few, or an alarm that is due would wait for a walk
/// through all of memory. It goes from the leaves to the root. What takes the place of one that it
/// drops comes from below, where it has been, or is looked at next; only what others move down
/// meanwhile escapes it, until the next sweep or its time.
///
/// Unlike elsewhere, there are calls and loops inside the lock. That is safe because every caller
/// has stack to spare: an M without a goroutine, or one that has asked Headroom.
///
/// Go: `timers`
final class TimerHeap {
  private static final int FEWEST = 16;

  /// Below this a sweep is not worth its while.
  private static final int FEW_CANCELLED = 32;

  /// How many are taken out under one lock.
  private static final int BATCH = 64;

  /// How many a sweep looks at under one lock: some 20 µs if they are not in a cache.
  private static final int STRETCH = 512;

  /// For how many polls it leaves the lock alone then, a microsecond or two: one who waits has
  /// given its core to the kernel by now and looks when it gets it back, at once if nobody else
  /// wants it.
  private static final int LET_IN = 32;

  /// What became of an alarm that was to be added.
  enum Added {
    /// There is an earlier one, or one as early.
    LATER,
    /// It is the next to ring here.
    EARLIEST,
    /// It was not added: this heap is out of use, as its P is.
    CLOSED
  }

  private final SpinLock lock = new SpinLock();

  // Guarded by lock. The times are copied from the alarms, so that sifting reads one array.
  private long[] whens = new long[FEWEST];
  private @Nullable Alarm[] alarms = new Alarm[FEWEST];
  private int size;
  private long lateNanos;
  private boolean closed;

  /// When the next one rings, or would have if it had not been cancelled; NEVER if there is none.
  private volatile long earliest = Alarm.NEVER;

  /// About how many in the heap are cancelled.
  private volatile int cancelled;

  /// When the next one is due, at the latest.
  long earliest() {
    return earliest;
  }

  /// How many are in it, cancelled ones included; a moment's view.
  int size() {
    return lock.held < 0 ? 0 : size;
  }

  /// Adds an alarm that is prepared. Allocates only when the heap has to grow, and then outside the
  /// lock: if there is no memory nothing has changed.
  Added add(Alarm alarm) {
    for (; ; ) {
      lock.acquire();
      if (closed) {
        lock.held = 0;
        return Added.CLOSED;
      }
      int n = size;
      if (n < alarms.length) {
        alarm.heap = this;
        size = n + 1;
        siftUp(n, alarm.when, alarm);
        boolean first = alarm.when < earliest;
        if (first) {
          earliest = alarm.when;
        }
        lock.held = 0;
        return first ? Added.EARLIEST : Added.LATER;
      }
      lock.held = 0;
      resize(2 * n);
    }
  }

  /// Rings everything that is due, outside the lock; answers how many rang.
  int ringDue(long now) {
    int rang = 0;
    while (earliest <= now) {
      for (Alarm a = takeDue(now); a != null; ) {
        Alarm next = a.link;
        a.link = null;
        a.ring();
        rang++;
        a = next;
      }
    }
    return rang;
  }

  /// By how much all that rang were late, together; read a little late itself.
  long lateNanos() {
    return lateNanos;
  }

  /// Some of those that are due, as a chain, earliest first; null also if they are all cancelled.
  private @Nullable Alarm takeDue(long now) {
    Alarm first = null;
    Alarm last = null;
    lock.acquire();
    for (int i = 0; i < BATCH && size > 0 && whens[0] <= now; i++) {
      Alarm a = removeFirst();
      if (a.claim()) {
        lateNanos += now - a.when;
        if (last == null) {
          first = a;
        } else {
          last.link = a;
        }
        last = a;
      } else if (cancelled > 0) {
        CANCELLED.getAndAdd(this, -1);
      }
    }
    earliest = size == 0 ? Alarm.NEVER : whens[0];
    lock.held = 0;
    return first;
  }

  /// An alarm in this heap was cancelled, by any thread.
  void cancelledOne() {
    int n = (int) CANCELLED.getAndAdd(this, 1) + 1;
    if (n > FEW_CANCELLED && n > size() / 4) {
      try {
        Headroom.check();
      } catch (StackOverflowError e) {
        return; // the next one will
      }
      sweep();
    }
  }

  /// Drops the cancelled ones; answers how many are left.
  int sweep() {
    cancelled = 0; // those that come meanwhile are for the next one
    for (int end = Integer.MAX_VALUE; end > 0; ) {
      end = sweepBelow(end);
      for (int i = 0; i < LET_IN && end > 0; i++) {
        Thread.onSpinWait();
      }
    }
    lock.acquire();
    int n = size;
    int room = alarms.length;
    lock.held = 0;
    if (room > FEWEST && n < room / 4) {
      shrink(room / 2);
    }
    return n;
  }

  /// Looks at those before `end`, from the last one on; answers how far it came.
  private int sweepBelow(int end) {
    lock.acquire();
    int i = Math.min(end, size);
    int begin = Math.max(i - STRETCH, 0);
    while (i > begin) {
      if (at(i - 1).isArmed() || !removeAt(i - 1)) {
        i--;
      }
    }
    earliest = size == 0 ? Alarm.NEVER : whens[0];
    lock.held = 0;
    return begin;
  }

  private void shrink(int to) {
    try {
      resize(to);
    } catch (OutOfMemoryError e) {
      // Then it stays as large as it is.
    }
  }

  /// Takes this heap out of use and gives out what it has, as a chain: its P goes.
  @Nullable Alarm close() {
    lock.acquire();
    closed = true;
    Alarm chain = null;
    for (int i = size - 1; i >= 0; i--) {
      Alarm a = at(i);
      if (a.isArmed()) {
        a.link = chain;
        chain = a;
      }
      alarms[i] = null;
    }
    size = 0;
    earliest = Alarm.NEVER;
    lock.held = 0;
    return chain;
  }

  private void resize(int to) {
    long[] newWhens = new long[to];
    Alarm[] newAlarms = new Alarm[to];
    lock.acquire();
    if (size <= to && (to > alarms.length || size < to / 2)) { // else somebody was quicker
      System.arraycopy(whens, 0, newWhens, 0, size);
      System.arraycopy(alarms, 0, newAlarms, 0, size);
      whens = newWhens;
      alarms = newAlarms;
    }
    lock.held = 0;
  }

  // Under the lock.

  private Alarm removeFirst() {
    Alarm first = at(0);
    removeAt(0);
    return first;
  }

  /// Closes the gap with the last one; answers whether one from above has come here for it.
  private boolean removeAt(int i) {
    int n = --size;
    Alarm last = at(n);
    long lastWhen = whens[n];
    alarms[n] = null;
    if (i == n) {
      return false;
    }
    boolean up = i > 0 && lastWhen < whens[(i - 1) >> 2];
    if (up) {
      siftUp(i, lastWhen, last);
    } else {
      siftDown(i, lastWhen, last);
    }
    return up;
  }

  private void siftUp(int from, long when, Alarm alarm) {
    int i = from;
    while (i > 0) {
      int parent = (i - 1) >> 2;
      if (whens[parent] <= when) {
        break;
      }
      whens[i] = whens[parent];
      alarms[i] = alarms[parent];
      i = parent;
    }
    whens[i] = when;
    alarms[i] = alarm;
  }

  private void siftDown(int from, long when, Alarm alarm) {
    int n = size;
    int i = from;
    for (int child = 4 * i + 1; child < n; child = 4 * i + 1) {
      int least = child;
      for (int c = child + 1; c < n && c < child + 4; c++) {
        if (whens[c] < whens[least]) {
          least = c;
        }
      }
      if (when <= whens[least]) {
        break;
      }
      whens[i] = whens[least];
      alarms[i] = alarms[least];
      i = least;
    }
    whens[i] = when;
    alarms[i] = alarm;
  }

  private Alarm at(int i) {
    Alarm a = alarms[i];
    assert a != null : "hole in the heap at " + i + " of " + size;
    return a;
  }

  private static final VarHandle CANCELLED =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "cancelled", VarHandle.class, TimerHeap.class, int.class);
}
