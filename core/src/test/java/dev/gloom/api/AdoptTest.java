package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.jdk.Carrier;
import java.util.ArrayList;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Virtual threads that code inside a goroutine starts without knowing of gloom become goroutines.
@Timeout(60)
class AdoptTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void virtualThreadsStartedInsideAGoroutineRunOnGloomsThreads(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      String prefix = lab.threadPrefix();
      var carriers = new ConcurrentLinkedQueue<String>();
      lab.run(
          () -> {
            var threads = new ArrayList<Thread>();
            for (int i = 0; i < 100; i++) {
              threads.add(
                  Thread.ofVirtual()
                      .start(
                          () -> {
                            carriers.add(Carrier.current().getName());
                            LockSupport.parkNanos(100_000);
                            carriers.add(Carrier.current().getName());
                            Thread.yield();
                            carriers.add(Carrier.current().getName());
                          }));
            }
            for (Thread t : threads) {
              t.join();
            }
          });
      assertEquals(300, carriers.size());
      assertTrue(carriers.stream().allMatch(c -> c.startsWith(prefix)), carriers::toString);
    }
  }

  @Test
  void theyAreCountedOnceHoweverOftenTheyParkAndYield() throws Exception {
    try (var lab = Lab.procs(2)) {
      lab.run(
          () -> {
            var gate = new CountDownLatch(1);
            var threads = new ArrayList<Thread>();
            for (int i = 0; i < 50; i++) {
              threads.add(
                  Thread.startVirtualThread(
                      () -> {
                        for (int k = 0; k < 20; k++) {
                          Thread.yield();
                          LockSupport.parkNanos(10_000);
                        }
                        awaitQuietly(gate);
                      }));
            }
            assertEquals(51, Gloom.numGoroutine());
            for (Thread t : threads) {
              Lab.await("it waits at the gate", () -> t.getState() == Thread.State.WAITING);
            }
            assertEquals(51, Gloom.numGoroutine());
            gate.countDown();
            for (Thread t : threads) {
              t.join();
            }
            Lab.await("they are gone", () -> Gloom.numGoroutine() == 1);
          });
      assertEquals(51, lab.scheduler().stats().started());
    }
  }

  @Test
  void executorsOfVirtualThreadsWorkInsideAGoroutine() throws Exception {
    try (var lab = Lab.procs(2)) {
      String prefix = lab.threadPrefix();
      lab.run(
          () -> {
            var carriers = new ConcurrentLinkedQueue<String>();
            try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
              for (int i = 0; i < 100; i++) {
                executor.execute(() -> carriers.add(Carrier.current().getName()));
              }
            }
            assertEquals(100, carriers.size());
            assertTrue(carriers.stream().allMatch(c -> c.startsWith(prefix)), carriers::toString);
          });
    }
  }

  @Test
  void childrenOfChildrenAreAdoptedToo() throws Exception {
    try (var lab = Lab.procs(2)) {
      String prefix = lab.threadPrefix();
      var carriers = new ConcurrentLinkedQueue<String>();
      var counts = new ConcurrentLinkedQueue<Integer>();
      lab.run(() -> family(4, carriers, counts));
      assertEquals(4, carriers.size());
      assertTrue(carriers.stream().allMatch(c -> c.startsWith(prefix)), carriers::toString);
      // Parents wait for their child, so each generation adds one.
      assertEquals(java.util.List.of(2, 3, 4, 5), java.util.List.copyOf(counts));
    }
  }

  private static void family(
      int depth, ConcurrentLinkedQueue<String> carriers, ConcurrentLinkedQueue<Integer> counts) {
    if (depth == 0) {
      return;
    }
    Thread child =
        Thread.startVirtualThread(
            () -> {
              carriers.add(Carrier.current().getName());
              counts.add(Gloom.numGoroutine());
              family(depth - 1, carriers, counts);
            });
    joinQuietly(child);
  }

  @Test
  void anAdoptedThreadIsAGoroutineInEveryWay() throws Exception {
    try (var lab = Lab.procs(3)) {
      lab.run(
          () -> {
            var seen = new AtomicReference<String>();
            Thread child =
                Thread.startVirtualThread(
                    () -> {
                      try {
                        var steps = new StringBuilder();
                        steps.append(Gloom.maxProcs());
                        Goroutine g = Gloom.go(() -> steps.append(" go"));
                        g.join();
                        Gloom.run(() -> steps.append(" run"));
                        Gloom.gosched();
                        seen.set(steps.toString());
                      } catch (Exception e) {
                        throw new AssertionError(e);
                      }
                    });
            child.join();
            assertEquals("3 go run", seen.get());
          });
    }
  }

  @Test
  void aThreadMadeInAGoroutineMayBeStartedElsewhereAndLater() throws Exception {
    try (var lab = Lab.procs(1)) {
      String prefix = lab.threadPrefix();
      var made = new AtomicReference<Thread>();
      var carrier = new AtomicReference<String>();
      lab.run(
          () ->
              made.set(
                  Thread.ofVirtual().unstarted(() -> carrier.set(Carrier.current().getName()))));
      Lab.quiet(lab.scheduler()); // the goroutine that made it is gone
      made.get().start();
      made.get().join();
      assertTrue(carrier.get().startsWith(prefix), carrier.get());
    }
  }

  @Test
  void virtualThreadsStartedOutsideStayOnTheJdksScheduler() throws Exception {
    try (var lab = Lab.procs(1)) {
      lab.run(() -> {});
      var carrier = new AtomicReference<String>();
      Thread.startVirtualThread(() -> carrier.set(Carrier.current().getName())).join();
      assertTrue(carrier.get().startsWith("ForkJoinPool"), carrier.get());
      assertEquals(1, lab.scheduler().stats().started());
    }
  }

  @Test
  void platformThreadsStartedInsideStayPlatformThreads() throws Exception {
    try (var lab = Lab.procs(1)) {
      lab.run(
          () -> {
            var virtual = new AtomicReference<Boolean>();
            Thread t =
                Thread.ofPlatform().start(() -> virtual.set(Thread.currentThread().isVirtual()));
            t.join();
            assertFalse(virtual.get());
            assertEquals(1, Gloom.numGoroutine());
          });
    }
  }

  @Test
  void manyComeAndGoWithoutATrace() throws Exception {
    try (var lab = Lab.procs(2)) {
      var ran = new AtomicInteger();
      lab.run(
          () -> {
            for (int i = 0; i < 20_000; i++) {
              Thread t = Thread.startVirtualThread(ran::incrementAndGet);
              if (i % 16 == 0) {
                t.join();
              }
            }
          });
      Lab.quiet(lab.scheduler());
      assertEquals(20_000, ran.get());
      assertEquals(20_001, lab.scheduler().stats().started());
    }
  }

  static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  static void joinQuietly(Thread t) {
    try {
      t.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
