package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.Lab;
import dev.gloom.jdk.Carrier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Goroutines that lose their P, on real threads: every way in which their M then notices it, and
/// that no P is lost or doubled meanwhile.
@Timeout(120)
@EnabledOnOs(OS.LINUX)
class OrphanRunTest {
  private Sched sched;

  @BeforeAll
  static void linksTheCall() {
    NativeSleep.micros(1);
  }

  private void procs(int n) {
    sched = new Sched(n, new Knobs(n, false, true));
  }

  private G go(Callable<?> body) {
    return Spawn.go(sched, "", body);
  }

  /// All Ps come back to the idle list, as many as there are to be; no orphan stays; nobody was
  /// rescued.
  @AfterEach
  void nothingIsLostOrDoubled() throws Exception {
    Lab.await(() -> "not quiet: " + sched.describe(), Duration.ofSeconds(30), this::quiet);
    for (int i = 0; i < 1_000 && sched.counters().orphans() != 0; i++) {
      sched.run(() -> null); // sysmon forgets them while something goes on
      Lab.spin(1_000_000);
    }
    assertEquals(0, sched.counters().orphans(), sched::describe);
    assertEquals(0, sched.counters().rescues(), sched::describe);
    assertEquals(0, sched.counters().overcommitted(), sched::describe);
    Lab.await(() -> "not quiet: " + sched.describe(), Duration.ofSeconds(30), this::quiet);
    sched.close();
    Lab.await(
        () -> "threads do not end: " + sched.describe(),
        Duration.ofSeconds(30),
        sched::hasNoThreads);
  }

  private boolean quiet() {
    return sched.numGoroutine() == 0
        && sched.idle.idleProcs() == sched.maxProcs()
        && sched.idle.searching() == 0;
  }

  // Blocked.

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void othersRunWhileNativeCallsHoldAllProcessors(int procs) throws Exception {
    procs(procs);
    var back = new AtomicInteger();
    var seen = new AtomicInteger(-1);
    for (int i = 0; i < procs; i++) {
      go(
          () -> {
            NativeSleep.micros(900_000);
            back.incrementAndGet();
            return null;
          });
    }
    Lab.await("all are in the call", () -> sched.counters().dispatches() >= procs);
    go(() -> {
          seen.set(back.get());
          return null;
        })
        .join();
    assertEquals(0, seen.get(), "nobody was back when it ran");
    assertTrue(sched.counters().takenBlocked() >= 1, sched::describe);
  }

  // Burning: how it notices.

  enum Way {
    GOSCHED {
      @Override
      void go(Sched sched) {
        Sched.gosched();
      }
    },
    SLEEP {
      @Override
      void go(Sched sched) throws Exception {
        Thread.sleep(2);
      }
    },
    SPAWN_AND_JOIN {
      @Override
      void go(Sched sched) throws Exception {
        Spawn.go(sched, "", () -> null).join();
      }
    },
    SHORT_CALL {
      @Override
      void go(Sched sched) throws Exception {
        assertEquals("done", Blocking.call(() -> "done", false));
      }
    },
    LONG_CALL {
      @Override
      void go(Sched sched) throws Exception {
        assertEquals("done", Blocking.call(() -> "done", true));
      }
    },
    LOCKED {
      @Override
      void go(Sched sched) throws Exception {
        ThreadLock.lock();
        Thread before = Carrier.current();
        Sched.gosched();
        Thread.sleep(1);
        assertEquals(before, Carrier.current());
        ThreadLock.unlock();
      }
    },
    ENDS_LOCKED {
      @Override
      void go(Sched sched) {
        ThreadLock.lock();
      }
    },
    MORE_PROCS {
      @Override
      void go(Sched sched) {
        sched.maxProcs(sched.maxProcs() + 1);
      }
    },
    FEWER_PROCS {
      @Override
      void go(Sched sched) {
        sched.maxProcs(Math.max(1, sched.maxProcs() - 1));
      }
    },
    ENDS {
      @Override
      void go(Sched sched) {}
    };

    abstract void go(Sched sched) throws Exception;
  }

  @ParameterizedTest
  @EnumSource
  void whoLosesItsProcessorGoesOn(Way way) throws Exception {
    for (int procs : new int[] {1, 2}) {
      procs(procs);
      loseAll(procs, way);
      if (procs == 1) {
        nothingIsLostOrDoubled();
      }
    }
  }

  /// As many as there are Ps compute until another one has run.
  private void loseAll(int procs, Way way) throws Exception {
    var lost = new AtomicBoolean();
    var running = new AtomicInteger();
    var failed = new AtomicInteger(procs);
    List<G> all = new ArrayList<>();
    for (int i = 0; i < procs; i++) {
      all.add(
          go(
              () -> {
                running.incrementAndGet();
                while (!lost.get()) {
                  Thread.onSpinWait();
                }
                way.go(sched);
                failed.decrementAndGet();
                return null;
              }));
    }
    Lab.await("all compute", () -> running.get() == procs);
    go(
        () -> {
          lost.set(true);
          return null;
        });
    for (G g : all) {
      g.join();
    }
    assertEquals(0, failed.get());
    // It burns, but it may also have slept inside the JVM, in a pause of the collector's.
    Sched.Counters seen = sched.counters();
    assertTrue(seen.takenBurning() + seen.takenBlocked() >= 1, sched::describe);
  }

