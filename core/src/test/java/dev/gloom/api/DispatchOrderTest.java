package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gloom.Chan;
import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Who runs after whom on one processor: spec section 4.12.
@Timeout(60)
class DispatchOrderTest {
  /// Spec items 53 and 57: the one made ready last runs next when its waker blocks; whom it pushed
  /// out of run-next goes to the tail of the local queue.
  @Test
  void theOneMadeReadyLastRunsNextAndWhomItPushedOutRunsLast() throws Exception {
    Lab.settles(
        List.of("waker", "woken", "queued 1", "queued 2", "queued 3"),
        () ->
            orderOnOneProcessor(
                (lab, order) -> {
                  Goroutine woken =
                      lab.go(
                          () -> {
                            LockSupport.park();
                            order.add("woken");
                          });
                  while (woken.state() != Goroutine.State.WAITING) {
                    Gloom.gosched();
                  }
                  for (int i = 1; i <= 3; i++) {
                    String name = "queued " + i;
                    lab.go(() -> order.add(name));
                  }
                  LockSupport.unpark(woken.thread());
                  order.add("waker"); // goes on: to make ready is not to switch
                  woken.join();
                }));
  }

  /// Spec item 54.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 10, 100, 256})
  void nGoStatementsRunTheLastFirstAndThenInOrder(int n) throws Exception {
    var expected = new ArrayList<String>();
    expected.add("" + n);
    for (int i = 1; i < n; i++) {
      expected.add("" + i);
    }
    Lab.settles(
        expected,
        () ->
            orderOnOneProcessor(
                (lab, order) -> {
                  Goroutine last = null;
                  for (int i = 1; i <= n; i++) {
                    String name = "" + i;
                    last = lab.go(() -> order.add(name));
                  }
                  last.join();
                }));
  }

  /// Spec item 55.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5, 20})
  void closeRunsTheFirstReceiverFirstAndThenTheLastToTheSecond(int n) throws Exception {
    var expected = new ArrayList<String>();
    expected.add("1");
    for (int i = n; i > 1; i--) {
      expected.add("" + i);
    }
    Lab.settles(
        expected,
        () ->
            orderOnOneProcessor(
                (lab, order) -> {
                  Chan<String> ch = Chan.make();
                  for (int i = 1; i <= n; i++) {
                    String name = "" + i;
                    Goroutine g =
                        lab.go(
                            () -> {
                              ch.recv();
                              order.add(name);
                            });
                    while (g.state() != Goroutine.State.WAITING) {
                      Gloom.gosched();
                    }
                  }
                  ch.close();
                }));
  }

  /// A goroutine that is woken by a send runs when its sender waits, before all others.
  @Test
  void whoGetsAValueRunsNextAfterItsSender() throws Exception {
    Lab.settles(
        List.of("sent", "received", "other"),
        () ->
            orderOnOneProcessor(
                (lab, order) -> {
                  Chan<String> ch = Chan.make();
                  Goroutine g =
                      lab.go(
                          () -> {
                            ch.recv();
                            order.add("received");
                          });
                  while (g.state() != Goroutine.State.WAITING) {
                    Gloom.gosched();
                  }
                  lab.go(() -> order.add("other"));
                  ch.send("value");
                  order.add("sent");
                  g.join();
                }));
  }

  /// Spec item 69.
  @ParameterizedTest
  @ValueSource(ints = {1, 10, 40})
  void whoYieldsRunsAfterEverybodyWhoIsQueued(int n) throws Exception {
    Lab.settles(
        n,
        () -> {
          var order =
              orderOnOneProcessor(
                  (lab, o) -> {
                    for (int i = 1; i <= n; i++) {
                      String name = "" + i;
                      lab.go(() -> o.add(name));
                    }
                    Gloom.gosched();
                    o.add("yielder");
                  });
          return order.indexOf("yielder");
        });
  }

  /// The same when the monitor has asked the one that yields to do so: it has had its slice, and so
  /// has whoever is in run-next, but that one was there before.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 10})
  void whoYieldsAfterItsSliceRunsAfterEverybodyWhoIsQueued(int n) throws Exception {
    var order =
        orderOnOneProcessor(
            (lab, o) -> {
              for (int i = 1; i <= n; i++) {
                String name = "" + i;
                lab.go(() -> o.add(name));
              }
              Lab.spin(50_000_000); // five slices: the monitor has noticed
              Gloom.gosched();
              o.add("yielder");
            });
    assertEquals(n, order.indexOf("yielder"), () -> order.toString());
  }

  /// Those who yield take turns in the order in which they yielded: the queue behind them is fair.
  @Test
  void thoseWhoYieldTakeTurns() throws Exception {
    Lab.settles(
        List.of("a", "b", "c", "a", "b", "c", "a", "b", "c"),
        () ->
            orderOnOneProcessor(
                (lab, order) -> {
                  Goroutine last = null;
                  for (String name : List.of("b", "c", "a")) { // the last one starts
                    last =
                        lab.go(
                            () -> {
                              for (int i = 0; i < 3; i++) {
                                order.add(name);
                                Gloom.gosched();
                              }
                            });
                  }
                  last.join();
                }));
  }

  /// Whoever starts more than its processor's queue holds lets those run first: never many more
  /// than a queue and what runs are alive at once.
  @Test
  void whoHasFilledItsQueueLetsThoseRunThatItStarted() throws Exception {
    Lab.settles(
        true,
        () -> {
          int most = mostAlive(false);
          return most > 256 && most < 600;
        });
  }

  /// But not if it is to run undisturbed.
  @Test
  void oneThatRunsUndisturbedStartsAsManyAsItLikes() throws Exception {
    Lab.settles(STARTS, () -> mostAlive(true));
  }

  private static final int STARTS = 10_000;

  private static int mostAlive(boolean undisturbed) throws Exception {
    var ended = new AtomicInteger();
    var most = new AtomicInteger();
    try (var lab = Lab.procs(1)) {
      Callable<Integer> start =
          () -> {
            for (int i = 1; i <= STARTS; i++) {
              lab.go(ended::getAndIncrement);
              most.set(Math.max(most.get(), i - ended.get()));
            }
            return STARTS;
          };
      lab.run(() -> assertEquals(STARTS, undisturbed ? Gloom.nonPreemptible(start) : start.call()));
    }
    assertEquals(STARTS, ended.get());
    return most.get();
  }

  /// A goroutine that is alone goes on at once: a yield with nobody in line is no dispatch.
  @Test
  void aYieldWithNobodyInLineDoesNothing() throws Exception {
    try (var lab = Lab.procs(1)) {
      lab.run(
          () -> {
            long before = lab.scheduler().stats().dispatches();
            for (int i = 0; i < 1_000; i++) {
              Gloom.gosched();
            }
            // The monitor may ask for a switch or two on a machine that is busy with other things.
            long switches = lab.scheduler().stats().dispatches() - before;
            assertEquals(0, switches / 100, () -> switches + " switches");
          });
    }
  }

  @Test
  void goschedOnAPlatformThreadReturns() {
    for (int i = 0; i < 100; i++) {
      Gloom.gosched();
    }
  }

  private interface Scene {
    void play(Lab lab, ConcurrentLinkedQueue<String> order) throws Exception;
  }

  private static List<String> orderOnOneProcessor(Scene scene) throws Exception {
    var order = new ConcurrentLinkedQueue<String>();
    try (var lab = Lab.procs(1)) {
      lab.run(() -> scene.play(lab, order));
    }
    return List.copyOf(order);
  }
}
