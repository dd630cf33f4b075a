package dev.gloom.api;

import static dev.gloom.Gloom.go;
import static dev.gloom.Gloom.otherwise;
import static dev.gloom.Gloom.recv;
import static dev.gloom.Gloom.select;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Chan;
import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.RecvChan;
import dev.gloom.Timer;
import dev.gloom.TryRecv;
import dev.gloom.WaitGroup;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Timers: spec section 9.5, items 101 to 106, 110, 112 and 113 of section 15.
@Timeout(90)
class TimerTest {
  private static final Duration SOON = Duration.ofMillis(10);
  private static final Duration NEVER = Duration.ofHours(10);

  /// Lets so much time pass for certain.
  private static void pass(long millis) throws InterruptedException {
    long start = System.nanoTime();
    while (System.nanoTime() - start < millis * 1_000_000) {
      Thread.sleep(1);
    }
  }

  private static boolean isEmpty(RecvChan<?> c) {
    return c.tryRecv() instanceof TryRecv.Empty;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void afterFuncRunsInAGoroutineOfItsOwnOnce(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var ran = new AtomicInteger();
            Chan<Thread> who = Chan.make(2);
            Timer timer =
                Timer.afterFunc(
                    SOON,
                    () -> {
                      ran.incrementAndGet();
                      who.send(Thread.currentThread());
                    });
            Thread thread = who.recv();
            assertTrue(thread != null && thread.isVirtual() && thread != Thread.currentThread());
            pass(50);
            assertEquals(1, ran.get());
            assertFalse(timer.stop(), "it has fired");
            assertTrue(isEmpty(timer.c()), "it has no channel");
            assertFalse(timer.reset(SOON), "fired and armed again");
            assertNotNull(who.recv());
            assertEquals(2, ran.get());
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void stopBeforeItFiresIsTrueAndTheFunctionDoesNotRun(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var ran = new AtomicInteger();
            Timer timer = Timer.afterFunc(Duration.ofMillis(200), ran::incrementAndGet);
            assertTrue(timer.stop());
            assertFalse(timer.stop(), "stopped before");
            pass(300);
            assertEquals(0, ran.get());
          });
    }
  }

  /// The place that a dump shows is the user's, not where the alarm rang.
  @Test
  void afterFuncKnowsWhereItWasAskedFor() throws Exception {
    try (var lab = Lab.procs(1)) {
      lab.run(
          () -> {
            Chan<String> dump = Chan.make();
            Timer.afterFunc(Duration.ZERO, () -> dump.send(Gloom.dump()));
            String text = dump.recv();
            assertNotNull(text);
            String created = text.substring(text.indexOf("created by"));
            assertTrue(created.startsWith("created by dev.gloom.api.TimerTest"), text);
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void itSendsOnceAndNotBeforeItsTime(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            long start = System.nanoTime();
            var timer = new Timer(Duration.ofMillis(30));
            assertTrue(isEmpty(timer.c()));
            assertNotNull(timer.c().recv());
            assertTrue(System.nanoTime() - start >= 30_000_000);
            assertTrue(isEmpty(timer.c()));
            assertFalse(timer.stop(), "its value has been received");
          });
    }
  }

  @Test
  void aPlatformThreadCanWaitForItToo() throws Exception {
    assertNotNull(new Timer(SOON).c().recv());
    assertEquals("fired", select(recv(Timer.after(SOON), _ -> "fired")));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void lenAndCapAreAlwaysZero(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var timer = new Timer(SOON);
            assertEquals(0, timer.c().len() + timer.c().cap());
            pass(30);
            assertEquals(0, timer.c().len() + timer.c().cap());
            assertInstanceOf(TryRecv.Value.class, timer.c().tryRecv());
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void afterStopOrResetNoStaleValueComes(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            for (int i = 0; i < 200; i++) {
              var timer = new Timer(Duration.ofNanos(i * 1_000));
              if (i % 3 == 0) {
                Gloom.gosched();
              } else if (i % 3 == 1) {
                Goroutine receiver = go(() -> timer.c().tryRecv());
                Gloom.gosched();
                receiver.join();
              }
              if (i % 2 == 0) {
                timer.stop();
              } else {
                timer.reset(NEVER);
              }
              assertTrue(isEmpty(timer.c()));
              String got = select(recv(timer.c(), _ -> "stale"), otherwise(() -> "nothing"));
              assertEquals("nothing", got);
            }
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void stopTellsOfAValueThatNobodyReceived(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var timer = new Timer(Duration.ofMillis(1));
            pass(20);
            assertTrue(timer.stop(), "fired, unread");
            assertFalse(timer.stop());
            assertTrue(isEmpty(timer.c()));
            assertFalse(timer.reset(Duration.ofMillis(1)), "it was stopped");
            pass(20);
            assertTrue(timer.reset(NEVER), "fired, unread");
            assertTrue(isEmpty(timer.c()));
            assertTrue(timer.stop(), "it was running");
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aLateReadGetsTheTimeOfFiring(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            Instant start = Instant.now();
            RecvChan<Instant> c = Timer.after(SOON);
            pass(500);
            Instant got = c.recv();
            assertNotNull(got);
            long millis = Duration.between(start, got).toMillis();
            assertTrue(millis >= 9 && millis < 300, millis + " ms");
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void resetToAnEarlierTimeWakesWhoWaits(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var timer = new Timer(NEVER);
      Goroutine plain = lab.go(() -> timer.c().recv());
      Lab.awaitWaiting(plain);
      assertEquals("chan receive", plain.waitReason());
      assertTrue(timer.reset(SOON));
      plain.join();
      assertFalse(timer.reset(NEVER));
      Goroutine selects = lab.go(() -> select(recv(timer.c(), t -> t)));
      Lab.awaitWaiting(selects);
      assertTrue(timer.reset(Duration.ZERO));
      selects.join();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aStoppedTimerWakesNobodyUntilItIsReset(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var timer = new Timer(SOON);
      timer.stop();
      Goroutine g = lab.go(() -> timer.c().recv());
      Lab.awaitWaiting(g);
      assertFalse(g.join(Duration.ofMillis(50)));
      timer.reset(SOON);
      g.join();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void manyResetsBackAndForthStayCorrect(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Lab.seeded(
          seed ->
              lab.run(
                  () -> {
                    var random = new Random(seed);
                    var timer = new Timer(NEVER);
                    for (int round = 0; round < 20; round++) {
                      var last = new AtomicLong();
                      Goroutine receiver =
                          go(
                              () -> {
                                timer.c().recv();
                                long early = last.get() - System.nanoTime();
                                assertTrue(early <= 0, "early by " + early + " ns");
                              });
                      for (int i = 0; i < 50; i++) {
                        timer.reset(Duration.ofMillis(1_000 + random.nextInt(100_000)));
                        if (i % 10 == 0) {
                          Gloom.gosched();
                        }
                      }
                      last.set(System.nanoTime() + 1_000_000);
                      timer.reset(Duration.ofMillis(1));
                      receiver.join();
                    }
                  }));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void ofSeveralThatWaitOneIsServed(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var timer = new Timer(NEVER);
      var served = new AtomicInteger();
      var group = new WaitGroup();
      lab.run(
          () -> {
            for (int i = 0; i < 4; i++) {
              Lab.awaitWaiting(
                  group.go(
                      () -> {
                        timer.c().recv();
                        served.incrementAndGet();
                      }));
            }
            for (int i = 1; i <= 4; i++) {
              timer.reset(SOON);
              int n = i;
              Lab.await("receiver " + n, () -> served.get() >= n);
              pass(20);
              assertEquals(n, served.get());
            }
            group.await();
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void anInterruptEndsTheWaitAndLosesNothing(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var timer = new Timer(NEVER);
      var interrupted = new AtomicBoolean();
      Goroutine g =
          lab.go(
              () -> {
                assertThrows(InterruptedException.class, () -> timer.c().recv());
                interrupted.set(true);
              });
      Lab.awaitWaiting(g);
      g.thread().interrupt();
      g.join();
      assertTrue(interrupted.get());
      assertTrue(timer.reset(Duration.ZERO));
      assertNotNull(timer.c().recv());
    }
  }

  @Test
  void timersThatNobodyRefersToAreCollected() throws Exception {
    try (var lab = Lab.procs(2)) {
      lab.run(
          () -> {
            var refs = new WeakReference<?>[300];
            for (int i = 0; i < refs.length; i++) {
              var timer = new Timer(NEVER);
              if (i % 3 == 1) { // waited for once, in a select that something else ended
                select(recv(timer.c(), _ -> 1), Gloom.after(Duration.ofNanos(1), () -> 2));
              } else if (i % 3 == 2) {
                timer.reset(Duration.ofHours(1));
              }
              refs[i] = new WeakReference<>(timer.c());
            }
            for (WeakReference<?> ref : refs) {
              Lab.await(
                  "collected",
                  () -> {
                    if (ref.refersTo(null)) {
                      return true;
                    }
                    System.gc();
                    return ref.refersTo(null);
                  });
            }
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void stopAndResetStormsDoNotCorrupt(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Lab.seeded(
          seed ->
              lab.run(
                  () -> {
                    var timers = new Timer[8];
                    var ran = new AtomicInteger();
                    for (int i = 0; i < timers.length; i++) {
                      timers[i] =
                          i % 2 == 0
                              ? new Timer(Duration.ofMillis(1))
                              : Timer.afterFunc(Duration.ofMillis(1), ran::incrementAndGet);
                    }
                    var storm = new WaitGroup();
                    for (int w = 0; w < 8; w++) {
                      var random = new Random(seed + w);
                      storm.go(
                          () -> {
                            for (int i = 0; i < 2_000 * Lab.stress(); i++) {
                              Timer t = timers[random.nextInt(timers.length)];
                              switch (random.nextInt(4)) {
                                case 0 -> t.stop();
                                case 1 -> t.reset(Duration.ofNanos(random.nextInt(200_000)));
                                case 2 -> t.c().tryRecv();
                                default ->
                                    select(
                                        recv(t.c(), _ -> 1),
                                        Gloom.after(Duration.ofNanos(20_000), () -> 2));
                              }
                            }
                          });
                    }
                    storm.await();
                    for (int i = 0; i < timers.length; i++) {
                      Timer t = timers[i];
                      t.stop();
                      assertTrue(isEmpty(t.c()));
                      assertFalse(t.stop());
                      int before = ran.get();
                      assertFalse(t.reset(SOON));
                      if (i % 2 == 0) {
                        assertNotNull(t.c().recv());
                      } else {
                        Lab.await("runs again", () -> ran.get() > before);
                      }
                    }
                  }));
    }
  }

  /// What a stop says is what happens: each reset leads to one run, or to one answer true.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void everyResetEndsInOneRunOrOneStop(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var ran = new AtomicInteger();
            var stopped = new AtomicInteger();
            Timer timer = Timer.afterFunc(NEVER, ran::incrementAndGet);
            var all = new WaitGroup();
            int rounds = 1_000;
            for (int w = 0; w < 4; w++) {
              all.go(
                  () -> {
                    for (int i = 0; i < rounds; i++) {
                      if (timer.reset(Duration.ofNanos(i % 7 * 1_000))) {
                        stopped.incrementAndGet();
                      }
                      if (i % 3 == 0 && timer.stop()) {
                        stopped.incrementAndGet();
                      }
                    }
                  });
            }
            all.await();
            if (timer.stop()) {
              stopped.incrementAndGet();
            }
            Lab.await("one for each reset", () -> ran.get() + stopped.get() >= 4 * rounds + 1);
            pass(20);
            assertEquals(4 * rounds + 1, ran.get() + stopped.get());
          });
    }
  }

  @Test
  void aTimeBeyondAllTimesIsNever() throws Exception {
    var timer = new Timer(Duration.ofSeconds(Long.MAX_VALUE));
    assertTrue(isEmpty(timer.c()));
    assertTrue(timer.reset(Duration.ofSeconds(Long.MIN_VALUE)), "and one before all is now");
    assertNotNull(timer.c().recv());
  }
}
