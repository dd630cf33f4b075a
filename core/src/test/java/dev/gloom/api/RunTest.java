package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Body;
import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// `run`: a goroutine that is waited for.
@Timeout(60)
class RunTest {
  @Test
  void bodyRunsInAVirtualThreadThatIsNotTheCallers() throws Exception {
    try (var lab = Lab.procs(1)) {
      var inside = new AtomicReference<Thread>();
      lab.run(() -> inside.set(Thread.currentThread()));
      assertTrue(inside.get().isVirtual());
      assertFalse(inside.get().isAlive());
    }
  }

  @Test
  void whatTheBodyWroteIsSeenAfterwards() throws Exception {
    try (var lab = Lab.procs(2)) {
      for (int i = 0; i < 1_000; i++) {
        var box = new int[1];
        int value = i;
        lab.run(() -> box[0] = value);
        assertEquals(value, box[0]);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void runsNestInsideGoroutines(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var deepest = new int[1];
      nest(lab, 0, 20, deepest);
      assertEquals(20, deepest[0]);
    }
  }

  private static void nest(Lab lab, int depth, int most, int[] deepest) throws Exception {
    deepest[0] = depth;
    if (depth < most) {
      lab.run(() -> nest(lab, depth + 1, most, deepest));
    }
  }

  @Test
  void insideAGoroutineTheStaticFaceMeansItsOwnScheduler() throws Exception {
    try (var lab = Lab.procs(3)) {
      lab.run(
          () -> {
            assertEquals(3, Gloom.maxProcs());
            Gloom.run(() -> assertEquals(3, Gloom.maxProcs()));
            assertEquals(1, Gloom.numGoroutine());
            assertEquals(3, Gloom.stats().maxProcs());
          });
    }
  }

  @Test
  void elsewhereTheStaticFaceMeansTheDefaultScheduler() throws Exception {
    long before = Gloom.stats().started();
    Gloom.run(() -> Gloom.go(() -> {}).join());
    assertTrue(Gloom.stats().started() >= before + 2);
    assertEquals(0, Gloom.stats().rescues());
  }

  @Test
  void runWorksFromAVirtualThreadOfTheJdk() throws Exception {
    try (var lab = Lab.procs(1)) {
      var inside = new AtomicReference<Thread>();
      Thread.ofVirtual()
          .start(
              () -> {
                try {
                  lab.run(() -> inside.set(Thread.currentThread()));
                } catch (Exception e) {
                  throw new AssertionError(e);
                }
              })
          .join();
      assertNotNull(inside.get());
    }
  }

  @Test
  void rethrowsWhatTheBodyThrewAsItIs() {
    try (var lab = Lab.procs(1)) {
      for (Throwable thrown :
          new Throwable[] {
            new IOException("checked"),
            new IllegalStateException("unchecked"),
            new AssertionError("error"),
            new Throwable("neither")
          }) {
        Throwable got = assertThrows(Throwable.class, () -> lab.run(() -> sneak(thrown)));
        assertSame(thrown, got);
      }
    }
  }

  @Test
  void rethrowsThroughNestedRuns() {
    try (var lab = Lab.procs(1)) {
      var thrown = new IOException("deep");
      Body inner = () -> sneak(thrown);
      assertSame(
          thrown, assertThrows(IOException.class, () -> lab.run(() -> lab.run(() -> inner.run()))));
    }
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Throwable> void sneak(Throwable e) throws E {
    throw (E) e;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void doesNotWaitForGoroutinesThatTheBodyStarted(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var gate = new CountDownLatch(1);
      var child = new AtomicReference<Goroutine>();
      lab.run(() -> child.set(lab.go(gate::await)));
      assertEquals(1, lab.scheduler().numGoroutine());
      assertTrue(child.get().state() != Goroutine.State.DEAD);
      gate.countDown();
      child.get().join();
    }
  }

  @Test
  void aWaiterThatIsInterruptedLeavesAndTheBodyGoesOn() throws Exception {
    try (var lab = Lab.procs(1)) {
      var started = new CountDownLatch(1);
      var gate = new CountDownLatch(1);
      var ended = new CountDownLatch(1);
      var got = new AtomicReference<Throwable>();
      Thread waiter =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      lab.run(
                          () -> {
                            started.countDown();
                            gate.await();
                            ended.countDown();
                          });
                    } catch (Throwable e) {
                      got.set(e);
                    }
                  });
      started.await();
      waiter.interrupt();
      waiter.join();
      assertEquals(InterruptedException.class, got.get().getClass());
      gate.countDown();
      ended.await();
    }
  }

  @Test
  void runOfNullSaysSo() {
    try (var lab = Lab.procs(1)) {
      var e = assertThrows(NullPointerException.class, () -> lab.run(null));
      assertEquals("run of null body", e.getMessage());
      assertEquals(
          "run of null body",
          assertThrows(NullPointerException.class, () -> Gloom.run(null)).getMessage());
    }
  }
}
