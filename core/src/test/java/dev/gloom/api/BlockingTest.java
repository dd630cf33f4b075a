package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.jdk.Carrier;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Calls that are announced as blocking. What holds the thread here is a loop without a scheduling
/// point, which can be let go at a moment of the test's choice.
@Timeout(60)
class BlockingTest {
  private static Object hold(AtomicBoolean released) {
    while (!released.get()) {
      Thread.onSpinWait();
    }
    return "done";
  }

  /// Spec items 79 and 80.
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void othersRunWhileACallHoldsTheOnlyProcessor(boolean lasts) throws Exception {
    try (var lab = Lab.procs(1)) {
      var released = new AtomicBoolean();
      var result = new AtomicReference<Object>();
      var inside = new CountDownLatch(1);
      Goroutine blocked =
          lab.go(
              () -> {
                inside.countDown();
                result.set(
                    lasts
                        ? Gloom.blockingLong(() -> hold(released))
                        : Gloom.blocking(() -> hold(released)));
              });
      inside.await();
      lab.go(() -> released.set(true)).join();
      blocked.join();
      assertEquals("done", result.get());
      assertTrue(lab.scheduler().stats().threads() > 1, "" + lab.scheduler().stats());
    }
  }

  /// Spec item 81.
  @Test
  void shortCallsKeepTheirProcessorAndThread() throws Exception {
    try (var lab = Lab.procs(2)) {
      lab.run(
          () -> {
            Thread carrier = Carrier.current();
            long before = lab.scheduler().stats().blockingCalls();
            for (int i = 0; i < 10_000; i++) {
              assertEquals(i, Gloom.blocking(new Same(i)::call));
            }
            assertEquals(10_000, lab.scheduler().stats().blockingCalls() - before);
            assertSame(carrier, Carrier.current());
          });
      // The machine may hold one of them up for a round of the monitor's, but not many.
      assertTrue(lab.scheduler().stats().handoffs() < 100, "" + lab.scheduler().stats());
      assertTrue(lab.scheduler().stats().threads() <= 3, "" + lab.scheduler().stats());
    }
  }

  private record Same(int value) {
    int call() {
      return value;
    }
  }

  /// Spec item 83: back from a call, all processors are busy.
  @Test
  void whoComesBackWaitsForItsTurnAndFreesTheThread() throws Exception {
    System.setProperty("gloom.maxovercommit", "0"); // else the one that spins loses its P
    Lab made;
    try {
      made = Lab.procs(1);
    } finally {
      System.clearProperty("gloom.maxovercommit");
    }
    try (var lab = made) {
      var released = new AtomicBoolean();
      var stop = new AtomicBoolean();
      var inside = new CountDownLatch(1);
      Goroutine blocked =
          lab.go(
              () -> {
                inside.countDown();
                Gloom.blocking(() -> hold(released));
              });
      inside.await();
      var spins = new CountDownLatch(1);
      lab.go(
          () -> {
            spins.countDown();
            while (!stop.get()) {
              Thread.onSpinWait();
            }
          });
      spins.await(); // it has the P now
      released.set(true);
      Lab.await("queued", () -> blocked.state() == Goroutine.State.RUNNABLE);
      Lab.await("its thread is free", () -> lab.scheduler().stats().idleThreads() >= 1);
      assertFalse(blocked.join(Duration.ofMillis(50)), "it ran beside the one that has the P");
      stop.set(true);
      blocked.join();
    }
  }

  /// Spec item 84.
  @Test
  void threadsAreReused() throws Exception {
    try (var lab = Lab.procs(2)) {
      lab.run(
          () -> {
            for (int i = 0; i < 200; i++) {
              Gloom.blockingLong(() -> null);
            }
          });
      assertTrue(lab.scheduler().stats().threads() <= 6, "" + lab.scheduler().stats());
    }
  }

