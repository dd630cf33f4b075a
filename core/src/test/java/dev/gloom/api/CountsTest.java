package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// `maxProcs`, `numGoroutine`, `sleep`.
@Timeout(60)
class CountsTest {
  // maxProcs

  @Test
  void maxProcsIsWhatTheBuilderWasTold() throws Exception {
    try (var lab = Lab.procs(5)) {
      assertEquals(5, lab.scheduler().maxProcs());
      lab.run(() -> assertEquals(5, Gloom.maxProcs()));
      assertEquals(5, lab.scheduler().stats().maxProcs());
      Lab.await("all are idle again", () -> lab.scheduler().stats().idleProcs() == 5);
    }
  }

  @Test
  void maxProcsBelow1OnlyReads() {
    try (var lab = Lab.procs(3)) {
      assertEquals(3, lab.scheduler().maxProcs(0));
      assertEquals(3, lab.scheduler().maxProcs(-7));
      assertEquals(3, lab.scheduler().maxProcs());
    }
  }

  @Test
  void settingMaxProcsAnswersTheOldValue() throws Exception {
    try (var lab = Lab.procs(1)) {
      assertEquals(1, lab.scheduler().maxProcs(4));
      assertEquals(4, lab.scheduler().maxProcs(4));
      lab.run(() -> assertEquals(4, Gloom.maxProcs(2)));
      assertEquals(2, lab.scheduler().maxProcs());
    }
  }

  @Test
  void unreasonableNumbersOfProcsAreRefused() {
    try (var lab = Lab.procs(1)) {
      var e =
          assertThrows(IllegalArgumentException.class, () -> lab.scheduler().maxProcs(1_000_000));
      assertEquals("maxProcs must be from 1 to 65536: 1000000", e.getMessage());
      assertEquals(1, lab.scheduler().maxProcs());
      e = assertThrows(IllegalArgumentException.class, () -> Scheduler.builder().maxProcs(0));
      assertEquals("maxProcs must be from 1 to 65536: 0", e.getMessage());
    }
  }

  @Test
  void moreProcsRunMoreGoroutinesAtOnceAndFewerFewer() throws Exception {
    try (var lab = Lab.procs(1)) {
      assertEquals(1, mostAtOnce(lab, 4));
      lab.scheduler().maxProcs(2);
      assertEquals(2, mostAtOnce(lab, 4));
      lab.scheduler().maxProcs(1);
      lab.run(() -> {}); // every thread that still had a processor too many has let go of it
      Lab.await("one is idle", () -> lab.scheduler().stats().idleProcs() == 1);
      assertEquals(1, mostAtOnce(lab, 4));
    }
  }

  /// Lets `n` goroutines in and out of a short spin until at most that many were seen inside that
  /// the number of processors allows, and says how many.
  private static int mostAtOnce(Lab lab, int n) throws Exception {
    var inside = new AtomicInteger();
    var most = new AtomicInteger();
    var goroutines = new Goroutine[n];
    for (int i = 0; i < n; i++) {
      goroutines[i] =
          lab.go(
              () -> {
                for (int k = 0; k < 200; k++) {
                  most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                  Lab.spin(100_000);
                  inside.decrementAndGet();
                  Gloom.gosched();
                }
              });
    }
    for (Goroutine g : goroutines) {
      g.join();
    }
    return most.get();
  }

  @Test
  void changingMaxProcsUnderLoadLosesNoGoroutine() {
    Lab.seeded(
        seed -> {
          var random = new java.util.Random(seed);
          try (var lab = Lab.procs(2)) {
            var ended = new AtomicInteger();
            var stop = new AtomicBoolean();
            int n = 200;
            for (int i = 0; i < n; i++) {
              lab.go(
                  () -> {
                    while (!stop.get()) {
                      lab.go(() -> {}).join();
                      Gloom.gosched();
                    }
                    ended.incrementAndGet();
                  });
            }
            for (int i = 0; i < 200; i++) {
              lab.scheduler().maxProcs(1 + random.nextInt(8));
              java.util.concurrent.locks.LockSupport.parkNanos(2_000_000);
            }
            stop.set(true);
            Lab.await("all end", () -> ended.get() == n);
          }
        });
  }

