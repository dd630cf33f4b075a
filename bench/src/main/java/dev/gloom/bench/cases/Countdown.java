package dev.gloom.bench.cases;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/// Counts threads down to zero and then wakes the one that made it. Go's twin is a
/// `sync.WaitGroup`.
///
/// Not a CountDownLatch: its queue of waiters would be measured along, and only one thread ever
/// waits here.
public final class Countdown {
  private final Thread waiter = Thread.currentThread();
  private final AtomicInteger left;

  public Countdown(int count) {
    left = new AtomicInteger(count);
  }

  public void down() {
    if (left.decrementAndGet() == 0) {
      LockSupport.unpark(waiter);
    }
  }

  public boolean isZero() {
    return left.get() == 0;
  }

  void await() {
    while (!isZero()) {
      LockSupport.park(this);
    }
  }
}
