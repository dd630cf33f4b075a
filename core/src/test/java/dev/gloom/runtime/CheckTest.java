package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.Lab;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Where a check acts and where not, on one P. The goroutines ask themselves, so that nothing here
/// depends on time.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CheckTest {
  /// Its kernel says of no thread that it sleeps: one may, inside the JVM, and would lose its P.
  private static final Sched SCHED =
      new Sched(
          1,
          new Knobs(1, false, true),
          42,
          Clock.SYSTEM,
          Parker.SYSTEM,
          Cpus.ofProcess(),
          new Still.HandKernel());

  private static final Check CHECK = new Check();

  private final List<String> order = Collections.synchronizedList(new ArrayList<>());
  private final long before = stops();

  @AfterEach
  void nobodyWasRescued() {
    Lab.await("all have ended", () -> SCHED.numGoroutine() == 0);
    assertEquals(0, SCHED.counters().rescues());
  }

  private static P p() {
    return SCHED.procs().all[0];
  }

  private static long stops() {
    return SCHED.counters().preemptedAtChecks();
  }

  private long newStops() {
    return stops() - before;
  }

  private static void run(Callable<?> body) throws Exception {
    assertNull(SCHED.run(body));
  }

  /// Has the calling goroutine asked to stop, and comes to a check.
  private static void askedAtACheck() {
    p().globalAt = p().tick + 50; // no 61st tick meanwhile: that one has an order of its own
    p().ask(P.PREEMPT);
    CHECK.here(true);
  }

  /// Puts goroutines into the global queue, where those from other threads go.
  private void globally(String... names) {
    Thread outside =
        new Thread(
            () -> {
              for (String name : names) {
                Spawn.go(SCHED, name, () -> order.add(name));
              }
            });
    outside.start();
    while (outside.isAlive()) { // without a scheduling point
      Thread.onSpinWait();
    }
  }

  @Test
  void stopsAGoroutineThatIsAskedBehindAllInTheGlobalQueue() throws Exception {
    Lab.settles(
        List.of("b", "c", "a", "d"),
        () -> {
          order.clear();
          run(
              () -> {
                globally("b", "c");
                askedAtACheck();
                order.add("a");
                globally("d");
                askedAtACheck();
                return null;
              });
          return List.copyOf(order);
        });
  }

  /// The tail of the queue itself: who comes later is behind it.
  @Test
  void aheadOfThoseThatComeLater() throws Exception {
    Lab.settles(
        List.of("b", "a", "c"),
        () -> {
          order.clear();
          run(
              () -> {
                Thread outside =
                    new Thread(
                        () ->
                            Spawn.go(
                                SCHED,
                                "b",
                                () -> {
                                  order.add("b");
                                  globally("c");
                                  return null;
                                }));
                outside.start();
                while (outside.isAlive()) {
                  Thread.onSpinWait();
                }
                askedAtACheck();
                order.add("a");
                return null;
              });
          Lab.await("all have ended", () -> SCHED.numGoroutine() == 0);
          return List.copyOf(order);
        });
  }

  @Test
  void behindThoseThatYieldedHere() throws Exception {
    Lab.settles(
        List.of("yields", "goes on", "a"),
        () -> {
          order.clear();
          run(
              () -> {
                Spawn.go(
                    SCHED,
                    "",
                    () -> {
                      order.add("yields");
                      Thread.yield();
                      order.add("goes on");
                      return null;
                    });
                Thread.yield(); // the other one runs, and yields
                askedAtACheck();
                order.add("a");
                return null;
              });
          return List.copyOf(order);
        });
  }

  @Test
  void itsStateIsRunnableMeanwhile() throws Exception {
    var state = new ArrayList<G.Status>();
    run(
        () -> {
          G self = Sched.currentG();
          Thread outside = new Thread(() -> Spawn.go(SCHED, "", () -> state.add(self.status())));
          outside.start();
          while (outside.isAlive()) {
            Thread.onSpinWait();
          }
          askedAtACheck();
          return null;
        });
    Lab.await("the other has run", () -> SCHED.numGoroutine() == 0);
    assertEquals(List.of(G.Status.RUNNABLE), state);
  }

  /// Go: run-next is kept. A chain at scheduling points goes to the back instead (FairnessTest).
  @Test
  void itsRunNextRunsAtOnce() throws Exception {
    Lab.settles(
        List.of("woken", "b", "a"),
        () -> {
          order.clear();
          run(
              () -> {
                globally("b");
                Spawn.go(SCHED, "", () -> order.add("woken"));
                askedAtACheck();
                order.add("a");
                return null;
              });
          return List.copyOf(order);
        });
  }

  @Test
  void doesNothingToOneThatIsNotAsked() throws Exception {
    run(
        () -> {
          p().served(P.PREEMPT);
          for (int i = 0; i < 1_000; i++) {
            CHECK.here(true);
          }
          return null;
        });
    assertTrue(newStops() <= 1, "sysmon may have asked once on a slow machine");
  }

  @Test
  void isNothingToAPlatformThread() {
    p().ask(P.PREEMPT);
    CHECK.here(true);
    p().served(P.PREEMPT);
    assertEquals(0, newStops());
  }

  @Test
  void isNothingInsideACallThatHasLeftItsProcessor() throws Exception {
    run(
        () ->
            Blocking.call(
                () -> {
                  p().ask(P.PREEMPT);
                  CHECK.here(true);
                  return null;
                },
                false));
    assertEquals(0, newStops());
  }

  @Test
  void leavesTheUndisturbedAloneUntilTheyAreDone() throws Exception {
    run(
        () -> {
          globally("b");
          Undisturbed.call(
              () -> {
                askedAtACheck();
                Undisturbed.call(
                    () -> {
                      CHECK.here(true);
                      return null;
                    });
                CHECK.here(true); // the inner one does not end the outer one
                Spawn.go(SCHED, "", () -> order.add("c")); // nor is a scheduling point one
                order.add("a");
                return null;
              });
          order.add("after");
          return null;
        });
    assertEquals("a", order.getFirst());
    assertEquals(0, newStops());
    Lab.await("the others have run", () -> order.size() == 4);
    assertTrue(
        order.indexOf("after") > order.indexOf("b"), () -> "its end lets others run: " + order);
  }

  @Test
  void aGoroutineMadeSoIsNeverStopped() throws Exception {
    G g =
        Undisturbed.always(
            Spawn.make(
                SCHED,
                "",
                () -> {
                  askedAtACheck();
                  return null;
                },
                null));
    g.thread().start();
    assertNull(g.join());
    assertEquals(0, newStops());
  }

  @Test
  void anUndisturbedCallElsewhereIsJustACall() throws Exception {
    assertEquals("x", Undisturbed.call(() -> "x"));
  }

  @Test
  void monitorsAndLocksAreNoObstacle() throws Exception {
    var lock = new ReentrantLock();
    run(
        () -> {
          lock.lock();
          synchronized (lock) {
            globally("b");
            askedAtACheck();
            order.add("a");
          }
          lock.unlock();
          return null;
        });
    assertEquals(List.of("b", "a"), order);
    assertEquals(1, newStops());
  }

  /// A class initialiser pins.
  static final class Pinned {
    static final boolean DONE;

    static {
      askedAtACheck();
      assertEquals(0, p().request & P.PREEMPT, "the request is taken back");
      assertTrue(Hogs.isStuck(p()), "layer 3 knows");
      CHECK.here(true); // not asked any more: not tried again
      DONE = true;
    }
  }

  @Test
  void aYieldThatFailsIsNotTriedAgainInThatSlice() throws Exception {
    var done = new AtomicBoolean();
    run(
        () -> {
          done.set(Pinned.DONE);
          assertFalse(M.current().stepsBack);
          globally("b");
          askedAtACheck(); // in the next one it is
          order.add("a");
          return null;
        });
    assertTrue(done.get());
    assertEquals(1, newStops());
    assertEquals(List.of("b", "a"), order);
  }

  @Test
  void aStackOverflowOfTheYieldStaysInside() throws Exception {
    var escaped = new ArrayList<Throwable>();
    var overflows = new int[1];
    run(
        () -> {
          descend(escaped, overflows);
          return null;
        });
    assertEquals(1, overflows[0], "its own, at the end of its stack");
    assertEquals(List.of(), escaped);
    run(
        () -> {
          globally("b");
          askedAtACheck();
          order.add("a");
          return null;
        });
    assertEquals(List.of("b", "a"), order, "all is as before");
  }

  /// Recursion to the end of the stack, with a check that acts in each frame on the way back up, so
  /// that each has a little more stack than the one before.
  @SuppressWarnings("InfiniteRecursion") // that is the point
  private static int descend(List<Throwable> escaped, int[] overflows) {
    int depth;
    try {
      depth = 1 + descend(escaped, overflows);
    } catch (StackOverflowError e) {
      overflows[0]++;
      return 0;
    }
    if (depth < 200) {
      try {
        askedAtACheck();
      } catch (StackOverflowError e) {
        // There must be stack for the call of the check itself, as for any other call.
        if (depth > 20) {
          escaped.add(e);
        }
      }
    }
    return depth;
  }
}
