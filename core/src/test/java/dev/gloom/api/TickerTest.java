package dev.gloom.api;

import static dev.gloom.Gloom.recv;
import static dev.gloom.Gloom.select;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Chan;
import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.RecvChan;
import dev.gloom.Ticker;
import dev.gloom.TryRecv;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Tickers: spec section 9.5, items 107, 108, 109 and 112 of section 15.
@Timeout(90)
class TickerTest {
  private static final Duration PERIOD = Duration.ofMillis(20);

  private static Instant next(RecvChan<Instant> c) throws InterruptedException {
    Instant at = c.recv();
    assertNotNull(at);
    return at;
  }

  private static void pass(long millis) throws InterruptedException {
    long start = System.nanoTime();
    while (System.nanoTime() - start < millis * 1_000_000) {
      Thread.sleep(1);
    }
  }

  /// Whether it is a whole number of periods, give or take what reading two clocks costs.
  private static void assertInPhase(Instant first, Instant later) {
    long off = Duration.between(first, later).toNanos() % PERIOD.toNanos();
    long distance = Math.min(off, PERIOD.toNanos() - off);
    assertTrue(distance < PERIOD.toNanos() / 4, distance + " ns out of phase");
  }

  /// The times are those of the ticks, so a busy machine does not move them; only a preemption
  /// between two readings of the clock does, and then it is tried again.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void slowReadersLoseTicksAndThePhaseIsKept(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Lab.settles(
          "kept",
          () -> {
            var outcome = new AtomicInteger();
            lab.run(
                () -> {
                  try (var ticker = new Ticker(PERIOD)) {
                    Instant first = next(ticker.c());
                    pass(110); // five ticks and a half
                    Instant second = next(ticker.c());
                    Instant third = next(ticker.c());
                    Instant fourth = next(ticker.c());
                    long kept = Duration.between(first, second).toMillis();
                    long gap = Duration.between(second, third).toMillis();
                    if (kept > 30 || gap < 70) {
                      return; // one is kept, the first; those between are gone
                    }
                    assertInPhase(first, third);
                    assertInPhase(first, fourth);
                    assertTrue(Duration.between(third, fourth).toMillis() >= 15);
                    outcome.set(1);
                  }
                });
            return outcome.get() == 1 ? "kept" : "not";
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void ticksComeToWhoWaitsNeverEarly(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            long start = System.nanoTime();
            try (var ticker = new Ticker(Duration.ofMillis(5))) {
              for (int i = 1; i <= 20; i++) {
                if (i % 2 == 0) {
                  next(ticker.c());
                } else {
                  select(recv(ticker.c(), t -> t));
                }
                long passed = System.nanoTime() - start;
                assertTrue(passed >= i * 5_000_000L, i + " ticks in " + passed + " ns");
              }
            }
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void allWhoWaitAreServedInTurn(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var ticker = new Ticker(Duration.ofHours(1));
            Chan<Integer> served = Chan.make(8);
            for (int i = 0; i < 8; i++) {
              int me = i;
              Lab.awaitWaiting(
                  Gloom.go(
                      () -> {
                        if (me == 0) {
                          ticker.c().iterator().next();
                        } else {
                          next(ticker.c());
                        }
                        served.send(me);
                      }));
            }
            ticker.reset(Duration.ofMillis(5));
            int sum = 0;
            for (int i = 0; i < 8; i++) {
              Integer who = served.recv();
              sum += who == null ? -100 : who;
            }
            assertEquals(28, sum);
            ticker.stop();
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void resetChangesThePeriodAndStopEndsItWithoutAClose(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var ticker = new Ticker(Duration.ofHours(1));
            Goroutine g = Gloom.go(() -> next(ticker.c()));
            Lab.awaitWaiting(g);
            ticker.reset(Duration.ofMillis(2));
            g.join();
            next(ticker.c());
            long start = System.nanoTime();
            ticker.reset(Duration.ofMillis(100));
            next(ticker.c());
            assertTrue(System.nanoTime() - start >= 100_000_000);
            ticker.reset(Duration.ofMillis(1));
            pass(20);
            ticker.stop();
            assertInstanceOf(TryRecv.Empty.class, ticker.c().tryRecv(), "neither value nor close");
            Goroutine waits = Gloom.go(() -> ticker.c().recv());
            Lab.awaitWaiting(waits);
            assertFalse(waits.join(Duration.ofMillis(50)));
            ticker.reset(Duration.ofMillis(1));
            waits.join();
            ticker.close();
            assertInstanceOf(TryRecv.Empty.class, ticker.c().tryRecv());
          });
    }
  }

  @Test
  void aPeriodOfZeroIsRefusedInGosWords() throws Exception {
    var e = assertThrows(IllegalArgumentException.class, () -> new Ticker(Duration.ZERO));
    assertEquals("non-positive interval for NewTicker: PT0S", e.getMessage());
    try (var ticker = new Ticker(PERIOD)) {
      e = assertThrows(IllegalArgumentException.class, () -> ticker.reset(Duration.ofNanos(-1)));
      assertEquals("non-positive interval for Ticker.Reset: PT-0.000000001S", e.getMessage());
      next(ticker.c());
    }
    RecvChan<Instant> never = Ticker.tick(Duration.ZERO);
    assertEquals(
        "never",
        select(recv(never, _ -> "tick"), Gloom.after(Duration.ofMillis(20), () -> "never")));
    assertInstanceOf(TryRecv.Empty.class, never.tryRecv());
    next(Ticker.tick(Duration.ofMillis(1)));
  }

  @Test
  void tickersThatNobodyRefersToAreCollected() throws Exception {
    try (var lab = Lab.procs(1)) {
      lab.run(
          () -> {
            var ref = new WeakReference<>(usedTicker());
            Lab.await(
                "collected",
                () -> {
                  System.gc();
                  return ref.refersTo(null);
                });
          });
    }
  }

  /// Has ticked for somebody who waited, and was not stopped.
  private static RecvChan<Instant> usedTicker() throws InterruptedException {
    var ticker = new Ticker(Duration.ofMillis(1));
    next(ticker.c());
    next(ticker.c());
    return ticker.c();
  }
}
