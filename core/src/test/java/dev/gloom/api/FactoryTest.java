package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.jdk.Carrier;
import java.util.ArrayList;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// `threadFactory` and `executor`.
@Timeout(60)
class FactoryTest {
  @Test
  void factoryMakesVirtualThreadsThatRunOnGloomOnceStarted() throws Exception {
    try (var lab = Lab.procs(1)) {
      String prefix = lab.threadPrefix();
      var carrier = new AtomicReference<String>();
      Thread t =
          lab.scheduler().threadFactory().newThread(() -> carrier.set(Carrier.current().getName()));
      assertTrue(t.isVirtual());
      assertEquals(Thread.State.NEW, t.getState());
      t.start();
      t.join();
      assertTrue(carrier.get().startsWith(prefix), carrier.get());
    }
  }

  @Test
  void factoryThreadThatNobodyStartsLeavesNothing() {
    try (var lab = Lab.procs(1)) {
      lab.scheduler().threadFactory().newThread(() -> {});
      assertEquals(0, lab.scheduler().numGoroutine());
      assertEquals(0, lab.scheduler().stats().started());
    }
  }

  @Test
  void factoryThreadCannotBeStartedTwice() throws Exception {
    try (var lab = Lab.procs(1)) {
      var runs = new AtomicInteger();
      Thread t = lab.scheduler().threadFactory().newThread(runs::incrementAndGet);
      t.start();
      assertThrows(IllegalThreadStateException.class, t::start);
      t.join();
      assertEquals(1, runs.get());
    }
  }

  @Test
  void newThreadOfNullSaysSo() {
    try (var lab = Lab.procs(1)) {
      var factory = lab.scheduler().threadFactory();
      assertEquals(
          "newThread of null",
          assertThrows(NullPointerException.class, () -> factory.newThread(null)).getMessage());
      assertEquals(
          "newThread of null",
          assertThrows(NullPointerException.class, () -> Gloom.threadFactory().newThread(null))
              .getMessage());
    }
  }

  @Test
  void factoryOfAGoroutineBelongsToItsScheduler() throws Exception {
    try (var lab = Lab.procs(1)) {
      String prefix = lab.threadPrefix();
      lab.run(
          () -> {
            var carrier = new AtomicReference<String>();
            Thread t =
                Gloom.threadFactory().newThread(() -> carrier.set(Carrier.current().getName()));
            t.start();
            t.join();
            assertTrue(carrier.get().startsWith(prefix), carrier.get());
          });
    }
  }

  @Test
  void executorRunsEachTaskInAGoroutineOfItsOwn() throws Exception {
    try (var lab = Lab.procs(2)) {
      var together = new CountDownLatch(100);
      try (ExecutorService executor = lab.scheduler().executor()) {
        var results = new ArrayList<Future<Integer>>();
        for (int i = 0; i < 100; i++) {
          int n = i;
          results.add(
              executor.submit(
                  () -> {
                    together.countDown();
                    together.await(); // all exist at once
                    return n * n;
                  }));
        }
        for (int i = 0; i < 100; i++) {
          assertEquals(i * i, results.get(i).get());
        }
      }
      assertEquals(100, lab.scheduler().stats().started());
    }
  }

  @Test
  void closeOfAnExecutorWaitsForItsTasks() throws Exception {
    try (var lab = Lab.procs(1)) {
      var gate = new CountDownLatch(1);
      var done = new AtomicInteger();
      ExecutorService executor = lab.scheduler().executor();
      for (int i = 0; i < 50; i++) {
        executor.execute(
            () -> {
              try {
                gate.await();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
              done.incrementAndGet();
            });
      }
      Thread closer = Thread.ofPlatform().start(executor::close);
      Lab.await("close waits", () -> closer.getState() == Thread.State.TIMED_WAITING);
      assertFalse(executor.isTerminated());
      gate.countDown();
      closer.join();
      assertEquals(50, done.get());
      assertTrue(executor.isTerminated());
      assertThrows(RejectedExecutionException.class, () -> executor.execute(() -> {}));
    }
  }

  @Test
  void eachCallGivesANewExecutor() throws Exception {
    try (var lab = Lab.procs(1)) {
      ExecutorService first = lab.scheduler().executor();
      ExecutorService second = lab.scheduler().executor();
      assertNotSame(first, second);
      first.close();
      assertEquals(7, second.submit(() -> 7).get());
      second.close();
      lab.run(
          () -> {
            try (var inside = Gloom.executor()) {
              assertEquals(8, inside.submit(() -> 8).get());
            }
          });
    }
  }

  @Test
  void whatATaskThrowsIsInItsFuture() throws Exception {
    try (var lab = Lab.procs(1);
        var executor = lab.scheduler().executor()) {
      Callable<String> failing =
          () -> {
            throw new IllegalStateException("in the task");
          };
      Future<?> failed = executor.submit(failing);
      var e = assertThrows(ExecutionException.class, failed::get);
      assertEquals("in the task", e.getCause().getMessage());
    }
  }
}