  // numGoroutine

  @Test
  void numGoroutineCountsTheGoroutineOfRun() throws Exception {
    try (var lab = Lab.procs(1)) {
      assertEquals(0, lab.scheduler().numGoroutine());
      lab.run(
          () -> {
            assertEquals(1, Gloom.numGoroutine());
            Gloom.run(() -> assertEquals(2, Gloom.numGoroutine()));
            assertEquals(1, Gloom.numGoroutine());
          });
      assertEquals(0, lab.scheduler().numGoroutine());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void whoHasBeenJoinedIsNotCounted(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      for (int i = 0; i < 2_000; i++) {
        lab.go(() -> {}).join();
        assertEquals(0, lab.scheduler().numGoroutine());
      }
      lab.run(
          () -> {
            for (int i = 0; i < 2_000; i++) {
              lab.go(() -> {}).join();
              assertEquals(1, lab.scheduler().numGoroutine());
            }
          });
    }
  }

  @Test
  void numGoroutineCountsRunnableAndParkedOnesAlike() throws Exception {
    try (var lab = Lab.procs(2)) {
      var gate = new CountDownLatch(1);
      var all = new Goroutine[300];
      for (int i = 0; i < all.length; i++) {
        all[i] = lab.go(gate::await);
        assertEquals(i + 1, lab.scheduler().numGoroutine());
      }
      gate.countDown();
      for (Goroutine g : all) {
        g.join();
      }
      assertEquals(0, lab.scheduler().numGoroutine());
      assertEquals(all.length, lab.scheduler().stats().started());
    }
  }

  @Test
  void aThreadOfTheFactoryCountsFromItsStart() throws Exception {
    try (var lab = Lab.procs(1)) {
      var gate = new CountDownLatch(1);
      Thread t =
          lab.scheduler()
              .threadFactory()
              .newThread(
                  () -> {
                    try {
                      gate.await();
                    } catch (InterruptedException e) {
                      throw new AssertionError(e);
                    }
                  });
      assertEquals(0, lab.scheduler().numGoroutine());
      t.start();
      assertEquals(1, lab.scheduler().numGoroutine());
      gate.countDown();
      t.join();
      Lab.await("not counted any more", () -> lab.scheduler().numGoroutine() == 0);
    }
  }

  // sleep

  @Test
  void sleepLastsAtLeastThatLong() throws Exception {
    try (var lab = Lab.procs(1)) {
      lab.run(
          () -> {
            long start = System.nanoTime();
            Gloom.sleep(Duration.ofMillis(30));
            assertTrue(System.nanoTime() - start >= 30_000_000);
          });
    }
  }

  @Test
  void sleepOfNothingOrLessReturnsAtOnceEvenWhenInterrupted() throws Exception {
    try (var lab = Lab.procs(1)) {
      lab.run(
          () -> {
            Thread.currentThread().interrupt();
            Gloom.sleep(Duration.ZERO);
            Gloom.sleep(Duration.ofDays(-365));
            assertTrue(Thread.interrupted());
          });
    }
  }

  @Test
  void whoSleepsHoldsNoProcessor() throws Exception {
    try (var lab = Lab.procs(1)) {
      lab.run(
          () -> {
            var sleepers = new Goroutine[200];
            long start = System.nanoTime();
            for (int i = 0; i < sleepers.length; i++) {
              sleepers[i] = lab.go(() -> Gloom.sleep(Duration.ofMillis(100)));
            }
            for (Goroutine g : sleepers) {
              g.join();
            }
            // One after the other they would take 20 s.
            assertTrue(System.nanoTime() - start < 10_000_000_000L);
          });
    }
  }
}
