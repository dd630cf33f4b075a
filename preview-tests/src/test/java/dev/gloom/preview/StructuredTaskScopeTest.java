package dev.gloom.preview;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Body;
import dev.gloom.Gloom;
import dev.gloom.Scheduler;
import dev.gloom.jdk.Carrier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.StructuredTaskScope.Configuration;
import java.util.concurrent.StructuredTaskScope.Joiner;
import java.util.concurrent.StructuredTaskScope.Subtask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Task scopes inside a goroutine: with gloom's thread factory, and with the default one, whose
/// threads are adopted. Either way the subtasks are goroutines of the same scheduler.
@Timeout(60)
class StructuredTaskScopeTest {
  /// Where a scope gets its threads from.
  enum Threads {
    GLOOM(c -> c.withThreadFactory(Gloom.threadFactory())),
    BY_DEFAULT(c -> c);

    private final UnaryOperator<Configuration> configure;

    Threads(UnaryOperator<Configuration> configure) {
      this.configure = configure;
    }

    <T, R> StructuredTaskScope<T, R> open(Joiner<T, R> joiner) {
      return StructuredTaskScope.open(joiner, configure);
    }
  }

  static Stream<Arguments> grounds() {
    return Stream.of(1, 2, 8)
        .flatMap(procs -> Stream.of(Threads.values()).map(t -> Arguments.of(procs, t)));
  }

  /// Runs `body` on a scheduler of its own and waits until all its goroutines have gone: a scope
  /// leaves none behind, and none has to be rescued.
  static void on(int procs, Body body) throws Exception {
    try (var scheduler = Scheduler.builder().maxProcs(procs).build()) {
      scheduler.run(body);
      long start = System.nanoTime();
      while (scheduler.numGoroutine() > 0) {
        assertTrue(System.nanoTime() - start < 30_000_000_000L, () -> scheduler.stats().toString());
        LockSupport.parkNanos(200_000);
      }
      assertEquals(0, scheduler.stats().rescues());
    }
  }

  private static String carriers() {
    String name = Carrier.current().getName();
    return name.substring(0, name.lastIndexOf('-'));
  }

  @ParameterizedTest
  @MethodSource("grounds")
  void subtasksAreGoroutinesOfTheSameScheduler(int procs, Threads threads) throws Exception {
    on(
        procs,
        () -> {
          String here = carriers();
          var seen = new ConcurrentLinkedQueue<String>();
          var gate = new CountDownLatch(1);
          try (var scope = threads.open(Joiner.<Integer>allSuccessfulOrThrow())) {
            for (int i = 0; i < 100; i++) {
              int n = i;
              scope.fork(
                  () -> {
                    seen.add(carriers());
                    gate.await();
                    seen.add(carriers());
                    return n;
                  });
            }
            assertEquals(101, Gloom.numGoroutine());
            gate.countDown();
            assertEquals(4_950, scope.join().mapToInt(Subtask::get).sum());
          }
          assertEquals(200, seen.size());
          assertTrue(seen.stream().allMatch(here::equals), seen::toString);
        });
  }

  @ParameterizedTest
  @MethodSource("grounds")
  void theFirstFailureCancelsTheRest(int procs, Threads threads) throws Exception {
    on(
        procs,
        () -> {
          var interrupted = new AtomicInteger();
          var waiting = new CountDownLatch(20);
          try (var scope = threads.open(Joiner.<Void>awaitAllSuccessfulOrThrow())) {
            for (int i = 0; i < 20; i++) {
              scope.fork(
                  () -> {
                    waiting.countDown();
                    try {
                      Thread.sleep(Duration.ofHours(1));
                    } catch (InterruptedException e) {
                      interrupted.incrementAndGet();
                    }
                    return null;
                  });
            }
            scope.fork(
                () -> {
                  waiting.await();
                  throw new IllegalStateException("first");
                });
            var failed = assertThrows(StructuredTaskScope.FailedException.class, scope::join);
            assertEquals("first", failed.getCause().getMessage());
          }
          assertEquals(20, interrupted.get(), "close waits for those that were cancelled");
        });
  }

