package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A goroutine is a virtual thread, and all of Java works inside one.
@Timeout(60)
class JavaInsideTest {
  // Interrupts.

  @Test
  void interruptWakesASleeper() throws Exception {
    try (var lab = Lab.procs(1)) {
      var interrupted = new AtomicBoolean();
      Goroutine g =
          lab.go(
              () -> {
                try {
                  Gloom.sleep(Duration.ofDays(1));
                } catch (InterruptedException e) {
                  interrupted.set(!Thread.currentThread().isInterrupted());
                }
              });
      Lab.awaitWaiting(g);
      g.thread().interrupt();
      g.join();
      assertTrue(interrupted.get());
    }
  }

  @Test
  void interruptWakesAParkedOneAndStaysSet() throws Exception {
    try (var lab = Lab.procs(1)) {
      var set = new AtomicBoolean();
      Goroutine g =
          lab.go(
              () -> {
                LockSupport.park();
                set.set(Thread.currentThread().isInterrupted());
              });
      Lab.awaitWaiting(g);
      g.thread().interrupt();
      g.join();
      assertTrue(set.get());
    }
  }

  @Test
  void interruptWakesOneInObjectWait() throws Exception {
    try (var lab = Lab.procs(1)) {
      var lock = new Object();
      var interrupted = new AtomicBoolean();
      Goroutine g =
          lab.go(
              () -> {
                synchronized (lock) {
                  assertThrows(InterruptedException.class, lock::wait);
                  interrupted.set(true);
                }
              });
      Lab.awaitWaiting(g);
      g.thread().interrupt();
      g.join();
      assertTrue(interrupted.get());
    }
  }

  @Test
  void interruptStaysWithTheGoroutineAndDoesNotReachTheNextOnItsThread() throws Exception {
    try (var lab = Lab.procs(1)) {
      var others = new AtomicInteger();
      lab.run(
          () -> {
            Thread.currentThread().interrupt();
            for (int i = 0; i < 50; i++) {
              lab.go(
                  () -> {
                    if (Thread.currentThread().isInterrupted()) {
                      others.incrementAndGet();
                    }
                  });
              Gloom.gosched();
              assertTrue(Thread.currentThread().isInterrupted());
            }
            assertTrue(Thread.interrupted());
          });
      Lab.quiet(lab.scheduler());
      assertEquals(0, others.get());
    }
  }

  // Thread locals and what is inherited.

  @Test
  void threadLocalsBelongToTheGoroutineNotToItsCarrier() throws Exception {
    try (var lab = Lab.procs(1)) {
      var local = new ThreadLocal<Integer>();
      var wrong = new AtomicInteger();
      lab.run(
          () -> {
            var all = new Goroutine[50];
            for (int i = 0; i < all.length; i++) {
              int mine = i;
              all[i] =
                  lab.go(
                      () -> {
                        if (local.get() != null) {
                          wrong.incrementAndGet();
                        }
                        local.set(mine);
                        for (int k = 0; k < 20; k++) {
                          Gloom.gosched();
                          if (local.get() != mine) {
                            wrong.incrementAndGet();
                          }
                        }
                      });
            }
            for (Goroutine g : all) {
              g.join();
            }
            assertNull(local.get());
          });
      assertEquals(0, wrong.get());
    }
  }

  @Test
  void inheritableThreadLocalsAndContextLoaderComeFromTheStarter() throws Exception {
    try (var lab = Lab.procs(1)) {
      var local = new InheritableThreadLocal<String>();
      var loader = new ClassLoader(JavaInsideTest.class.getClassLoader()) {};
      lab.run(
          () -> {
            local.set("from the parent");
            Thread.currentThread().setContextClassLoader(loader);
            lab.run(
                () -> {
                  assertEquals("from the parent", local.get());
                  assertSame(loader, Thread.currentThread().getContextClassLoader());
                });
          });
    }
  }

  @Test
  void threadsOfGloomKeepNothingOfTheGoroutineThatCausedThem() throws Exception {
    try (var lab = Lab.procs(8)) {
      var loader = new ClassLoader(JavaInsideTest.class.getClassLoader()) {};
      String prefix = lab.threadPrefix();
      lab.run(
          () -> {
            Thread.currentThread().setContextClassLoader(loader);
            for (int i = 0; i < 50; i++) {
              lab.go(() -> Lab.spin(1_000_000)); // makes the other seven
            }
          });
      Lab.quiet(lab.scheduler());
      assertTrue(Lab.threads(prefix).size() > 2);
      for (Thread t : Lab.threads(prefix)) {
        assertSame(ClassLoader.getSystemClassLoader(), t.getContextClassLoader(), t.getName());
        assertTrue(t.isDaemon(), t.getName());
      }
    }
  }

  @Test
  void scopedValuesWork() throws Exception {
    ScopedValue<String> value = ScopedValue.newInstance();
    try (var lab = Lab.procs(1)) {
      lab.run(
          () ->
              ScopedValue.where(value, "bound")
                  .run(
                      () -> {
                        Gloom.gosched();
                        assertEquals("bound", value.get());
                      }));
    }
  }

