package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.Goroutine.State;
import java.time.Duration;
import java.util.HashSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// `go` and the goroutine that it answers with.
@Timeout(60)
class GoTest {
  // Identity.

  /// Spec item 91.
  @Test
  void theFirstGoroutineOfAFreshSchedulerHasId1() {
    try (var lab = Lab.procs(2)) {
      assertEquals(1, lab.go(() -> {}).id());
    }
  }

  /// Spec item 91.
  @Test
  void theGoroutineOfRunIsTheFirstToo() throws Exception {
    try (var lab = Lab.procs(2)) {
      lab.run(() -> assertTrue(lab.go(() -> {}).id() > 1));
      lab.run(() -> {}); // its id, whatever it is, was not given twice: see below
    }
  }

  /// Spec item 91.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void idsAreUniqueWhoeverStartsThem(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var ids = new ConcurrentLinkedQueue<Long>();
      var starters = new Thread[4];
      for (int i = 0; i < starters.length; i++) {
        starters[i] =
            Thread.ofPlatform()
                .start(
                    () -> {
                      for (int j = 0; j < 500; j++) {
                        ids.add(
                            lab.go(
                                    () -> {
                                      for (int k = 0; k < 3; k++) {
                                        ids.add(lab.go(() -> {}).id());
                                      }
                                    })
                                .id());
                      }
                    });
      }
      for (Thread t : starters) {
        t.join();
      }
      Lab.quiet(lab.scheduler());
      assertEquals(4 * 500 * 4, ids.size());
      assertEquals(ids.size(), new HashSet<>(ids).size());
    }
  }

  @Test
  void aGoroutineWithoutANameIsCalledByItsId() {
    try (var lab = Lab.procs(1)) {
      Goroutine g = lab.go(() -> {});
      assertEquals("goroutine " + g.id(), g.name());
    }
  }

  @Test
  void aNameIsTheNameOfTheThread() throws Exception {
    try (var lab = Lab.procs(1)) {
      var seen = new AtomicReference<String>();
      Goroutine g =
          lab.scheduler().go("worker 7", () -> seen.set(Thread.currentThread().getName()));
      g.join();
      assertEquals("worker 7", g.name());
      assertEquals("worker 7", seen.get());
    }
  }

  @Test
  void threadIsTheOneThatTheBodyRunsOn() throws Exception {
    try (var lab = Lab.procs(1)) {
      var seen = new AtomicReference<Thread>();
      Goroutine g = lab.go(() -> seen.set(Thread.currentThread()));
      g.join();
      assertSame(g.thread(), seen.get());
    }
  }

  // State.

  @Test
  void stateFollowsItsLife() throws Exception {
    try (var lab = Lab.procs(1)) {
      var gate = new CountDownLatch(1);
      var self = new AtomicReference<Goroutine>();
      var running = new AtomicReference<State>();
      Lab.settles(
          State.RUNNABLE,
          () -> {
            var queued = new AtomicReference<State>();
            lab.run(
                () -> {
                  Goroutine g = lab.go(() -> {}); // this goroutine holds the only P
                  queued.set(g.state());
                  g.join();
                });
            return queued.get();
          });
      Goroutine g =
          lab.go(
              () -> {
                Lab.await("the starter tells who I am", () -> self.get() != null);
                running.set(self.get().state());
                gate.await();
              });
      self.set(g);
      Lab.awaitWaiting(g);
      Lab.await("it parks at the gate", () -> running.get() != null);
      assertEquals(State.RUNNING, running.get());
      Lab.awaitWaiting(g);
      assertEquals("goroutine " + g.id() + " [waiting]", g.toString());
      gate.countDown();
      g.join();
      assertEquals(State.DEAD, g.state());
      assertEquals("goroutine " + g.id() + " [dead]", g.toString());
    }
  }

  @Test
  void aGoroutineThatComputesIsSeenRunningFromOutside() throws Exception {
    try (var lab = Lab.procs(1)) {
      var stop = new AtomicBoolean();
      Goroutine g =
          lab.go(
              () -> {
                while (!stop.get()) {
                  Thread.onSpinWait();
                }
              });
      Lab.await("it runs", () -> g.state() == State.RUNNING);
      stop.set(true);
      g.join();
    }
  }

  @Test
  void oneThatSleepsOrWaitsForAMonitorIsWaiting() throws Exception {
    try (var lab = Lab.procs(2)) {
      var lock = new Object();
      Goroutine sleeper =
          lab.go(
              () ->
                  assertThrows(InterruptedException.class, () -> Gloom.sleep(Duration.ofDays(1))));
      Goroutine blocked;
      Goroutine waiter =
          lab.go(
              () -> {
                synchronized (lock) {
                  lock.wait();
                }
              });
      Lab.awaitWaiting(sleeper);
      Lab.awaitWaiting(waiter);
      synchronized (lock) {
        blocked =
            lab.go(
                () -> {
                  synchronized (lock) {
                    lock.notifyAll();
                  }
                });
        Lab.awaitWaiting(blocked);
      }
      blocked.join();
      waiter.join();
      sleeper.thread().interrupt();
      sleeper.join();
    }
  }

  // Join.

  @Test
  void joinFromAPlatformThreadWaitsForTheEnd() throws Exception {
    try (var lab = Lab.procs(1)) {
      var done = new int[1];
      Goroutine g =
          lab.go(
              () -> {
                for (int i = 0; i < 100; i++) {
                  Gloom.gosched();
                }
                done[0] = 1;
              });
      g.join();
      assertEquals(1, done[0]);
      g.join();
      assertEquals(State.DEAD, g.state());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void joinFromAGoroutineLeavesItsProcessorToOthers(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var count = new AtomicInteger();
      lab.run(
          () -> {
            var children = new Goroutine[100];
            for (int i = 0; i < children.length; i++) {
              children[i] = lab.go(count::incrementAndGet);
            }
            for (Goroutine g : children) {
              g.join();
            }
            assertEquals(children.length, count.get());
          });
    }
  }

  @Test
  void severalMayJoinTheSameOne() throws Exception {
    try (var lab = Lab.procs(2)) {
      var gate = new CountDownLatch(1);
      Goroutine g = lab.go(gate::await);
      var joined = new AtomicInteger();
      var joiners = new Goroutine[10];
      for (int i = 0; i < joiners.length; i++) {
        joiners[i] =
            lab.go(
                () -> {
                  g.join();
                  joined.incrementAndGet();
                });
      }
      for (Goroutine j : joiners) {
        Lab.awaitWaiting(j);
      }
      gate.countDown();
      for (Goroutine j : joiners) {
        j.join();
      }
      assertEquals(joiners.length, joined.get());
    }
  }

  @Test
  void joinWithATimeLimitTellsWhetherItEnded() throws Exception {
    try (var lab = Lab.procs(1)) {
      var gate = new CountDownLatch(1);
      Goroutine g = lab.go(gate::await);
      long start = System.nanoTime();
      assertFalse(g.join(Duration.ofMillis(20)));
      assertTrue(System.nanoTime() - start >= 20_000_000);
      assertFalse(g.join(Duration.ZERO));
      assertFalse(g.join(Duration.ofSeconds(-1)));
      lab.run(() -> assertFalse(g.join(Duration.ofMillis(1))));
      gate.countDown();
      assertTrue(g.join(Duration.ofSeconds(30)));
      assertTrue(g.join(Duration.ZERO));
      lab.run(() -> assertTrue(g.join(Duration.ofMillis(1))));
    }
  }

  @Test
  void joinCanBeInterrupted() throws Exception {
    try (var lab = Lab.procs(1)) {
      var gate = new CountDownLatch(1);
      Goroutine g = lab.go(gate::await);
      var interrupted = new AtomicBoolean();
      Goroutine joiner =
          lab.go(
              () -> {
                try {
                  g.join();
                } catch (InterruptedException e) {
                  interrupted.set(true);
                }
              });
      Lab.awaitWaiting(joiner);
      joiner.thread().interrupt();
      joiner.join();
      assertTrue(interrupted.get());
      gate.countDown();
      g.join();
    }
  }

  // Bad input.

  @Test
  void goOfNullSaysSoInGosWords() {
    try (var lab = Lab.procs(1)) {
      String text = "go of nil func value: the body is null";
      assertEquals(text, assertThrows(NullPointerException.class, () -> lab.go(null)).getMessage());
      assertEquals(
          text, assertThrows(NullPointerException.class, () -> Gloom.go(null)).getMessage());
      assertEquals(
          text,
          assertThrows(NullPointerException.class, () -> lab.scheduler().go("name", null))
              .getMessage());
      assertEquals(
          "go with a null name: leave it out instead",
          assertThrows(NullPointerException.class, () -> lab.scheduler().go(null, () -> {}))
              .getMessage());
      assertEquals(0, lab.scheduler().numGoroutine());
    }
  }
}
