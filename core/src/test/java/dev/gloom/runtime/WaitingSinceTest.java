package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.Lab;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// For how many minutes a goroutine has waited, on a clock that jumps.
@Timeout(60)
class WaitingSinceTest {
  private static final long SECOND = 1_000_000_000;

  private final AtomicLong ahead = new AtomicLong();
  private final Sched sched =
      new Sched(
          2, new Knobs(2, false, true), 1, () -> System.nanoTime() + ahead.get(), Parker.SYSTEM);

  @AfterEach
  void end() {
    sched.close();
  }

  private G parked() {
    G g = Spawn.go(sched, "", () -> park());
    Lab.await("parks", () -> g.status() == G.Status.WAITING && g.waitedNanos() > 0);
    return g;
  }

  private static Object park() {
    LockSupport.park();
    return null;
  }

  private static void end(G g) throws InterruptedException {
    LockSupport.unpark(g.thread());
    g.join();
  }

  @Test
  void minutesAreCountedFromTheFirstFullOne() throws Exception {
    G g = parked();
    ahead.set(50 * SECOND);
    assertEquals("goroutine 1 [park]:", header());
    ahead.set(61 * SECOND);
    assertEquals("goroutine 1 [park, 1 minutes]:", header());
    ahead.set(200 * SECOND);
    assertEquals("goroutine 1 [park, 3 minutes]:", header());
    end(g);
  }

  @Test
  void waitBeginsAnewAfterAWakeUp() throws Exception {
    G g =
        Spawn.go(
            sched,
            "",
            () -> {
              while (!Thread.interrupted()) {
                park();
              }
              return null;
            });
    Lab.await("parks", () -> g.waitedNanos() > 0);
    ahead.set(3_600 * SECOND);
    assertTrue(g.waitedNanos() > 3_500 * SECOND);
    // The coarse clock may be a round of sysmon's old at the first time.
    Lab.await(
        "waits anew",
        () -> {
          LockSupport.unpark(g.thread());
          return g.waitedNanos() < 3_000 * SECOND;
        });
    g.thread().interrupt();
    g.join();
  }

  @Test
  void oneThatRunsDoesNotWait() throws Exception {
    G g = parked();
    G running =
        Spawn.go(
            sched,
            "",
            () -> {
              Lab.spin(50_000_000);
              return null;
            });
    Lab.await("runs", () -> running.status() == G.Status.RUNNING || !running.thread().isAlive());
    assertEquals(0, running.waitedNanos());
    running.join();
    end(g);
  }

  private String header() {
    return Dump.of(sched).lines().findFirst().orElse("");
  }
}
