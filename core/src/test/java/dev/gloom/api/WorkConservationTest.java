package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Stats;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// No processor idles while a goroutine waits for one, and few threads search.
@Timeout(120)
class WorkConservationTest {
  private static final long STORM_NANOS = 2_000_000_000L;

  /// Spec item 74: bursts of starts, parks and wake-ups with pauses between them, so that
  /// processors fall asleep and are woken all the time.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void noProcessorIdlesForLongWhileAGoroutineWaits(int procs) {
    Lab.seeded(
        seed -> {
          try (var lab = Lab.procs(procs)) {
            var storm = new Storm(lab, seed);
            var watcher = new Watcher(lab);
            storm.rage(Lab.stress() * STORM_NANOS, watcher);
            storm.calm();
            // The monitor's own measure is the rescue count, which close() looks at: 10 ms. From
            // outside, one cannot see threads that the kernel holds up while they decide.
            assertTrue(
                watcher.longestIdleNanos < 1_000_000_000L,
                () -> "a processor idled for " + watcher.longestIdleNanos + " ns");
            assertEquals(storm.started.get(), storm.ended.get());
          }
        });
  }

  /// Spec item 75.
  @ParameterizedTest
  @ValueSource(ints = {2, 8})
  void searchersStayAtHalfOfTheBusyProcessors(int procs) {
    Lab.seeded(
        seed -> {
          try (var lab = Lab.procs(procs)) {
            var storm = new Storm(lab, seed);
            var watcher = new Watcher(lab);
            storm.rage(Lab.stress() * STORM_NANOS / 2, watcher);
            storm.calm();
            assertTrue(watcher.looks > 1_000, () -> "only " + watcher.looks + " looks");
            assertTrue(
                watcher.tooManySearchers * 100 < watcher.looks,
                () -> watcher.tooManySearchers + " of " + watcher.looks + " looks saw too many");
            // One that a wake-up started, and one or two that raced past the limit.
            assertTrue(
                watcher.mostSearchers <= procs / 2 + 3,
                () -> watcher.mostSearchers + " searchers at once");
            Lab.await("nobody searches", () -> lab.scheduler().stats().searching() == 0);
          }
        });
  }

  /// What a bystander sees.
  private static final class Watcher {
    private final Lab lab;
    private long idleSinceNanos;
    long longestIdleNanos;
    long looks;
    long tooManySearchers;
    int mostSearchers;

    Watcher(Lab lab) {
      this.lab = lab;
    }

    void look() {
      Stats s = lab.scheduler().stats();
      long now = System.nanoTime();
      looks++;
      mostSearchers = Math.max(mostSearchers, s.searching());
      // The figures are read one after the other: a P may have become idle in between.
      int busy = s.maxProcs() - s.idleProcs();
      if (s.searching() > busy / 2 + 1) {
        tooManySearchers++;
      }
      boolean idleWithWork = s.globalQueue() > 0 && s.idleProcs() > 0 && s.searching() == 0;
      if (!idleWithWork) {
        idleSinceNanos = 0;
      } else if (idleSinceNanos == 0) {
        idleSinceNanos = now;
      } else {
        longestIdleNanos = Math.max(longestIdleNanos, now - idleSinceNanos);
      }
    }
  }

  private static final class Storm {
    private static final int MOST_ALIVE = 500;

    private final Lab lab;
    private final long seed;
    private final AtomicBoolean over = new AtomicBoolean();
    private final ConcurrentLinkedQueue<Parked> parked = new ConcurrentLinkedQueue<>();
    final AtomicInteger started = new AtomicInteger();
    final AtomicInteger ended = new AtomicInteger();

    private static final class Parked {
      final Thread thread = Thread.currentThread();
      volatile boolean woken;
    }

    Storm(Lab lab, long seed) {
      this.lab = lab;
      this.seed = seed;
    }

    /// Bursts from this platform thread, with pauses of all lengths.
    void rage(long nanos, Watcher watcher) {
      var random = new Random(seed);
      long end = System.nanoTime() + nanos;
      while (end - System.nanoTime() > 0) {
        int burst = random.nextInt(8);
        for (int i = 0; i < burst; i++) {
          spawn(random.nextLong());
        }
        wake(random.nextInt(4));
        long pause = 1L << random.nextInt(18); // up to 131 us
        long until = System.nanoTime() + pause;
        do {
          watcher.look();
        } while (until - System.nanoTime() > 0);
      }
    }

    void calm() {
      over.set(true);
      Lab.await(
          "the storm ends",
          () -> {
            wake(Integer.MAX_VALUE);
            return started.get() == ended.get();
          });
    }

    private void spawn(long itsSeed) {
      if (started.get() - ended.get() > MOST_ALIVE) {
        return;
      }
      started.incrementAndGet();
      lab.go(() -> live(new Random(itsSeed)));
    }

    private void live(Random random) {
      for (int steps = random.nextInt(10); steps > 0; steps--) {
        switch (random.nextInt(5)) {
          case 0 -> spawn(random.nextLong());
          case 1 -> park();
          case 2 -> wake(2);
          case 3 -> Gloom.gosched();
          default -> Lab.spin(random.nextInt(50_000));
        }
      }
      ended.incrementAndGet();
    }

    private void park() {
      var me = new Parked();
      parked.add(me);
      while (!me.woken && !over.get()) {
        LockSupport.park();
      }
    }

    private void wake(int most) {
      for (int i = 0; i < most; i++) {
        Parked p = parked.poll();
        if (p == null) {
          return;
        }
        p.woken = true;
        LockSupport.unpark(p.thread);
      }
    }
  }
}
