package dev.gloom.api;

import static dev.gloom.Gloom.after;
import static dev.gloom.Gloom.recv;
import static dev.gloom.Gloom.select;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Chan;
import dev.gloom.Context;
import dev.gloom.ContextException;
import dev.gloom.ContextException.Canceled;
import dev.gloom.ContextException.DeadlineExceeded;
import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.TryRecv;
import dev.gloom.WaitGroup;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Contexts: spec section 11.10, item 126 of section 15.
@Timeout(90)
class ContextTest {
  private static final Context ROOT = Context.background();
  private static final Duration LONG = Duration.ofHours(1);

  private static boolean isDone(Context ctx) {
    return ctx.done().tryRecv() instanceof TryRecv.Closed;
  }

  private static void assertRuns(Context ctx) {
    assertFalse(isDone(ctx));
    assertNull(ctx.err());
    assertNull(ctx.cause());
  }

  private static void assertCanceled(Context ctx) {
    assertTrue(isDone(ctx));
    assertInstanceOf(Canceled.class, ctx.err());
  }

  @Test
  void theRootIsNeverDone() throws Exception {
    assertRuns(ROOT);
    assertNull(ROOT.deadline());
    assertEquals("context.Background", ROOT.toString());
    String got = select(recv(ROOT.done(), _ -> "done"), after(Duration.ofMillis(5), () -> "not"));
    assertEquals("not", got);
    assertThrows(UnsupportedOperationException.class, ROOT::cancel);
    ROOT.close();
    assertRuns(ROOT);
  }

  @Test
  void textsAreThoseOfGo() {
    Context ctx = ROOT.withCancel();
    ctx.cancel();
    assertNotNull(ctx.err());
    assertEquals("context canceled", ctx.err().getMessage());
    Context late = ROOT.withTimeout(Duration.ZERO);
    assertNotNull(late.err());
    assertEquals("context deadline exceeded", late.err().getMessage());
    assertInstanceOf(CancellationException.class, late.err());
  }

  @Test
  void cancelIsIdempotentAndTheFirstDecides() {
    Context ctx = ROOT.withCancel();
    assertRuns(ctx);
    assertSame(ctx.done(), ctx.done());
    var first = new IllegalStateException("first");
    ctx.cancel(first);
    ContextException err = ctx.err();
    ctx.cancel(new IllegalStateException("second"));
    ctx.cancel();
    ctx.close();
    assertCanceled(ctx);
    assertSame(err, ctx.err());
    assertSame(first, ctx.cause());
  }

  @Test
  void theChannelOfOneThatIsDoneIsClosedThoughNobodyAskedBefore() {
    Context ctx = ROOT.withCancel();
    ctx.cancel();
    assertTrue(isDone(ctx));
  }

  @Test
  void childrenGoWithTheirParentAndNotTheOtherWayRound() {
    Context top = ROOT.withCancel();
    Context left = top.withCancel();
    Context right = top.withValue("k", 1).withTimeout(LONG);
    Context leaf = left.withValue("k", 2).withCancel();
    var why = new IllegalStateException("why");
    left.cancel(why);
    assertRuns(top);
    assertRuns(right);
    assertCanceled(leaf);
    assertSame(why, leaf.cause());
    assertSame(left.err(), leaf.err());
    top.cancel();
    assertCanceled(right);
    assertSame(why, leaf.cause(), "it was done before");
    assertCanceled(top.withCancel());
    assertSame(top.err(), top.withTimeout(LONG).err(), "too late for a deadline of its own");
  }

