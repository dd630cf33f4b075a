package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Chan;
import dev.gloom.Context;
import dev.gloom.ContextException;
import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.Group;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Groups: spec section 11.9, item 123 of section 15.
@Timeout(90)
class GroupTest {
  private static final Duration LONG = Duration.ofHours(1);

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void awaitWaitsForAllAndEndsTheContext(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var group = new Group();
            var ran = new AtomicInteger();
            for (int i = 0; i < 100; i++) {
              group.go(
                  () -> {
                    Gloom.sleep(Duration.ofMillis(1));
                    assertNull(group.context().err());
                    ran.incrementAndGet();
                  });
            }
            group.await();
            assertEquals(100, ran.get());
            assertInstanceOf(ContextException.Canceled.class, group.context().cause());
            var e = assertThrows(IllegalStateException.class, () -> group.go(() -> {}));
            assertEquals("group: it is over, await has returned: make a new one", e.getMessage());
            group.await();
            group.close();
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void theFirstFailureCancelsWithItselfAsTheCauseAndIsThrownAsItIs(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var group = new Group();
            var first = new IOException("first");
            var seen = new AtomicReference<Throwable>();
            group.go(
                () -> {
                  group.context().done().recv();
                  throw new AssertionError("cannot come here: interrupted, or too late to count");
                });
            group.go(
                () -> {
                  try {
                    group.context().done().recv();
                  } catch (InterruptedException e) {
                    // either of the two may come first
                  }
                  seen.set(group.context().cause());
                  throw new IOException("second");
                });
            group.go(
                () -> {
                  throw first;
                });
            assertSame(first, assertThrows(IOException.class, group::await));
            assertSame(first, seen.get());
            assertSame(first, group.context().cause());
            assertSame(first, assertThrows(IOException.class, group::await), "each time");
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aFailureInterruptsThoseThatStillRunAndThoseThatComeLater(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var group = new Group();
            var interrupted = new AtomicInteger();
            for (int i = 0; i < 5; i++) {
              Lab.awaitWaiting(
                  group.go(
                      () -> {
                        try {
                          Thread.sleep(LONG);
                        } catch (InterruptedException e) {
                          interrupted.incrementAndGet();
                          throw e;
                        }
                      }));
            }
            group.go(
                () -> {
                  throw new Error("even an Error");
                });
            Lab.await("cancelled", () -> group.context().err() != null);
            group.go(() -> interrupted.addAndGet(Thread.interrupted() ? 10 : 0));
            assertEquals("even an Error", assertThrows(Error.class, group::await).getMessage());
            assertEquals(15, interrupted.get());
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void theLimitIsRespected(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var group = new Group().limit(3);
            var inside = new AtomicInteger();
            var most = new AtomicInteger();
            for (int i = 0; i < 60; i++) {
              group.go(
                  () -> {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    Gloom.sleep(Duration.ofMillis(1));
                    inside.decrementAndGet();
                  });
            }
            group.await();
            assertEquals(3, most.get());
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void goWaitsForItsTurnAndTryGoDoesNot(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var group = new Group().limit(1);
      Chan<Integer> gate = Chan.make();
      lab.run(
          () -> {
            assertTrue(group.tryGo(gate::recv));
            assertFalse(group.tryGo(() -> {}));
            var e = assertThrows(IllegalStateException.class, () -> group.limit(2));
            assertEquals(
                "errgroup: modify limit while 1 goroutines in the group are still active",
                e.getMessage());
          });
      var order = new AtomicReference<>("");
      Goroutine waits =
          lab.go(
              () -> {
                group.go(() -> order.accumulateAndGet("second ", String::concat));
                order.accumulateAndGet("started ", String::concat);
              });
      Lab.awaitWaiting(waits);
      assertEquals("chan send", waits.waitReason());
      Goroutine interrupted =
          lab.go(() -> assertThrows(InterruptedException.class, () -> group.go(() -> {})));
      Lab.awaitWaiting(interrupted);
      interrupted.thread().interrupt();
      interrupted.join();
      assertEquals("", order.get());
      gate.send(1);
      waits.join();
      group.await();
      assertEquals("second started ".length(), order.get().length());
    }
  }

  @Test
  void aLimitOfZeroLetsNobodyInAndANegativeOneAll() throws Exception {
    try (var lab = Lab.procs(1)) {
      lab.run(
          () -> {
            var group = new Group().limit(0);
            assertFalse(group.tryGo(() -> {}));
            group.limit(-1);
            for (int i = 0; i < 20; i++) {
              assertTrue(group.tryGo(() -> {}));
            }
            group.await();
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aContextAboveEndsTheGroup(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var why = new IllegalStateException("enough");
            Context above = Context.background().withCancel();
            var group = new Group(above);
            Lab.awaitWaiting(group.go(() -> Thread.sleep(LONG)));
            above.cancel(why);
            var e = assertThrows(ContextException.Canceled.class, group::await);
            assertSame(
                why, e.getCause(), "not an InterruptedException: that would be the caller's");
            assertFalse(Thread.interrupted());
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aDeadlineAboveEndsTheGroup(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var group = new Group(Context.background().withTimeout(Duration.ofMillis(20)));
            group.go(() -> Thread.sleep(LONG));
            assertThrows(ContextException.DeadlineExceeded.class, group::await);
          });
    }
  }

  @Test
  void aMemberThatSomebodyElseInterruptedIsNotTheCallersInterrupt() throws Exception {
    try (var lab = Lab.procs(2)) {
      lab.run(
          () -> {
            var group = new Group();
            Goroutine g = group.go(() -> Thread.sleep(LONG));
            Lab.awaitWaiting(g);
            g.thread().interrupt();
            var e = assertThrows(CancellationException.class, group::await);
            assertInstanceOf(InterruptedException.class, e.getCause());
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void closeEndsWhatStillRunsAndWaitsForIt(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var ended = new AtomicInteger();
            assertThrows(
                IOException.class,
                () -> {
                  try (var group = new Group()) {
                    group.go(
                        () -> {
                          try {
                            Thread.sleep(LONG);
                          } finally {
                            ended.incrementAndGet();
                          }
                        });
                    throw new IOException("the caller gives up");
                  }
                });
            assertEquals(1, ended.get());
          });
    }
  }

  @Test
  void anInterruptEndsTheWaitAndCloseTheRest() throws Exception {
    try (var lab = Lab.procs(2)) {
      var ended = new AtomicInteger();
      Goroutine g =
          lab.go(
              () -> {
                try (var group = new Group()) {
                  group.go(
                      () -> {
                        try {
                          Thread.sleep(LONG);
                        } finally {
                          ended.incrementAndGet();
                        }
                      });
                  assertThrows(InterruptedException.class, group::await);
                }
                ended.addAndGet(10);
              });
      Lab.awaitWaiting(g);
      assertEquals("sync.WaitGroup.Wait", g.waitReason());
      g.thread().interrupt();
      g.join();
      assertEquals(11, ended.get());
    }
  }

  @Test
  void aStartThatIsRefusedDoesNotCount() throws Exception {
    var lab = Lab.procs(1);
    lab.run(
        () -> {
          var group = new Group().limit(1);
          lab.scheduler().close();
          assertThrows(RejectedExecutionException.class, () -> group.go(() -> {}));
          assertThrows(RejectedExecutionException.class, () -> group.tryGo(() -> {}));
          assertEquals("Group[0]", group.toString());
          group.await();
        });
    lab.close();
  }
}