  // Locks.

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void synchronizedExcludesAlsoAcrossYields(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var lock = new Object();
      var counter = new int[1];
      inParallel(
          lab,
          20,
          _ -> {
            for (int k = 0; k < 100; k++) {
              synchronized (lock) {
                int before = counter[0];
                if (k % 10 == 0) {
                  Gloom.gosched(); // holding the monitor
                }
                counter[0] = before + 1;
              }
            }
          });
      assertEquals(2_000, counter[0]);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void waitAndNotifyHandATurnRound(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      int n = 10;
      var lock = new Object();
      var turn = new int[1];
      inParallel(
          lab,
          n,
          me -> {
            for (int round = 0; round < 20; round++) {
              synchronized (lock) {
                while (turn[0] % n != me) {
                  lock.wait();
                }
                turn[0]++;
                lock.notifyAll();
              }
            }
          });
      assertEquals(20 * n, turn[0]);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void reentrantLockAndConditionHandATurnRound(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      int n = 10;
      var lock = new ReentrantLock();
      Condition next = lock.newCondition();
      var turn = new int[1];
      inParallel(
          lab,
          n,
          me -> {
            for (int round = 0; round < 20; round++) {
              lock.lock();
              try {
                while (turn[0] % n != me) {
                  next.await();
                }
                turn[0]++;
                next.signalAll();
              } finally {
                lock.unlock();
              }
            }
          });
      assertEquals(20 * n, turn[0]);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void queuesPassEverythingOnce(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var queue = new ArrayBlockingQueue<Integer>(7);
      var sum = new java.util.concurrent.atomic.AtomicLong();
      inParallel(
          lab,
          8,
          me -> {
            for (int k = 0; k < 500; k++) {
              if (me % 2 == 0) {
                queue.put(k);
              } else {
                sum.addAndGet(queue.take());
              }
            }
          });
      assertEquals(4L * 500 * 499 / 2, sum.get());
      assertTrue(queue.isEmpty());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void latchesBarriersSemaphoresAndFuturesWork(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var latch = new CountDownLatch(4);
      var barrier = new CyclicBarrier(4);
      var semaphore = new Semaphore(2);
      var inside = new AtomicInteger();
      var most = new AtomicInteger();
      var future = new CompletableFuture<String>();
      inParallel(
          lab,
          4,
          me -> {
            latch.countDown();
            latch.await();
            for (int k = 0; k < 50; k++) {
              barrier.await();
              semaphore.acquire();
              most.accumulateAndGet(inside.incrementAndGet(), Math::max);
              Gloom.gosched();
              inside.decrementAndGet();
              semaphore.release();
            }
            if (me == 0) {
              future.complete("done");
            }
            assertEquals("done", future.get(30, TimeUnit.SECONDS));
          });
      assertEquals(2, most.get());
    }
  }

  @Test
  void timedWaitsTimeOut() throws Exception {
    try (var lab = Lab.procs(1)) {
      lab.run(
          () -> {
            assertFalse(new Semaphore(0).tryAcquire(5, TimeUnit.MILLISECONDS));
            assertFalse(new CountDownLatch(1).await(5, TimeUnit.MILLISECONDS));
            var lock = new Object();
            long start = System.nanoTime();
            synchronized (lock) {
              lock.wait(5);
            }
            assertTrue(System.nanoTime() - start >= 4_000_000);
          });
    }
  }

  @Test
  void parkPermitsSurviveEverythingThatTheSchedulerDoes() throws Exception {
    try (var lab = Lab.procs(2)) {
      lab.run(
          () -> {
            for (int i = 0; i < 200; i++) {
              LockSupport.unpark(Thread.currentThread());
              Gloom.gosched();
              lab.go(() -> {}); // starts or wakes a thread, under this goroutine
              Gloom.gosched();
              LockSupport.park(); // for ever, if anything ate the permit
            }
          });
    }
  }

  @Test
  void currentThreadIsTheGoroutineAfterEverySwitch() throws Exception {
    try (var lab = Lab.procs(2)) {
      var wrong = new AtomicReference<Thread>();
      inParallel(
          lab,
          10,
          _ -> {
            Thread me = Thread.currentThread();
            for (int k = 0; k < 200; k++) {
              Gloom.gosched();
              LockSupport.parkNanos(1_000);
              if (Thread.currentThread() != me) {
                wrong.set(Thread.currentThread());
              }
            }
          });
      assertNull(wrong.get());
    }
  }

  private interface Numbered {
    void run(int number) throws Exception;
  }

  private static void inParallel(Lab lab, int n, Numbered body) throws Exception {
    var failure = new AtomicReference<Throwable>();
    var all = new Goroutine[n];
    for (int i = 0; i < n; i++) {
      int number = i;
      all[i] =
          lab.go(
              () -> {
                try {
                  body.run(number);
                } catch (Throwable e) {
                  failure.compareAndSet(null, e);
                }
              });
    }
    for (Goroutine g : all) {
      assertTrue(g.join(Duration.ofSeconds(40)), () -> g + " hangs: " + failure.get());
    }
    if (failure.get() != null) {
      throw new AssertionError(failure.get());
    }
  }
}
