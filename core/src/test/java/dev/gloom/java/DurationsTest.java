package dev.gloom.java;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.api.Lab;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Durations that nobody waits out: negative, zero, enormous. As in Go, and where Go has no such
/// call, as on the JDK.
///
/// | call | negative | zero | up to `Long.MAX_VALUE`, `Duration.ofSeconds(Long.MAX_VALUE)` |
/// |---|---|---|---|
/// | `Gloom.sleep` | returns at once, as in Go | returns at once | waits |
/// | `Thread.sleep(Duration)`, `TimeUnit.sleep` | returns at once | returns at once | waits |
/// | `Thread.sleep(ms)` | IllegalArgumentException | returns at once | waits |
/// | `LockSupport.parkNanos` | returns at once | returns at once | waits |
/// | `LockSupport.parkUntil` | returns at once: it is past | the same | waits |
/// | `Object.wait(ms)`, `Thread.join(ms)` | IllegalArgumentException | no limit | waits |
/// | `Thread.join(Duration)`, `Goroutine.join(Duration)` | false at once | the same | waits |
/// | `tryLock`, `tryAcquire`, `await`, `offer` | false at once | the same | waits |
/// | `awaitNanos` | returns at once, nothing left | the same | waits |
/// | `poll` | null at once | the same | waits |
/// | `Future.get`, `exchange`, `CyclicBarrier.await`, … | TimeoutException at once | the same | waits |
///
/// "Waits" means that only an interrupt ended it, however the limit overflows when it is added to
/// the time of day, and that timers of ordinary length beside it still fire.
@Timeout(120)
class DurationsTest {
  /// In whatever unit the call takes.
  private static final Map<String, Long> ENORMOUS =
      Map.of(
          ", the longest",
          Long.MAX_VALUE,
          ", one less",
          Long.MAX_VALUE - 1,
          ", half",
          Long.MAX_VALUE / 2 + 1,
          ", just fits",
          Long.MAX_VALUE - System.nanoTime(),
          ", 290 years",
          TimeUnit.DAYS.toNanos(290 * 365L));

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void negativeAndZeroReturnAtOnceAsOnTheJdk(int procs) throws Exception {
    var expected = Crew.onTheJdk(0, 1, DurationsTest::smallOnes);
    assertEquals(expected, Crew.onGloom(procs, 0, 1, DurationsTest::smallOnes));
    // And the header's table says so.
    assertEquals("java.lang.IllegalArgumentException", expected.get("Thread.sleep(ms) -1"));
    assertEquals("returned", expected.get("Gloom.sleep " + Long.MIN_VALUE));
    assertEquals("returned", expected.get("Thread.sleep(Duration) -1"));
    assertEquals("returned", expected.get("LockSupport.parkNanos -1"));
    assertEquals("java.lang.IllegalArgumentException", expected.get("Object.wait(ms) -1"));
    assertEquals("false", expected.get("Goroutine.join(Duration) -1"));
    assertEquals("true", expected.get("Condition.awaitNanos -1"));
    assertEquals("null", expected.get("ArrayBlockingQueue.poll " + Long.MIN_VALUE));
    assertEquals("java.util.concurrent.TimeoutException", expected.get("FutureTask.get 0"));
  }

  private static TreeMap<String, String> smallOnes(Crew crew) throws Exception {
    return TimedWait.with(
        crew,
        waits -> {
          var outcomes = new TreeMap<String, String>();
          for (TimedWait wait : waits) {
            for (long amount : new long[] {0, -1, Long.MIN_VALUE}) {
              if (returnsAtOnce(wait, amount)) {
                var outcome = new AtomicReference<String>();
                crew.each(1, _ -> outcome.set(wait.outcome(amount)));
                outcomes.put(wait + " " + amount, outcome.get());
              }
            }
          }
          crew.each(1, _ -> LockSupport.parkUntil(-1));
          crew.each(1, _ -> LockSupport.parkUntil(0));
          return outcomes;
        });
  }

  /// Exchanger adds the most negative limit to the time without looking, and waits for 292 years.
  private static boolean returnsAtOnce(TimedWait wait, long amount) {
    return amount == 0
        ? !wait.zeroIsForEver()
        : amount != Long.MIN_VALUE || !wait.name().startsWith("Exchanger");
  }

