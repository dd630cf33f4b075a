package dev.gloom.runtime;

import org.jspecify.annotations.Nullable;

/// A counter, and those who wait until it is zero.
///
/// The counter reaches zero and everybody who waits is taken out of the queue in one section of the
/// lock, so at zero nobody is left over. Hence the two misuses that Go can only report cannot
/// happen here: an add beside a wait, and a new round before the waiters of the last one are back.
///
/// Go: `sync.WaitGroup`
public final class WaitCount {
  private final SpinLock lock = new SpinLock();
  // Guarded by lock.
  private final WaitQueue waiters = new WaitQueue();
  private int count;

  /// Adds to the counter, and wakes all that wait if it is zero then, in the order in which they
  /// came.
  public void add(int delta) {
    Sched.preemptionPoint();
    boolean room = false;
    for (; ; ) {
      Waiter first = null;
      Waiter last = null;
      boolean tooDeep = false;
      boolean done = false;
      long sum = 0;
      lock.acquire();
      try {
        sum = (long) count + delta;
        if (sum == 0 && waiters.first != null && !room) {
          tooDeep = true; // perhaps: look, and come again
        } else if (sum >= 0 && sum <= Integer.MAX_VALUE) {
          if (sum == 0) {
            for (Waiter w = waiters.claimFirst(); w != null; w = waiters.claimFirst()) {
              w.ok = true;
              if (last == null) {
                first = w;
              } else {
                last.alsoWoken = w;
              }
              last = w;
            }
          }
          count = (int) sum;
        }
        done = true;
        lock.release();
      } catch (Throwable e) {
        lock.held = 0;
        if (!done) {
          throw e;
        }
      }
      if (tooDeep) {
        Headroom.check(); // those that are taken out must all be woken
        room = true;
        continue;
      }
      check(sum);
      wake(first);
      return;
    }
  }

  private static void check(long sum) {
    if (sum < 0) {
      throw new IllegalStateException("sync: negative WaitGroup counter: " + sum);
    }
    if (sum > Integer.MAX_VALUE) {
      throw new IllegalStateException("sync: WaitGroup counter out of range: " + sum);
    }
  }

  private static void wake(@Nullable Waiter first) {
    for (Waiter w = first; w != null; ) {
      Waiter next = w.alsoWoken;
      w.wake();
      w = next;
    }
  }

  /// Waits until the counter is zero; returns at once if it is.
  public void await() throws InterruptedException {
    Sched.preemptionPoint();
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (isZero()) {
      return;
    }
    var w = new Waiter(Ticket.Kind.RECV, null, false);
    boolean done = false;
    boolean zero = false;
    lock.acquire();
    try {
      zero = count == 0;
      if (!zero) {
        waiters.push(w, w);
      }
      done = true;
      lock.release();
    } catch (Throwable e) {
      lock.held = 0;
      if (!done) {
        throw e;
      }
    }
    if (!zero) {
      w.await(lock, waiters, WaitReason.WAIT_GROUP);
    }
  }

  private boolean isZero() {
    lock.acquire();
    boolean zero = count == 0;
    lock.held = 0;
    return zero;
  }

  /// The counter at this moment.
  public int count() {
    lock.acquire();
    int n = count;
    lock.held = 0;
    return n;
  }
}
