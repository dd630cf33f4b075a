package dev.gloom.runtime;

import dev.gloom.Gloom;
import java.lang.invoke.MethodHandles;
import java.util.concurrent.locks.LockSupport;

/// Breaks the rules of ArchitectureTest, to show that it would notice. Never run.
public final class Offender {
  private final SpinLock lock = new SpinLock();
  private int count;

  int knowsTheApi() {
    return Gloom.numGoroutine();
  }

  Object reflects() throws Exception {
    var constructor = Class.forName("java.lang.Object").getDeclaredConstructor();
    constructor.setAccessible(true);
    MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup());
    return constructor.newInstance();
  }

  synchronized void synchronizedMethod() {
    count++;
  }

  void synchronizedBlock() {
    synchronized (lock) {
      count++;
    }
  }

  void parks() {
    LockSupport.parkNanos(1);
  }

  void prints() {
    System.out.println(count);
  }

  long insideSpinLock() {
    lock.acquire();
    if (count == 0) {
      return System.nanoTime(); // a call, and the lock is kept
    }
    count++;
    lock.held = 0;
    return System.nanoTime();
  }

  long insideTryOfTheWrongSort() {
    long now = 0;
    lock.acquire();
    try {
      now = System.nanoTime();
      lock.release();
    } catch (Throwable e) {
      e.addSuppressed(e); // a call before the lock is released
      lock.held = 0;
      throw e;
    }
    return now;
  }
}
