package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.Lab;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// One appointment: armed once, then it rings or is cancelled.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AlarmTest {
  @Test
  void isCancelledOnce() {
    Bell bell = Bell.at(5);
    assertTrue(bell.isArmed());
    assertTrue(bell.cancel());
    assertFalse(bell.isArmed());
    assertFalse(bell.cancel());
    assertFalse(bell.claim(), "nobody can ring it now");
  }

  @Test
  void isClaimedOnceByWhoRingsIt() {
    Bell bell = Bell.at(5);
    assertTrue(bell.claim());
    assertFalse(bell.claim());
    assertFalse(bell.cancel(), "too late");
  }

  @Test
  void thereIsNothingToCancelBeforeItIsArmed() {
    var bell = new Bell();
    assertFalse(bell.cancel());
    bell.prepare(() -> 0, 5);
    assertTrue(bell.isArmed(), "and it can still be armed");
  }

  @Test
  void isArmedOnce() {
    Bell armed = Bell.at(5);
    assertThrows(AssertionError.class, () -> armed.prepare(() -> 0, 6));
    Bell done = Bell.at(5);
    done.cancel();
    assertThrows(AssertionError.class, () -> done.prepare(() -> 0, 6));
  }

  @Test
  void delayOfZeroOrLessMeansNow() {
    for (long delay : new long[] {0, -1, Long.MIN_VALUE}) {
      var bell = new Bell();
      bell.prepare(() -> 1_000, delay);
      assertEquals(1_000, bell.when);
    }
  }

  @Test
  void enormousDelayIsTheLatestTimeAndNotNever() {
    for (long now : new long[] {0, 1, 2, 1_000_000_000_000L}) {
      for (long delay : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 1, Long.MAX_VALUE - now}) {
        var bell = new Bell();
        bell.prepare(() -> now, delay);
        assertEquals(Alarm.NEVER - 1, bell.when, delay + " after " + now);
      }
    }
  }

  // On a real scheduler.

  @Test
  void ringsOnAThreadOfTheSchedulerWithoutAGoroutine() throws Exception {
    var on = new AtomicReference<Thread>();
    var rang = new CountDownLatch(1);
    Alarm.armAfter(
        new Bell(
            0,
            () -> {
              on.set(Thread.currentThread());
              rang.countDown();
            }),
        1_000_000);
    assertTrue(rang.await(30, TimeUnit.SECONDS), "from a platform thread: the default scheduler");
    assertTrue(on.get() instanceof M, () -> "on " + on.get());
  }

  @Test
  void timeOfTheSystemsClockIsUnderstood() throws Exception {
    var at = new AtomicReference<Long>();
    var rang = new CountDownLatch(1);
    long when = System.nanoTime() + 20_000_000;
    Alarm.arm(
        new Bell(
            0,
            () -> {
              at.set(System.nanoTime());
              rang.countDown();
            }),
        when);
    assertTrue(rang.await(30, TimeUnit.SECONDS));
    assertTrue(at.get() - when >= 0, () -> (when - at.get()) + " ns early");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void armedInAGoroutineItRingsOnThatScheduler(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      String prefix = lab.threadPrefix();
      var on = new AtomicReference<String>("");
      var rang = new CountDownLatch(1);
      lab.run(
          () ->
              Alarm.armAfter(
                  new Bell(
                      0,
                      () -> {
                        on.set(Thread.currentThread().getName());
                        rang.countDown();
                      }),
                  5_000_000));
      // Nobody is left but the alarm.
      assertTrue(rang.await(30, TimeUnit.SECONDS));
      assertTrue(on.get().startsWith(prefix), on.get());
    }
  }

  @Test
  void pendingAlarmKeepsAClosedSchedulerUntilItRings() throws Exception {
    var lab = Lab.procs(2);
    String prefix = lab.threadPrefix();
    var rang = new AtomicBoolean();
    lab.run(() -> Alarm.armAfter(new Bell(0, () -> rang.set(true)), 50_000_000));
    lab.close();
    Lab.await("its threads end", () -> threads(prefix).isEmpty());
    assertTrue(rang.get(), "but not before it rang");
  }

  @Test
  void cancelledAlarmDoesNotKeepAClosedScheduler() throws Exception {
    var lab = Lab.procs(2);
    String prefix = lab.threadPrefix();
    var bell = new Bell();
    lab.run(() -> Alarm.armAfter(bell, 3_600_000_000_000L));
    assertTrue(bell.cancel());
    lab.close();
    Lab.await("its threads end", () -> threads(prefix).isEmpty());
    assertEquals(0, bell.rang.get());
  }

  private static List<Thread> threads(String prefix) {
    List<Thread> all = Lab.threads(prefix);
    all.removeIf(t -> t.getName().equals("gloom-starter")); // of all schedulers, and stays
    return all;
  }

  /// Whoever is first: it rings, or the canceller hears that it will not. Never both, never none.
  @Test
  void eitherRingsOrIsCancelled() throws Exception {
    int rounds = Seed.times(2_000);
    var heap = new TimerHeap();
    var bells = new Bell[rounds];
    var cancelled = new boolean[rounds];
    for (int i = 0; i < rounds; i++) {
      bells[i] = Bell.at(i);
    }
    var meet = new CyclicBarrier(2);
    Thread canceller =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (int i = 0; i < rounds; i++) {
                    meet(meet);
                    cancelled[i] = bells[i].cancel();
                    meet(meet);
                  }
                });
    for (int i = 0; i < rounds; i++) {
      heap.add(bells[i]);
      meet(meet);
      heap.ringDue(i);
      meet(meet);
    }
    canceller.join();
    for (int i = 0; i < rounds; i++) {
      assertEquals(cancelled[i] ? 0 : 1, bells[i].rang.get(), "round " + i);
    }
  }

  private static void meet(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
