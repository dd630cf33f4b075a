package dev.gloom.runtime;

import static java.lang.Thread.State.WAITING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.Lab;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Goroutines that meet, on real threads, with all who do not know of it around them.
@Timeout(120)
class MeetingRunTest {
  private final Sched sched = new Sched(2, new Knobs(2, false, true));
  private final Channel there = new Channel(0);
  private final Channel back = new Channel(0);

  private G go(Callable<?> body) {
    return Spawn.go(sched, "", body);
  }

  @AfterEach
  void nothingIsLeft() {
    Lab.await(
        () -> "not quiet: " + sched.describe(),
        Duration.ofSeconds(30),
        () -> sched.numGoroutine() == 0 && sched.idle.idleProcs() == 2);
    assertEquals(0, sched.counters().rescues(), sched::describe);
    sched.close();
  }

  /// So many round trips of a pair; what comes back is what went there.
  private void roundTrips(int n) throws Exception {
    G partner =
        go(
            () -> {
              for (Object value = there.recv(); value != null; value = there.recv()) {
                back.send(value);
              }
              return null;
            });
    sched.run(
        () -> {
          for (int i = 0; i < n; i++) {
            there.send(i);
            assertEquals(i, back.recv());
          }
          there.close();
          return null;
        });
    partner.thread().join();
  }

  @Test
  void valuesArriveOnceAndInOrder() throws Exception {
    try (var _ = new Apart(sched)) {
      roundTrips(300_000);
    }
    assertTrue(sched.counters().meetings() > 100_000, sched::describe);
  }

  @Test
  void nobodyMeetsOnOneProcessor() throws Exception {
    sched.maxProcs(1);
    try (var _ = new Apart(sched)) {
      roundTrips(10_000);
    }
    assertEquals(0, sched.counters().meetings());
    sched.maxProcs(2);
  }

  /// A third goroutine that only has a timer, and one that gets in by the global queue.
  @Test
  void othersGetTheirTurn() throws Exception {
    var turns = new AtomicInteger();
    var over = new AtomicBoolean();
    G third =
        go(
            () -> {
              while (!over.get()) {
                Thread.sleep(1);
                turns.incrementAndGet();
              }
              return null;
            });
    long start = System.nanoTime();
    try (var _ = new Apart(sched)) {
      roundTrips(500_000);
    }
    long millis = (System.nanoTime() - start) / 1_000_000;
    over.set(true);
    third.thread().join();
    assertTrue(sched.counters().meetings() > 100_000, sched::describe);
    assertTrue(turns.get() > millis / 10, turns + " in " + millis + " ms");
  }

  /// Whoever finds another receiver in the queue does not stand where a sender might see it first.
  @Test
  void nobodyIsOvertaken() throws Exception {
    try (var _ = new Apart(sched)) {
      for (int i = 0; i < 100; i++) {
        var channel = new Channel(0);
        Meeting meeting = channel.meeting();
        G first = go(channel::recv);
        Lab.await("the first waits", () -> first.thread().getState() == WAITING);
        G second = go(channel::recv);
        while (second.thread().getState() != WAITING) {
          assertFalse(meeting.give("value"));
        }
        channel.close();
        first.thread().join();
        second.thread().join();
      }
    }
  }
}