  @Test
  void goroutineInACallIsInASyscall() throws Exception {
    try (var lab = Lab.procs(2)) {
      var released = new AtomicBoolean();
      Goroutine g = lab.go(() -> Gloom.blocking(() -> hold(released)));
      Lab.await("syscall", () -> g.state() == Goroutine.State.SYSCALL);
      released.set(true);
      g.join();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void anyJavaWorksInsideACall(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var log = new ArrayList<String>();
            Gloom.blocking(
                () -> {
                  Goroutine child = Gloom.go(() -> log.add("child"));
                  child.join();
                  Thread.sleep(1);
                  Gloom.gosched();
                  LockSupport.unpark(Thread.currentThread());
                  LockSupport.park();
                  synchronized (log) {
                    log.wait(1);
                  }
                  log.add(Gloom.blocking(() -> Gloom.blockingLong(() -> "nested")));
                  Gloom.lockOSThread();
                  Gloom.gosched();
                  Gloom.unlockOSThread();
                  return null;
                });
            log.add("after");
            assertEquals(List.of("child", "nested", "after"), log);
          });
    }
  }

  @Test
  void whatACallThrowsIsThrown() throws Exception {
    try (var lab = Lab.procs(1)) {
      lab.run(
          () -> {
            var e =
                assertThrows(
                    IOException.class,
                    () ->
                        Gloom.blocking(
                            () -> {
                              throw new IOException("gone");
                            }));
            assertEquals("gone", e.getMessage());
          });
      assertThrows(NullPointerException.class, () -> Gloom.blocking(null));
    }
  }

  @Test
  void outsideAGoroutineItIsJustACall() throws Exception {
    assertEquals(7, Gloom.blocking(() -> 7));
    assertEquals(8, Gloom.blockingLong(() -> 8));
    var other = new AtomicInteger();
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                other.set(Gloom.blocking(() -> 9));
              } catch (Exception e) {
                throw new AssertionError(e);
              }
            })
        .join();
    assertEquals(9, other.get());
  }

  @Test
  void processorOfACallIsTakenWhenThereAreToBeFewer() throws Exception {
    try (var lab = Lab.procs(2)) {
      var released = new AtomicBoolean();
      var inside = new CountDownLatch(2);
      for (int i = 0; i < 2; i++) {
        lab.go(
            () ->
                Gloom.blocking(
                    () -> {
                      inside.countDown();
                      return hold(released);
                    }));
      }
      assertTrue(inside.await(30, TimeUnit.SECONDS));
      long start = System.nanoTime();
      assertEquals(2, lab.scheduler().maxProcs(1));
      assertTrue(System.nanoTime() - start < 900_000_000L, "it waited for the calls");
      var ran = new CountDownLatch(1);
      lab.go(ran::countDown);
      assertTrue(ran.await(30, TimeUnit.SECONDS));
      released.set(true);
    }
  }

  @Test
  void lockedGoroutineComesBackToItsThread() throws Exception {
    try (var lab = Lab.procs(1)) {
      var released = new AtomicBoolean();
      Goroutine locked =
          lab.go(
              () -> {
                Gloom.lockOSThread();
                Thread carrier = Carrier.current();
                Gloom.blocking(() -> hold(released));
                Gloom.gosched();
                assertSame(carrier, Carrier.current());
              });
      var other = new AtomicReference<Thread>();
      var mine = new AtomicReference<Thread>();
      Lab.await("syscall", () -> locked.state() == Goroutine.State.SYSCALL);
      lab.go(() -> other.set(Carrier.current())).join();
      mine.set(other.get());
      released.set(true);
      locked.join();
      assertNotSame(null, mine.get());
    }
  }

  /// Two writers on one ring would lose or double goroutines: what a call starts and wakes, against
  /// the one that took its processor meanwhile.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void nothingIsLostOfWhatACallStartsAndWakes(int procs) {
    Lab.seeded(
        seed -> {
          try (var lab = Lab.procs(procs)) {
            int goroutines = 32;
            int rounds = 300;
            var ran = new AtomicInteger();
            var done = new CountDownLatch(goroutines);
            for (int i = 0; i < goroutines; i++) {
              var random = new Random(seed + i);
              lab.go(
                  () -> {
                    for (int r = 0; r < rounds; r++) {
                      int what = random.nextInt(6);
                      var started = new CountDownLatch(2);
                      Gloom.blocking(
                          () -> {
                            Gloom.go(() -> count(ran, started));
                            if (what == 0) {
                              LockSupport.parkNanos(1_000);
                            } else if (what == 1) {
                              spin(random.nextInt(300_000));
                            } else if (what == 2) {
                              Gloom.gosched();
                            }
                            Gloom.go(() -> count(ran, started));
                            return null;
                          });
                      started.await();
                    }
                    done.countDown();
                  });
            }
            assertTrue(done.await(50, TimeUnit.SECONDS), () -> "lost: " + lab.scheduler().stats());
            assertEquals(2 * goroutines * rounds, ran.get());
          }
        });
  }

  private static void count(AtomicInteger ran, CountDownLatch started) {
    ran.getAndIncrement();
    started.countDown();
  }

  private static void spin(long nanos) {
    long until = System.nanoTime() + nanos;
    while (until - System.nanoTime() > 0) {
      Thread.onSpinWait();
    }
  }
}
