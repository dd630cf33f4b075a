package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.WaitGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Wait groups: spec section 11.4, item 118 of section 15.
@Timeout(60)
class WaitGroupTest {
  @Test
  void lessThanNothingIsRefusedInGosWords() {
    var group = new WaitGroup();
    var e = assertThrows(IllegalStateException.class, group::done);
    assertEquals("sync: negative WaitGroup counter: -1", e.getMessage());
    group.add(2);
    e = assertThrows(IllegalStateException.class, () -> group.add(-5));
    assertEquals("sync: negative WaitGroup counter: -3", e.getMessage());
    assertEquals("WaitGroup[2]", group.toString(), "as before");
    group.add(Integer.MAX_VALUE - 2);
    e = assertThrows(IllegalStateException.class, () -> group.add(1));
    assertEquals("sync: WaitGroup counter out of range: 2147483648", e.getMessage());
  }

  @Test
  void withNothingToWaitForItReturnsAtOnce() throws Exception {
    new WaitGroup().await();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void allThatWaitGoOnWhenTheLastIsDone(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var group = new WaitGroup();
      group.add(2);
      var passed = new AtomicInteger();
      var all = new ArrayList<Goroutine>();
      for (int i = 0; i < 10; i++) {
        all.add(
            lab.go(
                () -> {
                  group.await();
                  passed.incrementAndGet();
                }));
      }
      Thread platform =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      group.await();
                      passed.incrementAndGet();
                    } catch (InterruptedException e) {
                      throw new AssertionError(e);
                    }
                  });
      all.forEach(Lab::awaitWaiting);
      group.done();
      assertFalse(all.getFirst().join(Duration.ofMillis(10)));
      assertEquals(0, passed.get());
      group.done();
      for (Goroutine g : all) {
        g.join();
      }
      platform.join();
      assertEquals(11, passed.get());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void itCanBeUsedAgain(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var group = new WaitGroup();
            var ran = new AtomicInteger();
            for (int round = 1; round <= 200; round++) {
              for (int i = 0; i < 8; i++) {
                group.go(ran::incrementAndGet);
              }
              group.await();
              assertEquals(8 * round, ran.get());
            }
          });
    }
  }

  /// Go can only report this misuse; here it is none.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aNewRoundMayBeginBeforeThoseWhoWaitedAreBack(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var group = new WaitGroup();
      group.add(1);
      Goroutine waiting = lab.go(group::await);
      Lab.awaitWaiting(waiting);
      group.done();
      group.add(1);
      waiting.join();
      assertEquals("WaitGroup[1]", group.toString());
    }
  }

  /// Spec 4.12: those that wait are made ready in order, so the last of them runs first.
  @Test
  void onOneProcessorTheLastRunsFirstAndThenInOrder() throws Exception {
    Lab.settles(
        List.of(5, 1, 2, 3, 4),
        () -> {
          var order = new ConcurrentLinkedQueue<Integer>();
          try (var lab = Lab.procs(1)) {
            lab.run(
                () -> {
                  var group = new WaitGroup();
                  group.add(1);
                  for (int i = 1; i <= 5; i++) {
                    int me = i;
                    Goroutine g =
                        Gloom.go(
                            () -> {
                              group.await();
                              order.add(me);
                            });
                    while (g.state() != Goroutine.State.WAITING) {
                      Gloom.gosched();
                    }
                  }
                  group.done();
                });
          }
          return List.copyOf(order);
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void anInterruptEndsTheWait(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var group = new WaitGroup();
      group.add(1);
      var interrupted = new AtomicInteger();
      Goroutine g =
          lab.go(
              () -> {
                assertThrows(InterruptedException.class, group::await);
                interrupted.incrementAndGet();
              });
      Lab.awaitWaiting(g);
      g.thread().interrupt();
      g.join();
      assertEquals(1, interrupted.get());
      group.done();
      group.await();
    }
  }

  /// In a library an exception is only reported, so whoever waits must not wait for ever.
  @Test
  void aMemberThatThrowsIsDoneToo() throws Exception {
    try (var lab = Lab.procs(2)) {
      lab.run(
          () -> {
            var group = new WaitGroup();
            Goroutine g =
                group.go(
                    () -> {
                      Thread.currentThread().setUncaughtExceptionHandler((_, _) -> {});
                      throw new IllegalStateException("on purpose");
                    });
            group.await();
            g.join();
          });
    }
  }

  @Test
  void aStartThatIsRefusedDoesNotCount() throws Exception {
    var lab = Lab.procs(1);
    var group = new WaitGroup();
    lab.run(
        () -> {
          lab.scheduler().close();
          assertThrows(RejectedExecutionException.class, () -> group.go(() -> {}));
        });
    assertEquals("WaitGroup[0]", group.toString());
    lab.close();
  }

  @Test
  void itsMembersAreStartedWhereTheUserSaysSo() throws Exception {
    try (var lab = Lab.procs(1)) {
      var thrown = new AtomicInteger();
      lab.run(
          () -> {
            var group = new WaitGroup();
            Goroutine g =
                group.go(
                    () -> {
                      Thread.currentThread()
                          .setUncaughtExceptionHandler(
                              (t, _) -> thrown.set(t.getName().contains("WaitGroupTest") ? 1 : -1));
                      throw new IllegalStateException("on purpose");
                    });
            g.join();
          });
      assertEquals(1, thrown.get(), "the name of a thread that failed tells where it was started");
      assertTrue(thrown.get() > 0);
    }
  }
}
