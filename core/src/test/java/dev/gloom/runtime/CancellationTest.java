package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The tree below contexts.
@Timeout(60)
class CancellationTest {
  private static final class Node extends Cancellation {
    final AtomicInteger cancelled = new AtomicInteger();
    volatile boolean announced;
    boolean passOn = true;

    Node(@Nullable Node parent) {
      super(parent);
      attach();
    }

    @Override
    protected void announce() {
      announced = true;
    }

    @Override
    protected void cancelled() {
      cancelled.incrementAndGet();
      if (!passOn) {
        throw new IllegalStateException("stopped on its way");
      }
    }
  }

  @Test
  void whatIsDoneLeavesItsParent() {
    var top = new Node(null);
    var a = new Node(top);
    var b = new Node(top);
    var c = new Node(top);
    var below = new Node(b);
    assertEquals(3, top.children());
    assertTrue(b.cancel("b"));
    assertEquals(2, top.children(), "from the middle");
    assertEquals("b", below.reason());
    assertEquals(0, b.children());
    assertFalse(b.cancel("again"));
    assertTrue(c.withdraw("off"), "from the front");
    assertEquals(1, top.children());
    assertEquals(0, c.cancelled.get());
    assertTrue(top.cancel("top"));
    assertEquals(0, top.children());
    assertEquals("top", a.reason());
    assertEquals("b", b.reason());
    assertEquals(1, below.cancelled.get());
  }

  /// One was told before those below it: whoever comes by then tells them, with the first reason.
  @Test
  void whoHelpsPassesOnTheFirstReason() {
    var top = new Node(null);
    var below = new Node(top);
    top.passOn = false;
    assertThrows(IllegalStateException.class, () -> top.cancel("first"));
    assertNull(below.reason());
    assertFalse(top.cancel("second"));
    assertEquals("first", below.reason());
  }

  @Test
  void whoComesTooLateIsCancelledAtOnce() {
    var top = new Node(null);
    top.cancel("top");
    var late = new Node(top);
    assertEquals("top", late.reason());
    assertEquals(1, late.cancelled.get());
    assertEquals(0, top.children());
  }

  /// Threads that cancel the top and threads that add to it: each node is cancelled once, and
  /// whoever returns from a cancel finds nobody left.
  @Test
  void nobodyIsLeftOutAndNobodyIsCancelledTwice() throws Exception {
    for (int round = 0; round < 300; round++) {
      var top = new Node(null);
      var old = new Node[10];
      for (int i = 0; i < old.length; i++) {
        old[i] = new Node(i % 2 == 0 ? top : old[i - 1]);
      }
      assertNull(top.reason());
      var start = new CountDownLatch(1);
      var wrong = new AtomicInteger();
      var threads = new Thread[4];
      for (int t = 0; t < threads.length; t++) {
        boolean cancels = t < 2;
        threads[t] =
            Thread.ofPlatform()
                .start(
                    () -> {
                      try {
                        start.await();
                      } catch (InterruptedException e) {
                        throw new AssertionError(e);
                      }
                      if (cancels) {
                        top.cancel("top");
                        for (Node n : old) {
                          if (n.reason() == null || !n.announced) {
                            wrong.incrementAndGet();
                          }
                        }
                      } else {
                        for (int i = 0; i < 20; i++) {
                          var n = new Node(old[i % old.length]);
                          if (i % 3 == 0) {
                            n.cancel("own");
                          }
                          if (top.reason() != null && i % 3 == 1) {
                            top.cancel("again");
                            if (n.cancelled.get() > 1) {
                              wrong.incrementAndGet();
                            }
                          }
                        }
                      }
                    });
      }
      start.countDown();
      for (Thread t : threads) {
        t.join();
      }
      assertEquals(0, wrong.get());
      assertEquals(0, top.children());
      for (Node n : old) {
        assertEquals(1, n.cancelled.get());
        assertEquals(0, n.children());
      }
    }
  }
}
