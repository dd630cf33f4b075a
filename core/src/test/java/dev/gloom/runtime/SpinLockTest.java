package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SpinLockTest {
  private final SpinLock lock = new SpinLock();
  private int count; // guarded by lock
  private int inside; // guarded by lock

  @Test
  void letsOneInAtATimeFromPlatformThreads() throws Exception {
    letsOneInAtATime(List.of(Thread.ofPlatform().factory()));
  }

  @Test
  void letsOneInAtATimeFromVirtualThreads() throws Exception {
    letsOneInAtATime(List.of(Thread.ofVirtual().factory()));
  }

  @Test
  void letsOneInAtATimeFromBothKinds() throws Exception {
    letsOneInAtATime(List.of(Thread.ofPlatform().factory(), Thread.ofVirtual().factory()));
  }

  private void letsOneInAtATime(List<ThreadFactory> kinds) throws Exception {
    int threads = 4;
    int each = Seed.times(20_000);
    var together = new CountDownLatch(threads);
    var violations = new AtomicInteger();
    var all = new ArrayList<Future<?>>();
    for (int i = 0; i < threads; i++) {
      var executor = Executors.newThreadPerTaskExecutor(kinds.get(i % kinds.size()));
      all.add(
          executor.submit(
              () -> {
                together.countDown();
                together.await();
                for (int n = 0; n < each; n++) {
                  if (enterAndLeave() != 1) {
                    violations.incrementAndGet();
                  }
                }
                return null;
              }));
      executor.shutdown();
    }
    for (Future<?> f : all) {
      f.get();
    }
    assertEquals(0, violations.get(), "times that somebody else was inside");
    assertEquals(threads * each, count);
  }

  private int enterAndLeave() {
    lock.acquire();
    inside++;
    count++;
    int seen = inside;
    inside--;
    lock.held = 0;
    return seen;
  }

  @Test
  void waiterGoesOnOnceTheHolderHasLeft() throws Exception {
    lock.acquire();
    var waiting = new CountDownLatch(1);
    var waiter =
        Thread.ofPlatform()
            .start(
                () -> {
                  waiting.countDown();
                  lock.acquire();
                  count++;
                  lock.held = 0;
                });
    waiting.await();
    assertEquals(0, count);
    lock.held = 0;
    waiter.join();
    assertEquals(1, count);
  }

  // The lock is taken in the middle of unpark: a permit of the caller's own must survive it.
  @Test
  void waitingEatsNoParkPermit() throws Exception {
    lock.acquire();
    var waiting = new CountDownLatch(1);
    var waiter =
        Thread.ofVirtual()
            .start(
                () -> {
                  LockSupport.unpark(Thread.currentThread());
                  waiting.countDown();
                  lock.acquire();
                  lock.held = 0;
                  LockSupport.park(); // returns at once, or the test times out
                });
    waiting.await();
    lock.held = 0;
    waiter.join();
    assertFalse(waiter.isAlive());
    assertTrue(lock.held == 0);
  }
}