  /// A limit of zero or less takes no permit away, or the next park would hang.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aParkOfZeroOrLessLeavesThePermit(int procs) throws Exception {
    Crew.onGloom(
        procs,
        0,
        1,
        _ -> {
          LockSupport.unpark(Thread.currentThread());
          LockSupport.parkNanos(0);
          LockSupport.parkNanos(-1);
          LockSupport.parkNanos(Long.MIN_VALUE);
          LockSupport.park();
          return null;
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void enormousWaitsUntilInterruptedAsOnTheJdk(int procs) throws Exception {
    var expected = Crew.onTheJdk(0, 1, DurationsTest::enormousOnes);
    assertTrue(expected.size() > 150, () -> "only " + expected.size());
    assertEquals(expected, Crew.onGloom(procs, 0, 1, DurationsTest::enormousOnes));
    assertEquals("java.lang.InterruptedException", expected.get("Gloom.sleep, the longest"));
  }

  /// All wait at once, with short timers between them; then all are interrupted.
  private static TreeMap<String, String> enormousOnes(Crew crew) throws Exception {
    return TimedWait.with(
        crew,
        waits -> {
          var outcomes = new TreeMap<String, String>();
          var threads = new TreeMap<String, Thread>();
          for (TimedWait wait : waits) {
            ENORMOUS.forEach(
                (name, amount) ->
                    start(crew, wait + name, () -> wait.outcome(amount), threads, outcomes));
          }
          for (Duration d :
              List.of(
                  Duration.ofSeconds(Long.MAX_VALUE),
                  Duration.ofSeconds(Long.MAX_VALUE, 999_999_999),
                  Duration.ofNanos(Long.MAX_VALUE))) {
            start(crew, "Gloom.sleep " + d, () -> asking(() -> Gloom.sleep(d)), threads, outcomes);
            start(
                crew, "Thread.sleep " + d, () -> asking(() -> Thread.sleep(d)), threads, outcomes);
          }
          start(
              crew,
              "poll, days",
              () -> asking(() -> new LinkedBlockingQueue<>().poll(Long.MAX_VALUE, TimeUnit.DAYS)),
              threads,
              outcomes);
          start(
              crew,
              "parkUntil",
              () -> asking(() -> LockSupport.parkUntil(Long.MAX_VALUE)),
              threads,
              outcomes);
          threads.forEach((name, t) -> Lab.await(name + " waits", () -> waits(t)));
          shortOnesStillFire(crew);
          threads.forEach(
              (name, t) -> assertTrue(waits(t), () -> name + " is " + t.getState() + outcomes));
          threads.values().forEach(Thread::interrupt);
          for (Thread t : threads.values()) {
            assertTrue(t.join(Duration.ofSeconds(30)), () -> t + " is lost: " + t.getState());
          }
          return outcomes;
        });
  }

  private interface Asked {
    String outcome();
  }

  private static void start(
      Crew crew,
      String name,
      Asked call,
      TreeMap<String, Thread> threads,
      TreeMap<String, String> outcomes) {
    Thread twice =
        threads.put(
            name,
            crew.start(
                () -> {
                  String outcome = call.outcome();
                  synchronized (outcomes) {
                    outcomes.put(name, outcome);
                  }
                }));
    assertNull(twice, name);
  }

  private interface Waiting {
    void run() throws Exception;
  }

  private static String asking(Waiting wait) {
    try {
      wait.run();
      return "returned";
    } catch (Exception e) {
      return e.getClass().getName();
    }
  }

  private static void shortOnesStillFire(Crew crew) throws Exception {
    var fired = new AtomicInteger();
    crew.each(
        10,
        me -> {
          for (int i = 0; i < 5; i++) {
            long nanos = 200_000L * (me + i + 1);
            long start = System.nanoTime();
            NANOSECONDS.sleep(nanos);
            assertTrue(System.nanoTime() - start >= nanos);
            fired.incrementAndGet();
          }
        });
    assertEquals(50, fired.get());
  }

  /// Some calls take the longest limit for none.
  private static boolean waits(Thread t) {
    return t.getState() == Thread.State.TIMED_WAITING || t.getState() == Thread.State.WAITING;
  }
}
