package dev.gloom.api;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/// What happened to a large service: as many threads as there are carriers wait for a lock while
/// they are pinned, and the lock is free, but it is the turn of one that waits without a carrier.
/// It never gets one.
final class PinnedIncident {
  private PinnedIncident() {}

  static void run(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      if (!comesToAnEnd(lab.scheduler().threadFactory(), 30)) {
        throw new AssertionError("hangs: " + lab.scheduler().dump());
      }
    }
  }

  /// On the JDK's scheduler.
  public static void main(String[] args) throws Exception {
    System.out.println(comesToAnEnd(Thread.ofVirtual().factory(), 3) ? "ends" : "hangs");
    System.exit(0);
  }

  private static boolean comesToAnEnd(ThreadFactory threads, int seconds) throws Exception {
    var lock = new ReentrantLock(true);
    var release = new CountDownLatch(1);
    List<Thread> all = new ArrayList<>();
    Thread owner =
        threads.newThread(
            () -> {
              lock.lock();
              try {
                release.await();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              } finally {
                lock.unlock();
              }
            });
    all.add(owner);
    owner.start();
    while (!lock.isLocked()) {
      Thread.sleep(1);
    }
    Thread next = threads.newThread(() -> lockAndUnlock(lock)); // first in line, and not pinned
    all.add(next);
    next.start();
    while (lock.getQueueLength() < 1) {
      Thread.sleep(1);
    }
    for (int i = 0; i < 4; i++) {
      Thread pinned = threads.newThread(() -> Native.pinned(() -> lockAndUnlock(lock)));
      all.add(pinned);
      pinned.start();
    }
    long patience = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
    while (lock.getQueueLength() < 5 && System.nanoTime() < patience) {
      Thread.sleep(1); // on the JDK's scheduler only as many come here as there are carriers
    }
    release.countDown();
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    for (Thread t : all) {
      if (!t.join(java.time.Duration.ofNanos(Math.max(1, until - System.nanoTime())))) {
        return false;
      }
    }
    return true;
  }

  private static void lockAndUnlock(ReentrantLock lock) {
    lock.lock();
    lock.unlock();
  }
}
