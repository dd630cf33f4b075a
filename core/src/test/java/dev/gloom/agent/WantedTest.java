package dev.gloom.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// When a class that was caught gets its checks.
class WantedTest {
  private static final long NOW = 1_000;
  private static final long LATER = NOW + Wanted.STAY_NANOS;

  /// Nobody is on its stack.
  private static final Thread ENDED = new Thread();

  private final Wanted wanted = new Wanted();

  @BeforeEach
  void twoAreWanted() {
    assertTrue(wanted.add("A", ENDED, "loop"));
    assertTrue(wanted.add("B", ENDED, "loop"));
  }

  @Test
  void nobodyIsInIt() {
    var running = Map.of(1L, Set.of("A", "C"), 2L, Set.<String>of());
    assertFalse(wanted.isRipe("A", running, false, NOW));
    assertTrue(wanted.isRipe("B", running, false, NOW));
    assertEquals(List.of("A"), wanted.names(), "once each");
    assertTrue(wanted.isRipe("A", Map.of(1L, Set.of("C")), false, NOW + 1));
    assertTrue(wanted.isEmpty());
  }

  @Test
  void oneThatStaysInItIsLeftAloneAsLongAsThereIsRoom() {
    var inside = Map.of(1L, Set.of("A"));
    assertFalse(wanted.isRipe("A", inside, false, NOW));
    assertFalse(wanted.isRipe("A", inside, false, LATER));
    assertTrue(wanted.isRipe("A", inside, true, LATER));
  }

  @Test
  void whenThereIsNoRoomTheClassWaitsForThoseInIt() {
    var inside = Map.of(1L, Set.of("A"));
    assertFalse(wanted.isRipe("A", inside, true, NOW));
    assertFalse(wanted.isRipe("A", inside, true, LATER - 1));
    assertTrue(wanted.isRipe("A", inside, true, LATER));
  }

  @Test
  void severalComeAndGo() {
    var in = Set.of("A");
    assertFalse(wanted.isRipe("A", Map.of(1L, in), true, NOW));
    assertFalse(wanted.isRipe("A", Map.of(1L, in, 2L, in), true, LATER - 2));
    assertFalse(wanted.isRipe("A", Map.of(2L, in, 3L, in), true, LATER));
    assertFalse(wanted.isRipe("A", Map.of(3L, in, 1L, in), true, LATER + 1_000));
    assertTrue(wanted.names().contains("A"));
  }

  @Test
  void askedForTwiceIsNoNewBeginning() {
    var inside = Map.of(1L, Set.of("A", "B"));
    assertFalse(wanted.isRipe("A", inside, true, NOW));
    assertFalse(wanted.add("A", ENDED, "loop"));
    assertTrue(wanted.isRipe("A", inside, true, LATER));
  }

  // Those that were caught, and do not run now.

  @Test
  void oneThatWaitsWhereItWasCaughtIsInside() throws Exception {
    var worker = new Worker();
    Thread thread = Thread.ofVirtual().start(worker::takes);
    worker.awaitWaiting(thread);
    String name = Worker.class.getName();
    wanted.add(name, ENDED, "takes");
    wanted.add(name, thread, "takes");
    wanted.add(name, thread, "takes");
    assertFalse(wanted.isRipe(name, Map.of(), false, NOW));
    assertFalse(wanted.isRipe(name, Map.of(), true, LATER), "it holds nobody up");
    worker.goOn.countDown();
    thread.join();
    assertTrue(wanted.isRipe(name, Map.of(), false, NOW));
  }

  @Test
  void oneThatWaitsInAnotherMethodIsNot() throws Exception {
    var worker = new Worker();
    Thread thread = Thread.ofVirtual().start(worker::takes);
    worker.awaitWaiting(thread);
    String name = Worker.class.getName();
    wanted.add(name, thread, "computes");
    assertTrue(wanted.isRipe(name, Map.of(), false, NOW));
    worker.goOn.countDown();
    thread.join();
  }

  private static final class Worker {
    final CountDownLatch goOn = new CountDownLatch(1);

    void takes() {
      try {
        goOn.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    void awaitWaiting(Thread thread) {
      while (thread.getState() != Thread.State.WAITING) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void nobodyIsWantedAnyMore() {
    wanted.clear();
    assertTrue(wanted.isEmpty());
    assertEquals(List.of(), wanted.names());
  }

  @Test
  void whoWasCaughtFirstComesFirst() {
    var many = new Wanted();
    var names = List.of("app.Loop", "app.Handler", "app.Server", "app.Main", "lib.Worker");
    names.forEach(name -> many.add(name, ENDED, "loop"));
    many.isRipe("app.Loop", Map.of(7L, Set.of("app.Loop")), false, 0);
    assertEquals(names, many.names());
  }
}
