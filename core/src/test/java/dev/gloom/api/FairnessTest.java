package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import java.util.ArrayList;
import java.util.Collections;
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

/// Nobody who is runnable waits for ever, whatever the others do.
@Timeout(120)
class FairnessTest {
  /// A slice is 10 ms. The machine may be busy with other things: single outliers do not count.
  private static final long SOON_MILLIS = 200;

  /// Spec item 66. The third one comes from outside, hence into the global queue.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void twoThatRespawnEachOtherDoNotStarveTheGlobalQueue(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var stop = new AtomicBoolean();
      for (int i = 0; i < procs; i++) { // keep every processor busy
        lab.go(() -> respawn(lab, stop));
        lab.go(() -> respawn(lab, stop));
      }
      soon(
          () -> {
            var ran = new CountDownLatch(1);
            lab.go(ran::countDown);
            return ran;
          });
      stop.set(true);
    }
  }

  private static void respawn(Lab lab, AtomicBoolean stop) {
    if (!stop.get()) {
      lab.go(() -> respawn(lab, stop));
    }
  }

  /// Spec item 64, seen from outside: a local queue that never runs empty, each turn a new slice.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aLocalQueueThatNeverRunsEmptyDoesNotStarveTheGlobalQueue(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var stop = new AtomicBoolean();
      for (int i = 0; i < 2 * procs; i++) {
        lab.go(() -> refill(lab, stop));
      }
      soon(
          () -> {
            var ran = new CountDownLatch(1);
            lab.go(ran::countDown);
            return ran;
          });
      stop.set(true);
    }
  }

  /// The second one pushes the first out of run-next into the local queue.
  private static void refill(Lab lab, AtomicBoolean stop) {
    if (!stop.get()) {
      lab.go(() -> refill(lab, stop));
      lab.go(() -> {});
    }
  }

  /// Go's issue 52934: a chain of goroutines, each of which starts the next and ends, passes the
  /// processor on through run-next; one that waits in the local queue behind it must run.
  @Test
  void aChainOfSpawnsDoesNotStarveTheLocalQueue() throws Exception {
    try (var lab = Lab.procs(1)) {
      soon(
          () -> {
            var stop = new AtomicBoolean();
            var ran = new CountDownLatch(1);
            lab.run(
                () -> {
                  lab.go(
                      () -> {
                        ran.countDown();
                        stop.set(true);
                      });
                  lab.go(() -> respawn(lab, stop)); // pushes the one above out of run-next
                });
            return ran;
          });
    }
  }

  /// Go's issue 52934 again, the other way to stay in run-next.
  @Test
  void aPairThatWakesEachOtherDoesNotStarveTheLocalQueue() throws Exception {
    try (var lab = Lab.procs(1)) {
      soon(
          () -> {
            var pair = new Pair();
            var ran = new CountDownLatch(1);
            lab.run(
                () -> {
                  pair.start(lab);
                  while (pair.rounds < 10) {
                    Gloom.gosched();
                  }
                  lab.go(
                      () -> {
                        ran.countDown();
                        pair.stop = true;
                      });
                });
            return ran;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void pairsThatWakeEachOtherDoNotStarveTheGlobalQueue(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var pairs = new ArrayList<Pair>();
      lab.run(
          () -> {
            for (int i = 0; i < procs; i++) {
              var pair = new Pair();
              pair.start(lab);
              pairs.add(pair);
            }
          });
      soon(
          () -> {
            var ran = new CountDownLatch(1);
            lab.go(ran::countDown);
            return ran;
          });
      pairs.forEach(p -> p.stop = true);
    }
  }

  /// Two goroutines, each of which wakes the other and parks.
  private static final class Pair {
    volatile boolean stop;
    volatile int turn;
    volatile int rounds;
    final AtomicReference<Thread> first = new AtomicReference<>();
    final AtomicReference<Thread> second = new AtomicReference<>();

    void start(Lab lab) {
      second.set(lab.go(() -> play(1, first)).thread());
      first.set(lab.go(() -> play(0, second)).thread());
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only player 0 counts
    private void play(int mine, AtomicReference<Thread> other) {
      while (!stop) {
        if (turn == mine) {
          if (mine == 0) {
            rounds = rounds + 1;
          }
          turn = 1 - mine;
          LockSupport.unpark(other.get());
        } else {
          LockSupport.parkNanos(other.get() == null ? 100_000 : 1_000_000_000);
        }
      }
      LockSupport.unpark(other.get());
    }
  }

  /// Spec item 70: on every processor yielders never stop; one from outside and one from within
  /// must run.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void yieldersDoNotStarveOthers(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var stop = new AtomicBoolean();
      for (int i = 0; i < 2 * procs; i++) {
        lab.go(
            () -> {
              while (!stop.get()) {
                Gloom.gosched();
              }
            });
      }
      soon(
          () -> {
            var ran = new CountDownLatch(1);
            lab.go(ran::countDown);
            return ran;
          });
      soon(
          () -> {
            var ran = new CountDownLatch(1);
            lab.go(() -> lab.go(ran::countDown));
            return ran;
          });
      stop.set(true);
    }
  }

  /// A trap that others fell into: a yield that stays in its own queue starves the other queues.
  /// Here one yields among many that come and go through local queues and run-next.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void whoYieldsAmongManyGetsItsTurnAgain(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var stop = new AtomicBoolean();
      for (int i = 0; i < 2 * procs; i++) {
        lab.go(() -> respawn(lab, stop));
      }
      var turns = new AtomicInteger();
      Goroutine yielder =
          lab.go(
              () -> {
                for (int i = 0; i < 20; i++) {
                  Gloom.gosched();
                  turns.incrementAndGet();
                }
              });
      assertTrue(
          yielder.join(java.time.Duration.ofSeconds(60)), () -> "only " + turns.get() + " turns");
      stop.set(true);
    }
  }

  /// Every one of many yielders gets its share.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void yieldersShareEvenly(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      int n = 4 * procs;
      var turns = new long[n];
      var stop = new AtomicBoolean();
      var all = new Goroutine[n];
      var started = new CountDownLatch(n);
      lab.run(
          () -> {
            for (int i = 0; i < n; i++) {
              int me = i;
              all[i] =
                  lab.go(
                      () -> {
                        started.countDown();
                        started.await();
                        while (!stop.get()) {
                          turns[me]++;
                          Lab.spin(2_000);
                          Gloom.gosched();
                        }
                      });
            }
          });
      started.await();
      LockSupport.parkNanos(500_000_000);
      stop.set(true);
      for (Goroutine g : all) {
        g.join();
      }
      long least = Long.MAX_VALUE;
      long total = 0;
      for (long t : turns) {
        least = Math.min(least, t);
        total += t;
      }
      String shares = java.util.Arrays.toString(turns);
      assertTrue(least * n * 10 > total, () -> "somebody had less than a tenth: " + shares);
    }
  }

  private interface Trial {
    CountDownLatch start() throws Exception;
  }

  /// Runs the trial some times: each must come, most of them soon.
  private static void soon(Trial trial) throws Exception {
    var millis = new ArrayList<Long>();
    for (int i = 0; i < 7; i++) {
      long start = System.nanoTime();
      assertTrue(trial.start().await(20, TimeUnit.SECONDS), "never ran");
      millis.add((System.nanoTime() - start) / 1_000_000);
    }
    Collections.sort(millis);
    assertTrue(millis.get(millis.size() / 2) <= SOON_MILLIS, () -> "ran after ms: " + millis);
  }
}
