package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The end of a scheduler, and several schedulers side by side.
@Timeout(60)
class CloseTest {
  @Test
  void aSchedulerHasNoThreadBeforeItsFirstGoroutine() {
    try (var lab = Lab.procs(8)) {
      assertEquals(0, lab.scheduler().stats().threads());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void threadsOfAClosedSchedulerEnd(int procs) throws Exception {
    Scheduler scheduler = Scheduler.builder().maxProcs(procs).build();
    String prefix = busy(scheduler);
    assertFalse(Lab.threads(prefix).isEmpty());
    Lab.quiet(scheduler);
    scheduler.close();
    awaitNoThreads(prefix);
    Lab.noRescues(scheduler);
  }

  @Test
  void threadsEndAlsoWhenTheSchedulerHadFallenAsleepBefore() throws Exception {
    Scheduler scheduler = Scheduler.builder().maxProcs(2).build();
    String prefix = busy(scheduler);
    Lab.await(
        "its monitor sleeps deeply",
        () ->
            Lab.threads(prefix + "sysmon").stream()
                .anyMatch(
                    t ->
                        List.of(t.getStackTrace()).toString().contains("Sysmon.sleep")
                            && scheduler.stats().idleProcs() == 2));
    scheduler.close();
    awaitNoThreads(prefix);
    Lab.noRescues(scheduler);
  }

  @Test
  void closingTwiceOrUnusedDoesNoHarm() {
    Scheduler scheduler = Scheduler.builder().maxProcs(2).build();
    scheduler.close();
    scheduler.close();
    assertEquals(0, scheduler.stats().threads());
  }

  @Test
  void aClosedSchedulerRefusesEveryWayToStart() throws Exception {
    Scheduler scheduler = Scheduler.builder().maxProcs(1).build();
    scheduler.run(() -> {});
    Thread made = scheduler.threadFactory().newThread(() -> {});
    var executor = scheduler.executor();
    scheduler.close();
    for (var start :
        List.<org.junit.jupiter.api.function.Executable>of(
            () -> scheduler.go(() -> {}),
            () -> scheduler.run(() -> {}),
            made::start,
            () -> scheduler.threadFactory().newThread(() -> {}).start(),
            () -> executor.execute(() -> {}))) {
      var e = assertThrows(RejectedExecutionException.class, start);
      assertEquals("gloom: scheduler is closed: it starts no goroutine", e.getMessage());
    }
    assertEquals(0, scheduler.numGoroutine());
    Lab.noRescues(scheduler);
  }

  @Test
  void goroutinesOfAClosedSchedulerAreRefusedNewOnesToo() throws Exception {
    Scheduler scheduler = Scheduler.builder().maxProcs(1).build();
    var gate = new CountDownLatch(1);
    var refused = new AtomicInteger();
    Goroutine g =
        scheduler.go(
            () -> {
              gate.await();
              assertThrows(RejectedExecutionException.class, () -> Gloom.go(() -> {}));
              assertThrows(
                  RejectedExecutionException.class, () -> Thread.ofVirtual().start(() -> {}));
              refused.set(2);
            });
    scheduler.close();
    gate.countDown();
    g.join();
    assertEquals(2, refused.get());
    assertEquals(0, scheduler.numGoroutine());
    Lab.noRescues(scheduler);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void whatIsParkedCanStillBeWokenAndFinishes(int procs) throws Exception {
    Scheduler scheduler = Scheduler.builder().maxProcs(procs).build();
    String prefix = busy(scheduler);
    var finished = new AtomicInteger();
    var parked = new Goroutine[100];
    for (int i = 0; i < parked.length; i++) {
      parked[i] =
          scheduler.go(
              () -> {
                LockSupport.park();
                for (int k = 0; k < 10; k++) {
                  Gloom.gosched();
                  Gloom.sleep(Duration.ofNanos(100_000));
                }
                finished.incrementAndGet();
              });
    }
    for (Goroutine g : parked) {
      Lab.awaitWaiting(g);
    }
    scheduler.close();
    for (Goroutine g : parked) {
      LockSupport.unpark(g.thread());
    }
    for (Goroutine g : parked) {
      g.join();
    }
    assertEquals(parked.length, finished.get());
    awaitNoThreads(prefix);
    Lab.noRescues(scheduler);
  }

  @Test
  void closeDoesNotWait() throws Exception {
    Scheduler scheduler = Scheduler.builder().maxProcs(1).build();
    String prefix = busy(scheduler);
    Goroutine parked = scheduler.go(LockSupport::park);
    Lab.awaitWaiting(parked);
    scheduler.close();
    assertEquals(1, scheduler.numGoroutine());
    LockSupport.unpark(parked.thread());
    parked.join();
    awaitNoThreads(prefix);
    Lab.noRescues(scheduler);
  }

  @Test
  void severalSchedulersWorkSideBySideEachOnItsOwnThreads() throws Exception {
    try (var a = Lab.procs(1);
        var b = Lab.procs(2);
        var c = Lab.procs(3)) {
      assertNotEquals(a.threadPrefix(), b.threadPrefix());
      var ping = new java.util.concurrent.SynchronousQueue<Integer>();
      var pong = new java.util.concurrent.SynchronousQueue<Integer>();
      var last = new AtomicInteger();
      Goroutine server =
          b.go(
              () -> {
                for (int i = 0; i < 500; i++) {
                  pong.put(ping.take() + 1);
                }
              });
      a.run(
          () -> {
            int n = 0;
            for (int i = 0; i < 500; i++) {
              ping.put(n);
              n = pong.take();
              // A run of another scheduler, from inside this one.
              int value = n;
              c.run(() -> last.set(value));
            }
          });
      server.join();
      assertEquals(500, last.get());
      assertTrue(c.scheduler().stats().started() >= 500);
    }
  }

  @Test
  void aGoroutineMayStartGoroutinesElsewhere() throws Exception {
    try (var a = Lab.procs(1);
        var b = Lab.procs(1)) {
      String prefix = b.threadPrefix();
      var carrier = new AtomicReference<String>();
      a.run(() -> b.go(() -> carrier.set(dev.gloom.jdk.Carrier.current().getName())).join());
      assertTrue(carrier.get().startsWith(prefix), carrier.get());
    }
  }

  /// Uses all processors for a moment and answers the prefix of the scheduler's threads.
  private static String busy(Scheduler scheduler) throws Exception {
    var name = new AtomicReference<String>();
    scheduler.run(
        () -> {
          name.set(dev.gloom.jdk.Carrier.current().getName());
          var children = new Goroutine[20];
          for (int i = 0; i < children.length; i++) {
            children[i] = scheduler.go(() -> Lab.spin(200_000));
          }
          for (Goroutine g : children) {
            g.join();
          }
        });
    return name.get().substring(0, name.get().lastIndexOf('-') + 1);
  }

  private static void awaitNoThreads(String prefix) {
    Lab.await("all threads " + prefix + "* end", () -> Lab.threads(prefix).isEmpty());
  }
}