  @Test
  void theCauseIsThatOfTheNearestThatWasCancelledFirst() {
    Context ctx = ROOT.withCancel();
    ctx.cancel(null);
    assertSame(ctx.err(), ctx.cause(), "no cause: the error itself");

    Context top = ROOT.withCancel();
    Context below = top.withCancel();
    below.cancel(new IllegalStateException("below"));
    top.cancel(new IllegalStateException("top"));
    assertNotNull(below.cause());
    assertEquals("below", below.cause().getMessage());
    assertEquals("top", top.withValue("k", "v").cause().getMessage());

    var tooSlow = new IllegalStateException("too slow");
    Context timed = ROOT.withTimeout(Duration.ofNanos(-1), tooSlow);
    assertInstanceOf(DeadlineExceeded.class, timed.err());
    assertSame(tooSlow, timed.cause());
    Context inTime = ROOT.withTimeout(LONG, tooSlow);
    inTime.cancel();
    assertInstanceOf(Canceled.class, inTime.cause(), "the time did not end it");
  }

  @Test
  void aDeadlineInThePastIsOverAtOnce() {
    Context ctx = ROOT.withDeadline(Instant.now().minusSeconds(1));
    assertTrue(isDone(ctx));
    assertInstanceOf(DeadlineExceeded.class, ctx.err());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aDeadlineEndsItAndAllBelow(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            long start = System.nanoTime();
            Context ctx = ROOT.withTimeout(Duration.ofMillis(30));
            Context child = ctx.withCancel();
            assertNotNull(ctx.deadline());
            assertEquals(ctx.deadline(), child.deadline());
            assertNull(child.done().recv());
            assertTrue(System.nanoTime() - start >= 30_000_000);
            assertInstanceOf(DeadlineExceeded.class, child.err());
            assertInstanceOf(DeadlineExceeded.class, ctx.err());
          });
    }
  }

  @Test
  void theEarlierDeadlineOfTheParentWins() {
    Instant soon = Instant.now().plusSeconds(100);
    Context parent = ROOT.withDeadline(soon);
    assertEquals(soon, parent.withDeadline(soon.plusSeconds(1)).deadline());
    assertEquals(soon.minusSeconds(1), parent.withDeadline(soon.minusSeconds(1)).deadline());
    assertEquals(Instant.MAX, ROOT.withTimeout(Duration.ofSeconds(Long.MAX_VALUE)).deadline());
    parent.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aDeadlineIsKeptOnASchedulerThatIsClosed(int procs) throws Exception {
    var lab = Lab.procs(procs);
    Goroutine g =
        lab.go(
            () -> {
              Context ctx = ROOT.withTimeout(Duration.ofMillis(50));
              lab.scheduler().close();
              ctx.done().recv();
            });
    g.join();
    lab.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void afterFuncRunsOnceInAGoroutineOfItsOwn(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            Chan<Thread> ran = Chan.make(10);
            Context ctx = ROOT.withCancel();
            Context.Hook hook = ctx.afterFunc(() -> ran.send(Thread.currentThread()));
            assertEquals(0, ran.len());
            ctx.cancel();
            ctx.cancel();
            Thread who = ran.recv();
            assertTrue(who != null && who.isVirtual() && who != Thread.currentThread());
            assertFalse(hook.stop(), "it has been started");
            ctx.afterFunc(() -> ran.send(Thread.currentThread()));
            assertNotNull(ran.recv(), "at once");
            Gloom.sleep(Duration.ofMillis(20));
            assertEquals(0, ran.len());
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void stopKeepsAfterFuncFromRunning(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var ran = new AtomicInteger();
            Context ctx = ROOT.withCancel();
            Context.Hook hook = ctx.afterFunc(ran::incrementAndGet);
            assertTrue(hook.stop());
            assertFalse(hook.stop());
            ctx.cancel();
            Gloom.sleep(Duration.ofMillis(20));
            assertEquals(0, ran.get());
            Context.Hook never = ROOT.afterFunc(ran::incrementAndGet);
            assertTrue(never.stop());
            assertFalse(never.stop());
          });
    }
  }

  @Test
  void withoutCancelIsolatesAndKeepsTheValues() {
    Context ctx = ROOT.withValue("user", "ann").withTimeout(LONG);
    Context rest = ctx.withoutCancel();
    Context again = rest.withCancel();
    ctx.cancel();
    assertRuns(rest);
    assertRuns(again);
    assertNull(rest.deadline());
    assertNull(again.deadline());
    assertEquals("ann", again.value("user"));
  }

  @Test
  void theNearestValueCounts() {
    Context ctx = ROOT.withValue("a", 1).withValue("b", 2).withCancel().withValue("a", 3);
    assertEquals(3, ctx.value("a"));
    assertEquals(2, ctx.value("b"));
    assertNull(ctx.value("c"));
    assertNull(ctx.withValue("b", null).value("b"), "null hides what is above");
    var e = assertThrows(NullPointerException.class, () -> ctx.withValue(null, 1));
    assertEquals("nil key", e.getMessage());
    assertThrows(UnsupportedOperationException.class, ctx::cancel);
  }

  @Test
  void whatIsDoneIsNotHeldByItsParent() throws Exception {
    Context parent = ROOT.withCancel();
    var refs = new ArrayList<WeakReference<Object>>();
    for (int i = 0; i < 10; i++) {
      Context child = i % 2 == 0 ? parent.withCancel() : parent.withTimeout(LONG);
      refs.add(new WeakReference<>(child.withCancel().done()));
      refs.add(new WeakReference<>(child.done()));
      child.close();
      var held = new Object[] {new Object()};
      refs.add(new WeakReference<>(held[0]));
      assertTrue(parent.afterFunc(() -> assertNotNull(held[0])).stop());
    }
    for (WeakReference<?> ref : refs) {
      Lab.await(
          "collected",
          () -> {
            System.gc();
            return ref.refersTo(null);
          });
    }
    assertRuns(parent);
    parent.close();
  }

  /// Deeper than any stack would be with a call for each level.
  @Test
  void aTreeMayBeDeepAndWide() {
    Context top = ROOT.withCancel();
    Context deep = top;
    for (int i = 0; i < 50_000; i++) {
      deep = deep.withCancel();
    }
    var wide = new ArrayList<Context>();
    for (int i = 0; i < 50_000; i++) {
      wide.add(top.withCancel());
    }
    top.cancel();
    assertCanceled(deep);
    wide.forEach(ContextTest::assertCanceled);
  }

  /// Whoever comes back from a cancel finds all below it done, whoever did it; and nobody sees an
  /// error before the channel is closed.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void afterAnyCancelEverythingBelowIsDone(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            for (int round = 0; round < 200; round++) {
              Context top = ROOT.withCancel();
              Context middle = top.withTimeout(Duration.ofNanos(round % 5 * 20_000L + 1));
              Context leaf = middle.withValue("k", 1).withCancel();
              var all = new WaitGroup();
              for (int i = 0; i < 3; i++) {
                all.go(
                    () -> {
                      top.cancel();
                      assertNotNull(leaf.err());
                      assertTrue(isDone(leaf));
                    });
                all.go(
                    () -> {
                      while (leaf.err() == null) {
                        Gloom.gosched();
                      }
                      assertTrue(isDone(leaf));
                      assertNotNull(middle.err());
                    });
                all.go(() -> assertNull(leaf.withCancel().done().recv()));
              }
              all.await();
            }
          });
    }
  }

  @Test
  void aPlatformThreadCanUseItToo() throws Exception {
    try (Context ctx = ROOT.withTimeout(Duration.ofMillis(20))) {
      assertNull(ctx.done().recv());
      assertInstanceOf(DeadlineExceeded.class, ctx.err());
    }
  }

  /// The bridge to code that knows only interrupts, as the class comment shows it.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aHookCanInterrupt(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Context ctx = ROOT.withCancel();
      var interrupted = new AtomicInteger();
      Goroutine g =
          lab.go(
              () -> {
                Thread worker = Thread.currentThread();
                Context.Hook hook = ctx.afterFunc(worker::interrupt);
                try {
                  Thread.sleep(LONG);
                } catch (InterruptedException e) {
                  interrupted.incrementAndGet();
                } finally {
                  hook.stop();
                }
              });
      Lab.awaitWaiting(g);
      ctx.cancel();
      g.join();
      assertEquals(1, interrupted.get());
    }
  }
}
