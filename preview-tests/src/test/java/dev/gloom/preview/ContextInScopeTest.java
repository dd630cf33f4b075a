package dev.gloom.preview;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gloom.Chan;
import dev.gloom.Context;
import dev.gloom.ContextException;
import dev.gloom.Gloom;
import dev.gloom.preview.StructuredTaskScopeTest.Threads;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.StructuredTaskScope.Joiner;
import java.util.concurrent.StructuredTaskScope.Subtask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// A context beside a task scope, as docs/FROM-GO.md has it: the context reaches the subtasks that
/// look at it, the scope's interrupt reaches those that wait, and neither sets the other off unless
/// somebody ties them together.
@Timeout(60)
class ContextInScopeTest {
  private static final int SUBTASKS = 20;

  static Stream<Arguments> grounds() {
    return StructuredTaskScopeTest.grounds();
  }

  /// Waits for the context, or for what never comes.
  private static Object untilDone(Context ctx) throws Exception {
    Chan<Object> never = Chan.make();
    return Gloom.<Object>select(
        Gloom.recv(never, v -> v),
        Gloom.recv(
            ctx.done(),
            _ -> {
              throw ctx.err();
            }));
  }

  @ParameterizedTest
  @MethodSource("grounds")
  void aCancelReachesTheSubtasksThatWaitForTheContext(int procs, Threads threads) throws Exception {
    StructuredTaskScopeTest.on(
        procs,
        () -> {
          var why = new IllegalStateException("why");
          var waiting = new CountDownLatch(SUBTASKS);
          try (var ctx = Context.background().withCancel();
              var scope = threads.open(Joiner.<Object>awaitAll())) {
            var subtasks = new Subtask<?>[SUBTASKS];
            for (int i = 0; i < SUBTASKS; i++) {
              subtasks[i] =
                  scope.fork(
                      () -> {
                        waiting.countDown();
                        return untilDone(ctx.withValue("who", "subtask"));
                      });
            }
            waiting.await();
            ctx.cancel(why);
            scope.join();
            for (Subtask<?> subtask : subtasks) {
              assertInstanceOf(ContextException.Canceled.class, subtask.exception());
            }
            assertSame(why, ctx.cause());
          }
        });
  }

  /// A time-out does so too, and the scope is cancelled by the first subtask that it fails.
  @ParameterizedTest
  @MethodSource("grounds")
  void aDeadlineFailsTheScope(int procs, Threads threads) throws Exception {
    StructuredTaskScopeTest.on(
        procs,
        () -> {
          try (var ctx = Context.background().withTimeout(Duration.ofMillis(20));
              var scope = threads.open(Joiner.<Object>awaitAllSuccessfulOrThrow())) {
            scope.fork(() -> untilDone(ctx));
            scope.fork(
                () -> {
                  Thread.sleep(Duration.ofHours(1)); // knows interrupts only
                  return null;
                });
            var failed = assertThrows(StructuredTaskScope.FailedException.class, scope::join);
            assertInstanceOf(ContextException.DeadlineExceeded.class, failed.getCause());
          }
        });
  }

  @ParameterizedTest
  @MethodSource("grounds")
  void theScopesInterruptEndsAWaitForTheContextAndCancelsNoContext(int procs, Threads threads)
      throws Exception {
    StructuredTaskScopeTest.on(
        procs,
        () -> {
          var interrupted = new AtomicInteger();
          var waiting = new CountDownLatch(SUBTASKS);
          try (var ctx = Context.background().withCancel()) {
            try (var scope = threads.open(Joiner.<Object>awaitAllSuccessfulOrThrow())) {
              for (int i = 0; i < SUBTASKS; i++) {
                scope.fork(
                    () -> {
                      waiting.countDown();
                      try {
                        return untilDone(ctx);
                      } catch (InterruptedException e) {
                        interrupted.incrementAndGet();
                        throw e;
                      }
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
            assertEquals(SUBTASKS, interrupted.get());
            assertNull(ctx.err(), "an interrupt cancels no context");
          }
        });
  }

  /// Tied together: a cancel interrupts whoever waits for the scope, and that ends the subtasks.
  @ParameterizedTest
  @MethodSource("grounds")
  void aCancelThatIsMadeAnInterruptEndsTheWholeScope(int procs, Threads threads) throws Exception {
    StructuredTaskScopeTest.on(
        procs,
        () -> {
          var ended = new AtomicInteger();
          var owner = new AtomicReference<>(Thread.currentThread());
          var waiting = new CountDownLatch(SUBTASKS);
          try (var ctx = Context.background().withCancel();
              var scope = threads.open(Joiner.<Object>awaitAll())) {
            Context.Hook hook = ctx.afterFunc(() -> owner.get().interrupt());
            for (int i = 0; i < SUBTASKS; i++) {
              scope.fork(
                  () -> {
                    waiting.countDown();
                    try {
                      Thread.sleep(Duration.ofHours(1));
                    } catch (InterruptedException e) {
                      ended.incrementAndGet();
                    }
                    return null;
                  });
            }
            waiting.await();
            Gloom.go(ctx::cancel);
            assertThrows(InterruptedException.class, scope::join);
            assertEquals(false, hook.stop(), "it has run");
          }
          assertEquals(SUBTASKS, ended.get());
        });
  }
}