  @ParameterizedTest
  @MethodSource("grounds")
  void theFirstSuccessCancelsTheRest(int procs, Threads threads) throws Exception {
    on(
        procs,
        () -> {
          try (var scope = threads.open(Joiner.<String>anySuccessfulResultOrThrow())) {
            for (int i = 0; i < 10; i++) {
              scope.fork(
                  () -> {
                    Thread.sleep(Duration.ofHours(1));
                    return "slow";
                  });
            }
            scope.fork(
                () -> {
                  throw new IllegalStateException("does not count");
                });
            scope.fork(
                () -> {
                  Thread.sleep(1);
                  return "fast";
                });
            assertEquals("fast", scope.join());
            assertTrue(scope.isCancelled());
          }
        });
  }

  @ParameterizedTest
  @MethodSource("grounds")
  void timesOut(int procs, Threads threads) throws Exception {
    on(
        procs,
        () -> {
          long start = System.nanoTime();
          try (var scope =
              StructuredTaskScope.open(
                  Joiner.<Void>awaitAll(),
                  c -> threads.configure.apply(c).withTimeout(Duration.ofMillis(20)))) {
            Subtask<Void> never =
                scope.fork(
                    () -> {
                      Thread.sleep(Duration.ofHours(1));
                      return null;
                    });
            assertThrows(StructuredTaskScope.TimeoutException.class, scope::join);
            assertEquals(Subtask.State.UNAVAILABLE, never.state());
          }
          assertTrue(System.nanoTime() - start >= 20_000_000);
        });
  }

  @ParameterizedTest
  @MethodSource("grounds")
  void anInterruptOfTheOwnerEndsTheJoin(int procs, Threads threads) throws Exception {
    on(
        procs,
        () -> {
          Thread owner = Thread.currentThread();
          var outcome = new AtomicReference<Throwable>();
          try (var scope = threads.open(Joiner.<Void>awaitAll())) {
            scope.fork(
                () -> {
                  owner.interrupt();
                  Thread.sleep(Duration.ofHours(1));
                  return null;
                });
            scope.join();
          } catch (InterruptedException e) {
            outcome.set(e);
          }
          assertInstanceOf(InterruptedException.class, outcome.get());
          assertTrue(!Thread.interrupted());
        });
  }

  /// A tree of scopes, four deep, and a scoped value that reaches its leaves.
  @ParameterizedTest
  @MethodSource("grounds")
  void nestsAndHandsOnScopedValues(int procs, Threads threads) throws Exception {
    ScopedValue<String> value = ScopedValue.newInstance();
    on(
        procs,
        () -> {
          int leaves =
              ScopedValue.where(value, "from the root").call(() -> leaves(threads, value, 4));
          assertEquals(81, leaves);
          assertTrue(!value.isBound());
        });
  }

  private static int leaves(Threads threads, ScopedValue<String> value, int depth)
      throws Exception {
    Gloom.gosched();
    assertEquals("from the root", value.get());
    if (depth == 0) {
      return 1;
    }
    try (var scope = threads.open(Joiner.<Integer>allSuccessfulOrThrow())) {
      for (int i = 0; i < 3; i++) {
        scope.fork(() -> leaves(threads, value, depth - 1));
      }
      return scope.join().mapToInt(Subtask::get).sum();
    }
  }

  @ParameterizedTest
  @MethodSource("grounds")
  void onlyTheOwnerForks(int procs, Threads threads) throws Exception {
    on(
        procs,
        () -> {
          var thrown = new AtomicReference<Throwable>();
          try (var scope = threads.open(Joiner.<Void>awaitAll())) {
            Gloom.go(
                    () -> {
                      try {
                        scope.fork(() -> null);
                      } catch (Throwable e) {
                        thrown.set(e);
                      }
                    })
                .join();
            scope.join();
          }
          assertInstanceOf(WrongThreadException.class, thrown.get());
        });
  }

  /// From a thread that is no goroutine, with gloom's factory: the owner waits, goroutines work.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void worksFromAPlatformThread(int procs) throws Exception {
    try (var scheduler = Scheduler.builder().maxProcs(procs).build()) {
      var results = new ArrayList<Integer>();
      try (var scope =
          StructuredTaskScope.open(
              Joiner.<Integer>allSuccessfulOrThrow(),
              c -> c.withThreadFactory(scheduler.threadFactory()))) {
        for (int i = 0; i < 50; i++) {
          int n = i;
          scope.fork(() -> n);
        }
        scope.join().forEach(s -> results.add(s.get()));
      }
      assertEquals(1_225, results.stream().mapToInt(Integer::intValue).sum());
      assertEquals(50, scheduler.stats().started());
      assertEquals(0, scheduler.stats().rescues());
    }
  }
}
