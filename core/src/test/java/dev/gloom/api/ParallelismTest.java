package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// As many goroutines run at once as there are processors: no fewer, no more.
@Timeout(120)
class ParallelismTest {
  /// Issue 3, "must show".
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void neverMoreThanMaxProcsAreInsideAtOnceAndThatManyAre(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var inside = new AtomicInteger();
      var most = new AtomicInteger();
      var all = new Goroutine[8];
      // More than two at once need luck on two cores: a thread must lose its core inside.
      int wanted = Math.min(procs, 2);
      long until = System.nanoTime() + 20_000_000_000L;
      for (int i = 0; i < all.length; i++) {
        all[i] =
            lab.go(
                () -> {
                  for (int k = 0; k < 100 || most.get() < wanted && before(until); k++) {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    Lab.spin(200_000);
                    inside.decrementAndGet();
                    Gloom.gosched();
                  }
                });
      }
      for (Goroutine g : all) {
        g.join();
      }
      assertTrue(most.get() <= procs, () -> most.get() + " at once");
      assertTrue(most.get() >= wanted, () -> "at most " + most.get() + " at once");
      if (procs < 8) {
        assertEquals(procs, most.get());
      }
    }
  }

  private static boolean before(long nanoTime) {
    return nanoTime - System.nanoTime() > 0;
  }

  /// Spec item 71 (Go: `TestGoroutineParallelism`): each waits, computing, until all others have
  /// come; that ends only if all of them run at the same time. Also 8 on a machine with 2 cores.
  @ParameterizedTest
  @CsvSource({"2, 20", "3, 10", "8, 5"})
  void asManyAsProcessorsRunTrulyInParallel(int procs, int rounds) throws Exception {
    try (var lab = Lab.procs(procs)) {
      for (int round = 0; round < rounds; round++) {
        var arrived = new AtomicInteger();
        var gaveUp = new AtomicInteger();
        long until = System.nanoTime() + 20_000_000_000L;
        lab.run(
            () -> {
              for (int i = 1; i < procs; i++) {
                lab.go(() -> meet(arrived, procs, until, gaveUp));
              }
              meet(arrived, procs, until, gaveUp);
            });
        Lab.quiet(lab.scheduler());
        assertEquals(0, gaveUp.get(), "round " + round);
        if (round % 2 == 1) {
          LockSupport.parkNanos(3_000_000); // item 72, first half: also after an idle phase
        }
      }
    }
  }

  private static void meet(AtomicInteger arrived, int all, long until, AtomicInteger gaveUp) {
    arrived.incrementAndGet();
    while (arrived.get() < all) {
      if (!before(until)) {
        gaveUp.incrementAndGet();
        return;
      }
      Thread.onSpinWait();
    }
  }

  /// Spec item 73. The creator goes on computing and never looks at the scheduler again.
  @ParameterizedTest
  @ValueSource(ints = {2, 8})
  void anIdleProcessorPicksUpANewGoroutineWhileItsCreatorComputes(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      for (int i = 0; i < 20; i++) {
        lab.run(() -> computeUntilChildRan(lab));
      }
    }
  }

  /// The same on a processor that has learnt to keep its run-next for itself.
  @ParameterizedTest
  @ValueSource(ints = {2, 8})
  void alsoAfterALongExchangeThroughRunNext(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      for (int i = 0; i < 5; i++) {
        lab.run(
            () -> {
              var me = Thread.currentThread();
              var stop = new AtomicBoolean();
              var partner = new AtomicReference<Thread>();
              partner.set(
                  lab.go(
                          () -> {
                            while (!stop.get()) {
                              LockSupport.unpark(me);
                              LockSupport.park();
                            }
                          })
                      .thread());
              for (int k = 0; k < 200; k++) {
                LockSupport.unpark(partner.get());
                LockSupport.parkNanos(1_000_000_000);
              }
              stop.set(true);
              LockSupport.unpark(partner.get());
              computeUntilChildRan(lab);
            });
      }
    }
  }

  private static void computeUntilChildRan(Lab lab) {
    var ran = new AtomicBoolean();
    lab.go(() -> ran.set(true));
    long until = System.nanoTime() + 20_000_000_000L;
    while (!ran.get()) {
      if (!before(until)) {
        throw new AssertionError("nobody picked it up: " + lab.scheduler().stats());
      }
      Thread.onSpinWait();
    }
  }
}
