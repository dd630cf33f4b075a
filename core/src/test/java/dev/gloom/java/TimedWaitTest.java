package dev.gloom.java;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.api.Lab;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Waits with a time limit end: not before it, and not never, also when what they wait for, or an
/// interrupt, comes in the same moment.
///
/// A time-out is a timer that must be taken away when the wait ends otherwise. One that is not hits
/// the goroutine in a later wait; so after each race comes a wait that nobody ends, and that must
/// last.
@Timeout(240)
class TimedWaitTest {
  private static final int ROUNDS = 100;

  // Nothing comes.

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 8})
  void noneEndsEarlyOrNever(int procs) {
    Lab.seeded(
        seed -> {
          Crew.Task<Integer> task =
              crew ->
                  TimedWait.with(
                      crew,
                      waits -> {
                        var all = new ArrayList<>(waits);
                        all.addAll(TimedWait.others());
                        return allLast(crew, all);
                      });
          // 0 is the control: where it fails, the test is wrong.
          int ended =
              procs == 0 ? Crew.onTheJdk(seed, 1, task) : Crew.onGloom(procs, seed, 1, task);
          assertTrue(ended > 1_000, () -> "only " + ended);
        });
  }

  /// Three goroutines for each kind, all at once, with short limits of every size.
  private static int allLast(Crew crew, List<TimedWait> waits) throws Exception {
    var ended = new AtomicInteger();
    var outcomes = new TreeMap<String, String>();
    crew.each(
        3 * waits.size(),
        me -> {
          TimedWait wait = waits.get(me % waits.size());
          var random = crew.random(me);
          for (int i = 0; i < 40; i++) {
            long amount = amount(wait, random);
            long start = System.nanoTime();
            String outcome = wait.outcome(amount);
            long took = System.nanoTime() - start;
            long asked = wait.unit().toNanos(amount);
            assertTrue(took >= asked, () -> wait + " of " + asked + " ns ended after " + took);
            synchronized (outcomes) {
              String before = outcomes.putIfAbsent(wait.name(), outcome);
              assertTrue(before == null || before.equals(outcome), () -> wait + ": " + outcome);
            }
            ended.incrementAndGet();
          }
        });
    return ended.get();
  }

  private static long amount(TimedWait wait, SplittableRandom random) {
    long nanos =
        switch (random.nextInt(4)) {
          case 0 -> random.nextLong(1, 2_000);
          case 1 -> random.nextLong(2_000, 200_000);
          default -> random.nextLong(200_000, 6_000_000);
        };
    return Math.max(1, wait.unit().convert(nanos, NANOSECONDS));
  }

  /// Many at once: a heap of timers is filled and emptied, in no order.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void tenThousandSleepersWakeInTime(int procs) {
    Lab.seeded(
        seed ->
            Crew.onGloom(
                procs,
                seed,
                1,
                crew -> {
                  var woken = new AtomicInteger();
                  crew.each(
                      10_000,
                      me -> {
                        long nanos = crew.random(me).nextLong(200_000_000);
                        long start = System.nanoTime();
                        Thread.sleep(Duration.ofNanos(nanos));
                        assertTrue(System.nanoTime() - start >= nanos);
                        woken.incrementAndGet();
                      });
                  assertEquals(10_000, woken.get());
                  return null;
                }));
  }

  // Something comes long before the limit: the timer that is left must not hit the next wait.

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void theTimerOfAParkThatWasEndedDoesNotHitTheNext(int procs) throws Exception {
    var strays = new AtomicInteger();
    Crew.onGloom(
        procs,
        0,
        1,
        crew -> {
          crew.each(
              40,
              _ -> {
                Thread me = Thread.currentThread();
                for (int i = 0; i < 5; i++) {
                  var done = new AtomicBoolean();
                  crew.start(
                      () -> {
                        LockSupport.unpark(me);
                        done.set(true);
                      });
                  LockSupport.parkNanos(10_000_000);
                  while (!done.get()) {
                    Gloom.gosched();
                  }
                  if (!lastsParked(20_000_000)) {
                    strays.incrementAndGet();
                  }
                }
              });
          return null;
        });
    fewEnough(strays.get(), 200);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void theTimerOfAWaitThatWasNotifiedDoesNotHitTheNext(int procs) throws Exception {
    Crew.onGloom(
        procs,
        0,
        1,
        crew -> {
          crew.each(
              40,
              _ -> {
                var lock = new Object();
                for (int i = 0; i < 5; i++) {
                  var done = new boolean[1];
                  synchronized (lock) {
                    crew.start(
                        () -> {
                          synchronized (lock) {
                            done[0] = true;
                            lock.notifyAll();
                          }
                        });
                    while (!done[0]) {
                      lock.wait(10);
                    }
                    lastsWaiting(lock, 20);
                  }
                }
              });
          return null;
        });
  }

  /// A park that nobody ends. On the JDK too, the timer of an earlier one can be under way when
  /// that one is ended, and then ends this one: so at times it may, and whoever parks looks again.
  private static boolean lastsParked(long nanos) {
    LockSupport.unpark(Thread.currentThread());
    LockSupport.park(); // now there is no permit
    long start = System.nanoTime();
    LockSupport.parkNanos(nanos);
    return System.nanoTime() - start >= nanos;
  }

  private static void fewEnough(int strays, int parks) {
    assertTrue(
        strays <= parks / 20,
        () -> strays + " of " + parks + " parks that nobody ended were short");
  }

  private static void lastsWaiting(Object lock, long millis) throws InterruptedException {
    long start = System.nanoTime();
    synchronized (lock) {
      lock.wait(millis);
    }
    lasted("Object.wait", start, millis * 1_000_000);
  }

  private static void lasted(String what, long start, long nanos) {
    long took = System.nanoTime() - start;
    assertTrue(took >= nanos, () -> what + " of " + nanos + " ns ended after " + took);
  }

  // Something comes in the same moment.

  /// What races with a time-out. One thread waits, another hits it at about the end of the time.
  private abstract static class Race {
    /// By the hitter, before the waiter begins.
    void prepare() throws Exception {}

    /// By the waiter, for at most `nanos`.
    abstract void await(long nanos) throws Exception;

    /// By the hitter.
    abstract void hit(Thread waiter) throws Exception;

    /// By the waiter, after both: nothing is lost or doubled, and a wait that nobody ends lasts.
    abstract void settle() throws Exception;
  }

  private interface NewRace {
    Race make();
  }

  private static void race(int procs, NewRace kind) {
    Lab.seeded(
        seed ->
            Crew.onGloom(
                procs,
                seed,
                Lab.stress(),
                crew -> {
                  crew.each(4, me -> new Racers(crew, crew.random(me), kind.make()).run());
                  return null;
                }));
  }

  /// The two threads of a race, in step.
  private static final class Racers {
    private final Crew crew;
    private final SplittableRandom random;
    private final Race race;
    private final int rounds;
    private final AtomicInteger prepared = new AtomicInteger();
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger hit = new AtomicInteger();
    private final AtomicInteger settled = new AtomicInteger();
    private volatile long limitNanos;
    private volatile Thread waiter;

    Racers(Crew crew, SplittableRandom random, Race race) {
      this.crew = crew;
      this.random = random;
      this.race = race;
      this.rounds = crew.times(ROUNDS);
    }

    void run() throws Exception {
      crew.each(
          2,
          side -> {
            if (side == 0) {
              waits();
            } else {
              hits();
            }
          });
    }

    private void waits() throws Exception {
      waiter = Thread.currentThread();
      for (int i = 1; i <= rounds; i++) {
        reaches(prepared, i);
        begun.set(i);
        race.await(limitNanos);
        reaches(hit, i);
        race.settle();
        settled.set(i);
      }
    }

    private void hits() throws Exception {
      for (int i = 1; i <= rounds; i++) {
        while (settled.get() < i - 1) {
          Crew.idle();
        }
        limitNanos = random.nextLong(50_000, 1_000_000);
        race.prepare();
        prepared.set(i);
        while (begun.get() < i) {
          Crew.idle();
        }
        NANOSECONDS.sleep(limitNanos + random.nextLong(-100_000, 100_000));
        race.hit(waiter);
        hit.set(i);
      }
    }

    /// Without parking: permits are what some races are about.
    private static void reaches(AtomicInteger counter, int i) {
      while (counter.get() < i) {
        Gloom.gosched();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aParkThatIsEndedAsItTimesOut(int procs) {
    var strays = new AtomicInteger();
    var parks = new AtomicInteger();
    race(
        procs,
        () ->
            new Race() {
              @Override
              void await(long nanos) {
                LockSupport.parkNanos(nanos);
              }

              @Override
              void hit(Thread waiter) {
                LockSupport.unpark(waiter);
              }

              @Override
              void settle() {
                parks.incrementAndGet();
                if (!lastsParked(1_000_000)) {
                  strays.incrementAndGet();
                }
              }
            });
    fewEnough(strays.get(), parks.get());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aSleepThatIsInterruptedAsItEnds(int procs) {
    race(procs, () -> new InterruptRace(NANOSECONDS::sleep));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aWaitThatIsInterruptedAsItTimesOut(int procs) {
    race(
        procs,
        () -> {
          var lock = new Object();
          return new InterruptRace(
              _ -> {
                synchronized (lock) {
                  lock.wait(1);
                }
              });
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aPollThatIsInterruptedAsItTimesOut(int procs) {
    race(
        procs,
        () -> {
          var queue = new LinkedBlockingQueue<String>();
          return new InterruptRace(nanos -> queue.poll(nanos, NANOSECONDS));
        });
  }

  private interface Interruptible {
    void await(long nanos) throws InterruptedException;
  }

  /// The interrupt arrives once: as the exception or, if it came too late for that, as the flag.
  private static final class InterruptRace extends Race {
    private final Interruptible wait;
    private boolean thrown;

    InterruptRace(Interruptible wait) {
      this.wait = wait;
    }

    @Override
    void await(long nanos) {
      try {
        wait.await(nanos);
        thrown = false;
      } catch (InterruptedException e) {
        thrown = true;
      }
    }

    @Override
    void hit(Thread waiter) {
      waiter.interrupt();
    }

    @Override
    void settle() throws Exception {
      boolean flag = Thread.interrupted();
      assertTrue(thrown ^ flag, () -> "thrown " + thrown + ", flag " + flag);
      long start = System.nanoTime();
      wait.await(1_000_000);
      lasted("the wait after", start, 1_000_000);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aWaitThatIsNotifiedAsItTimesOut(int procs) {
    race(
        procs,
        () ->
            new Race() {
              private final Object lock = new Object();

              @Override
              void await(long nanos) throws Exception {
                synchronized (lock) {
                  lock.wait(1);
                }
              }

              @Override
              void hit(Thread waiter) {
                synchronized (lock) {
                  lock.notifyAll();
                }
              }

              @Override
              void settle() throws Exception {
                lastsWaiting(lock, 1);
              }
            });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aConditionThatIsSignalledAsItTimesOut(int procs) {
    race(
        procs,
        () ->
            new Race() {
              private final ReentrantLock lock = new ReentrantLock();
              private final Condition condition = lock.newCondition();

              @Override
              void await(long nanos) throws Exception {
                left(nanos);
              }

              @Override
              void hit(Thread waiter) {
                lock.lock();
                condition.signalAll();
                lock.unlock();
              }

              @Override
              void settle() throws Exception {
                long start = System.nanoTime();
                assertTrue(left(500_000) <= 0);
                lasted("Condition.awaitNanos", start, 500_000);
              }

              private long left(long nanos) throws Exception {
                lock.lock();
                try {
                  return condition.awaitNanos(nanos);
                } finally {
                  lock.unlock();
                }
              }
            });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aPollThatIsServedAsItTimesOut(int procs) {
    race(
        procs,
        () ->
            new Race() {
              private final LinkedBlockingQueue<String> queue = new LinkedBlockingQueue<>();
              private String got;

              @Override
              void await(long nanos) throws Exception {
                got = queue.poll(nanos, NANOSECONDS);
              }

              @Override
              void hit(Thread waiter) {
                queue.add("it");
              }

              @Override
              void settle() throws Exception {
                String later = queue.poll();
                assertTrue(got == null ^ later == null, () -> "got " + got + " and " + later);
                long start = System.nanoTime();
                assertNull(queue.poll(500_000, NANOSECONDS));
                lasted("poll", start, 500_000);
              }
            });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aSynchronousQueueThatIsServedAsItTimesOut(int procs) {
    race(
        procs,
        () ->
            new Race() {
              private final SynchronousQueue<String> queue = new SynchronousQueue<>();
              private final AtomicBoolean given = new AtomicBoolean();
              private String got;

              @Override
              void await(long nanos) throws Exception {
                got = queue.poll(nanos, NANOSECONDS);
              }

              @Override
              void hit(Thread waiter) throws Exception {
                given.set(queue.offer("it", 20_000, NANOSECONDS));
              }

              @Override
              void settle() {
                assertEquals(given.get(), got != null);
              }
            });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aPermitThatIsReleasedAsItTimesOut(int procs) {
    race(
        procs,
        () ->
            new Race() {
              private final Semaphore semaphore = new Semaphore(0);
              private boolean acquired;

              @Override
              void await(long nanos) throws Exception {
                acquired = semaphore.tryAcquire(nanos, NANOSECONDS);
              }

              @Override
              void hit(Thread waiter) {
                semaphore.release();
              }

              @Override
              void settle() {
                assertEquals(!acquired, semaphore.tryAcquire());
                assertFalse(semaphore.tryAcquire());
              }
            });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aLockThatIsReleasedAsItTimesOut(int procs) {
    race(
        procs,
        () ->
            new Race() {
              private final ReentrantLock lock = new ReentrantLock();
              private boolean locked;

              @Override
              void prepare() {
                lock.lock();
              }

              @Override
              void await(long nanos) throws Exception {
                locked = lock.tryLock(nanos, NANOSECONDS);
              }

              @Override
              void hit(Thread waiter) {
                lock.unlock();
              }

              @Override
              void settle() {
                assertEquals(locked, lock.isHeldByCurrentThread());
                if (!locked) {
                  lock.lock();
                }
                assertEquals(1, lock.getHoldCount());
                lock.unlock();
              }
            });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aFutureThatIsCompletedAsItTimesOut(int procs) {
    race(
        procs,
        () ->
            new Race() {
              private volatile CompletableFuture<String> future;
              private String got;

              @Override
              void prepare() {
                future = new CompletableFuture<>();
              }

              @Override
              void await(long nanos) throws Exception {
                try {
                  got = future.get(nanos, NANOSECONDS);
                } catch (TimeoutException e) {
                  got = "it";
                }
              }

              @Override
              void hit(Thread waiter) {
                future.complete("it");
              }

              @Override
              void settle() throws Exception {
                assertEquals("it", got);
                assertEquals("it", future.get());
              }
            });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aThreadThatEndsAsTheJoinTimesOut(int procs) {
    race(
        procs,
        () ->
            new Race() {
              private volatile CountDownLatch gate;
              private volatile Goroutine joined;

              @Override
              void prepare() {
                gate = new CountDownLatch(1);
                joined = Gloom.go(gate::await);
              }

              @Override
              void await(long nanos) throws Exception {
                if (joined.join(Duration.ofNanos(nanos))) {
                  assertEquals(Goroutine.State.DEAD, joined.state());
                }
              }

              @Override
              void hit(Thread waiter) {
                gate.countDown();
              }

              @Override
              void settle() throws Exception {
                joined.join();
                assertEquals(Goroutine.State.DEAD, joined.state());
              }
            });
  }
}