  /// So that the next time nobody waits for it to come to a check.
  @Test
  void whoLosesItsProcessorIsKnownToStopLateUntilItStopsInTime() throws Exception {
    procs(1);
    var lost = new AtomicBoolean();
    var running = new AtomicBoolean();
    var check = new Check();
    G hog =
        go(
            () -> {
              running.set(true);
              while (!lost.get()) {
                Thread.onSpinWait();
              }
              G self = Sched.currentG();
              assertFalse(self.stopsLate);
              while (!self.stopsLate) { // the sign may be down until sysmon raises it
                check.here(true);
              }
              Lab.await("stops in time", () -> stopsInTime(check, self));
              return null;
            });
    Lab.await("it computes", running::get);
    go(
        () -> {
          lost.set(true);
          return null;
        });
    assertNull(hog.join());
    assertTrue(sched.counters().preemptedAtChecks() >= 2, sched::describe);
  }

  /// The helper waits for that, to give checks to the class in which it computed.
  @Test
  void theHelperIsToldWhenOneWithoutAProcessorHasEnded() throws Exception {
    procs(1);
    var woken = new AtomicInteger();
    var others = new AtomicBoolean();
    var mayEnd = new AtomicBoolean();
    Hogs.helper(woken::incrementAndGet);
    Hogs.expectLeaving(true);
    try {
      G hog =
          go(
              () -> {
                while (!mayEnd.get()) {
                  Thread.onSpinWait();
                }
                return null;
              });
      go(
          () -> {
            others.set(true);
            return null;
          });
      Lab.await("its processor is taken", others::get);
      assertFalse(Hogs.anyLeft(), "it computes still");
      int before = woken.get();
      mayEnd.set(true);
      hog.join();
      Lab.await("the helper is told", () -> woken.get() > before && Hogs.anyLeft());
      assertFalse(Hogs.anyLeft(), "once");
      Hogs.expectLeaving(false);
      Hogs.leaves();
      assertFalse(Hogs.anyLeft(), "nobody waits for it");
    } finally {
      Hogs.expectLeaving(false);
      Hogs.helper(null);
    }
  }

  /// Asks the caller's own P, unless that has been taken again.
  private static boolean stopsInTime(Check check, G self) {
    M m = M.current();
    P p = m == null ? null : m.p;
    if (p != null && p.status == P.HELD) {
      p.ask(P.PREEMPT);
    }
    check.here(true);
    return !self.stopsLate;
  }

  // All of it at once.

  @Test
  void nothingIsLostInTheThickOfIt() throws Exception {
    procs(2);
    var random = new Random(Long.getLong("gloom.seed", 7));
    var stop = new AtomicBoolean();
    var sizes = new Thread(() -> resize(stop, new Random(3)));
    sizes.start();
    var ran = new AtomicInteger();
    List<G> all = new ArrayList<>();
    int n = 60 * Lab.stress();
    for (int i = 0; i < n; i++) {
      long seed = random.nextLong();
      all.add(
          go(
              () -> {
                thick(new Random(seed), ran);
                return null;
              }));
    }
    for (G g : all) {
      g.join();
    }
    stop.set(true);
    sizes.join();
    assertEquals(2 * n, ran.get());
    assertTrue(sched.counters().takenBlocked() >= 1, sched::describe);
  }

  private void thick(Random random, AtomicInteger ran) throws Exception {
    for (int i = 0; i < 8; i++) {
      switch (random.nextInt(8)) {
        case 0 -> NativeSleep.micros(random.nextInt(4_000));
        case 1 -> Lab.spin(random.nextInt(2_000_000));
        case 2 -> Lab.spin(random.nextInt(10) == 0 ? 25_000_000 : 10_000);
        case 3 -> Sched.gosched();
        case 4 -> Thread.sleep(0, random.nextInt(900_000));
        case 5 -> Blocking.call(() -> spun(random), random.nextBoolean());
        case 6 -> {
          ThreadLock.lock();
          NativeSleep.micros(random.nextInt(500));
          Thread.sleep(1);
          ThreadLock.unlock();
        }
        default -> Spawn.go(sched, "", () -> null).join();
      }
    }
    ran.incrementAndGet();
    G child =
        Spawn.go(
            sched,
            "",
            () -> {
              NativeSleep.micros(300);
              return ran.incrementAndGet();
            });
    child.join();
  }

  private static int spun(Random random) {
    Lab.spin(random.nextInt(500_000));
    return 0;
  }

  private void resize(AtomicBoolean stop, Random random) {
    while (!stop.get()) {
      sched.maxProcs(1 + random.nextInt(4));
      Lab.spin(3_000_000);
    }
  }
}
