package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Chan;
import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import dev.gloom.jdk.Carrier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Goroutines that are locked to their thread, beside many that are not.
@Timeout(120)
class LockOsThreadTest {
  /// Keeps a scheduler in motion: goroutines that yield, sleep and compute, and say whether one of
  /// them was on the thread that is watched.
  private static final class Crowd {
    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicInteger steps = new AtomicInteger();
    private final AtomicInteger met = new AtomicInteger();
    private final List<Goroutine> all = new ArrayList<>();
    private volatile Thread watched;

    Crowd(Lab lab, int n) {
      for (int i = 0; i < n; i++) {
        int kind = i;
        all.add(lab.go(() -> live(kind)));
      }
    }

    private void live(int kind) throws InterruptedException {
      for (int i = kind; !stop.get(); i++) {
        if (watched == Carrier.current()) {
          met.incrementAndGet();
        }
        steps.incrementAndGet();
        if (i % 16 == 0) {
          Gloom.sleep(Duration.ofNanos(100_000));
        } else if (i % 5 == 0) {
          Lab.spin(20_000);
        } else {
          Gloom.gosched();
        }
      }
    }

    /// From here on nobody is to be met on the calling goroutine's thread, until it is unlocked.
    void watchThisThread() {
      watched = Carrier.current();
    }

    void makesSteps(int n) {
      int from = steps.get();
      Lab.await("the crowd makes steps", () -> steps.get() - from >= n);
    }

    void end() throws InterruptedException {
      stop.set(true);
      for (Goroutine g : all) {
        g.join();
      }
    }
  }

  /// The kernel's name for the thread under the caller; where there is no /proc, always the same.
  private static String osThread() throws IOException {
    Path self = Path.of("/proc/thread-self");
    return Files.exists(self) ? Files.readSymbolicLink(self).toString() : "";
  }

  private static void repeat(int n, Runnable body) {
    for (int i = 0; i < n; i++) {
      body.run();
    }
  }

  /// Everything that suspends a goroutine.
  private static void everyWayToWait(Thread self, Object monitor) throws InterruptedException {
    repeat(20, Gloom::gosched);
    Gloom.sleep(Duration.ofMillis(1));
    Gloom.go(() -> LockSupport.unpark(self));
    LockSupport.park();
    LockSupport.parkNanos(200_000);
    synchronized (monitor) {
      monitor.wait(1);
    }
    var holds = new CountDownLatch(1);
    var holder =
        Gloom.go(
            () -> {
              synchronized (monitor) {
                holds.countDown();
                Gloom.sleep(Duration.ofMillis(1));
              }
            });
    holds.await();
    synchronized (monitor) { // contended
      assertTrue(Thread.holdsLock(monitor));
    }
    holder.join();
    var exchange = new SynchronousQueue<Integer>();
    var sender = Gloom.go(() -> exchange.put(1));
    assertEquals(1, exchange.take());
    assertEquals(null, exchange.poll(100, TimeUnit.MICROSECONDS));
    sender.join();
  }

  // Item 86.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aLockedGoroutineStaysOnItsThreadThroughEveryWait(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var crowd = new Crowd(lab, 20);
      lab.run(
          () -> {
            Gloom.lockOSThread();
            Thread mine = Carrier.current();
            String os = osThread();
            var monitor = new Object();
            for (int i = 0; i < 20; i++) {
              everyWayToWait(Thread.currentThread(), monitor);
              assertSame(mine, Carrier.current());
            }
            assertEquals(os, osThread());
            Gloom.unlockOSThread();
          });
      crowd.end();
      assertTrue(lab.scheduler().stats().handoffs() > 0);
    }
  }

  // Item 86, the other half.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void nobodyElseRunsOnTheThreadOfALockedGoroutine(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var crowd = new Crowd(lab, 20);
      lab.run(
          () -> {
            Gloom.lockOSThread();
            crowd.watchThisThread();
            for (int i = 0; i < 100; i++) {
              Gloom.gosched();
              LockSupport.parkNanos(50_000);
              Lab.spin(50_000);
            }
            crowd.makesSteps(1_000);
            assertEquals(0, crowd.met.get());
            Gloom.unlockOSThread();
            Lab.await("its thread is used again", () -> crowd.met.get() > 0);
          });
      crowd.end();
    }
  }

  // Item 87.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void locksNest(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var crowd = new Crowd(lab, 10);
      lab.run(
          () -> {
            Gloom.unlockOSThread(); // without a lock: nothing
            repeat(3, Gloom::lockOSThread);
            Thread mine = Carrier.current();
            repeat(2, Gloom::unlockOSThread);
            repeat(
                200,
                () -> {
                  Gloom.gosched();
                  assertSame(mine, Carrier.current());
                });
            crowd.watchThisThread();
            crowd.makesSteps(500);
            assertEquals(0, crowd.met.get());
            Gloom.unlockOSThread();
            Gloom.unlockOSThread(); // one too many: nothing
            Lab.await("others run here", () -> crowd.met.get() > 0);
          });
      crowd.end();
    }
  }

  // Item 88.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aGoroutineThatEndsLockedEndsItsThread(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      for (int round = 0; round < 20; round++) {
        var thread = new AtomicReference<Thread>();
        boolean waits = round % 2 == 0;
        boolean throwsUp = round % 3 == 0;
        Goroutine g =
            lab.go(
                () -> {
                  Gloom.lockOSThread();
                  Gloom.lockOSThread();
                  thread.set(Carrier.current());
                  Thread.currentThread().setUncaughtExceptionHandler((_, _) -> {});
                  if (waits) {
                    Gloom.sleep(Duration.ofMillis(1));
                  }
                  if (throwsUp) {
                    throw new IllegalStateException("the end");
                  }
                });
        g.join();
        Lab.await("it ends", () -> thread.get().getState() == Thread.State.TERMINATED);
        lab.run(() -> assertNotSame(thread.get(), Carrier.current())); // and work goes on
      }
      String prefix = lab.threadPrefix();
      Lab.await(
          "the count follows",
          () -> lab.scheduler().stats().threads() == Lab.threads(prefix + "m").size());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void whatIsQueuedBehindALockedGoroutineRunsAfterItsEnd(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var ran = new AtomicInteger();
      lab.run(
          () -> {
            Gloom.lockOSThread();
            repeat(500, () -> Gloom.go(ran::incrementAndGet)); // more than a ring holds
          });
      Lab.await("all run", () -> ran.get() == 500);
    }
  }

  // Item 89.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void lockedGoroutinesTalkThroughChannels(int procs) throws Exception {
    int stages = 10;
    int values = 200 * Lab.stress();
    try (var lab = Lab.procs(procs)) {
      var moved = new AtomicInteger();
      Chan<Integer> first = Chan.make();
      Chan<Integer> in = first;
      for (int i = 0; i < stages; i++) {
        Chan<Integer> from = in;
        Chan<Integer> to = Chan.make(i % 3);
        lab.go(
            () -> {
              Gloom.lockOSThread();
              Thread mine = Carrier.current();
              for (int value : from) {
                to.send(value + 1);
                if (Carrier.current() != mine) {
                  moved.incrementAndGet();
                }
              }
              to.close();
            });
        in = to;
      }
      lab.go(
          () -> {
            for (int k = 0; k < values; k++) {
              first.send(k);
            }
            first.close();
          });
      int expected = stages;
      for (int value : in) {
        assertEquals(expected++, value);
      }
      assertEquals(stages + values, expected);
      assertEquals(0, moved.get());
    }
  }

  // Item 89.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void manyLockedGoroutinesGetOn(int procs) throws Exception {
    int pairs = 25;
    int rounds = 40 * Lab.stress();
    try (var lab = Lab.procs(procs)) {
      var all = new ArrayList<Goroutine>();
      var passes = new AtomicInteger();
      for (int i = 0; i < pairs; i++) {
        var ball = new AtomicInteger();
        var players = new Thread[2];
        var ready = new CountDownLatch(2);
        for (int side = 0; side < 2; side++) {
          int me = side;
          all.add(
              lab.go(
                  () -> {
                    Gloom.lockOSThread();
                    Thread mine = Carrier.current();
                    players[me] = Thread.currentThread();
                    ready.countDown();
                    ready.await();
                    for (int k = me; k < 2 * rounds; k += 2) {
                      while (ball.get() != k) {
                        LockSupport.park();
                      }
                      if (k % 7 == 0) {
                        Gloom.gosched();
                      }
                      if (Carrier.current() == mine) {
                        passes.incrementAndGet();
                      }
                      ball.set(k + 1);
                      LockSupport.unpark(players[1 - me]);
                    }
                    Gloom.unlockOSThread();
                  }));
        }
      }
      for (Goroutine g : all) {
        g.join();
      }
      assertEquals(pairs * 2 * rounds, passes.get());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void lockAndUnlockInAStormOfYieldsAndSteals(int procs) {
    Lab.seeded(
        seed -> {
          try (var lab = Lab.procs(procs)) {
            var inside = new ConcurrentHashMap<Thread, Goroutine>();
            var all = new ArrayList<Goroutine>();
            var wrong = new AtomicInteger();
            for (int i = 0; i < 30; i++) {
              var random = new Random(seed + i);
              var self = new AtomicReference<Goroutine>();
              Goroutine g =
                  lab.go(
                      () -> {
                        Lab.await("it is told who it is", () -> self.get() != null);
                        for (int k = 0; k < 30 * Lab.stress(); k++) {
                          lockedFor(random, self.get(), inside, wrong);
                        }
                      });
              self.set(g);
              all.add(g);
            }
            for (Goroutine g : all) {
              g.join();
            }
            assertEquals(0, wrong.get());
          }
        });
  }

  /// Locks, wanders about, and unlocks. Counts what must not happen: another thread, or another
  /// goroutine on this one.
  private static void lockedFor(
      Random random, Goroutine self, ConcurrentHashMap<Thread, Goroutine> inside, AtomicInteger bad)
      throws InterruptedException {
    if (inside.get(Carrier.current()) != null) {
      bad.incrementAndGet(); // free, on a thread that is somebody's
    }
    Gloom.lockOSThread();
    Thread mine = Carrier.current();
    if (inside.put(mine, self) != null) {
      bad.incrementAndGet();
    }
    for (int i = random.nextInt(5); i > 0; i--) {
      switch (random.nextInt(4)) {
        case 0 -> Gloom.sleep(Duration.ofNanos(50_000));
        case 1 -> Gloom.go(() -> LockSupport.unpark(self.thread()));
        case 2 -> LockSupport.parkNanos(20_000);
        default -> Gloom.gosched();
      }
      if (Carrier.current() != mine || inside.get(mine) != self) {
        bad.incrementAndGet();
      }
    }
    inside.remove(mine);
    Gloom.unlockOSThread();
    Gloom.gosched();
  }

  @Test
  void aLockedGoroutineThatOnlyStartsOthersIsPreempted() throws Exception {
    try (var lab = Lab.procs(1)) {
      lab.run(
          () -> {
            Gloom.lockOSThread();
            Thread mine = Carrier.current();
            var others = new AtomicInteger();
            Goroutine other = Gloom.go(others::incrementAndGet);
            // It never waits, and with one processor nobody else runs unless it is stopped.
            long start = System.nanoTime();
            while (others.get() == 0 && System.nanoTime() - start < 30_000_000_000L) {
              Gloom.go(() -> {});
              Lab.spin(10_000);
            }
            assertEquals(1, others.get());
            assertSame(mine, Carrier.current());
            other.join();
            Gloom.unlockOSThread();
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void maxProcsMayChangeMeanwhile(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var crowd = new Crowd(lab, 10);
      var all = new ArrayList<Goroutine>();
      var stayed = new AtomicInteger();
      for (int i = 0; i < 5; i++) {
        all.add(
            lab.go(
                () -> {
                  Gloom.lockOSThread();
                  Thread mine = Carrier.current();
                  for (int k = 0; k < 100; k++) {
                    Gloom.gosched();
                    LockSupport.parkNanos(20_000);
                    if (Carrier.current() == mine) {
                      stayed.incrementAndGet();
                    }
                  }
                }));
      }
      for (int i = 0; i < 100; i++) {
        lab.scheduler().maxProcs(1 + i % 8);
        LockSupport.parkNanos(100_000);
      }
      for (Goroutine g : all) {
        g.join();
      }
      assertEquals(500, stayed.get());
      crowd.end();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void threadsStartedInsideAreNotLocked(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            Gloom.lockOSThread();
            Thread mine = Carrier.current();
            var carriers = ConcurrentHashMap.<Thread>newKeySet();
            Gloom.go(() -> carriers.add(Carrier.current())).join();
            Thread.ofVirtual().start(() -> carriers.add(Carrier.current())).join();
            assertFalse(carriers.isEmpty());
            assertFalse(carriers.contains(mine));
            Gloom.unlockOSThread();
          });
    }
  }

  // What a user's thread carries on, its group apart, must not get into the scheduler's threads.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void newThreadsComeFromTheStarterNotFromALockedOne(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      String prefix = lab.threadPrefix();
      var strange = new ClassLoader(getClass().getClassLoader()) {};
      lab.run(
          () -> {
            Gloom.lockOSThread();
            // What the locked thread itself has, below its goroutine.
            Carrier.current().setContextClassLoader(strange);
            Set<Thread> before = Set.copyOf(Lab.threads(prefix + "m"));
            var gate = new CountDownLatch(1);
            var inside = new AtomicInteger();
            List<Goroutine> more = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
              more.add(
                  Gloom.go(
                      () -> {
                        Gloom.lockOSThread();
                        inside.incrementAndGet();
                        gate.await();
                      }));
            }
            Lab.await("each has a thread", () -> inside.get() == 5);
            List<Thread> fresh = Lab.threads(prefix + "m");
            fresh.removeAll(before);
            assertTrue(fresh.size() >= 4, fresh.toString());
            for (Thread t : fresh) {
              assertSame(ClassLoader.getSystemClassLoader(), t.getContextClassLoader());
            }
            gate.countDown();
            for (Goroutine g : more) {
              g.join();
            }
            // It ends here, still locked, and its thread with it.
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aLockedThreadThatWaitsIsNotAnIdleOne(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(() -> {});
      var locked = new AtomicInteger();
      var gate = new CountDownLatch(1);
      var all = new ArrayList<Goroutine>();
      for (int i = 0; i < 6; i++) {
        all.add(
            lab.go(
                () -> {
                  Gloom.lockOSThread();
                  locked.incrementAndGet();
                  gate.await();
                }));
      }
      Scheduler s = lab.scheduler();
      Lab.await(
          "all sleep",
          () ->
              locked.get() == 6
                  && s.stats().idleProcs() == procs
                  && s.stats().threads() == s.stats().idleThreads() + 6);
      lab.run(() -> {}); // and one of the others is woken, not one of these
      gate.countDown();
      for (Goroutine g : all) {
        g.join();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aParkedLockedGoroutineOfAClosedSchedulerCanBeWokenAndThreadsEnd(int procs) throws Exception {
    Scheduler scheduler = Scheduler.builder().maxProcs(procs).build();
    var name = new AtomicReference<String>();
    for (boolean unlocks : new boolean[] {true, false}) {
      scheduler.run(
          () -> {
            name.set(Carrier.current().getName());
            if (!unlocks) {
              Gloom.lockOSThread();
            }
          });
    }
    var all = new Goroutine[4];
    var stayed = new AtomicInteger();
    for (int i = 0; i < all.length; i++) {
      boolean unlocks = i % 2 == 0;
      all[i] =
          scheduler.go(
              () -> {
                Gloom.lockOSThread();
                Thread mine = Carrier.current();
                LockSupport.park();
                if (Carrier.current() == mine) {
                  stayed.incrementAndGet();
                }
                if (unlocks) {
                  Gloom.unlockOSThread();
                }
              });
    }
    for (Goroutine g : all) {
      Lab.awaitWaiting(g);
    }
    scheduler.close();
    String prefix = name.get().substring(0, name.get().lastIndexOf('-') + 1);
    assertTrue(Lab.threads(prefix + "m").size() >= all.length);
    for (Goroutine g : all) {
      LockSupport.unpark(g.thread());
      g.join();
    }
    assertEquals(all.length, stayed.get());
    Lab.await("all threads end", () -> Lab.threads(prefix).isEmpty());
    assertEquals(0, scheduler.stats().threads());
    Lab.noRescues(scheduler);
  }

  @Test
  void onAThreadThatIsNoGoroutineItDoesNothing() throws Exception {
    Gloom.lockOSThread();
    Gloom.unlockOSThread();
    Gloom.unlockOSThread();
    var outcome = new AtomicReference<Throwable>();
    Thread.ofVirtual() // of the JDK's own scheduler
        .start(
            () -> {
              try {
                Gloom.lockOSThread();
                Gloom.unlockOSThread();
              } catch (Throwable e) {
                outcome.set(e);
              }
            })
        .join();
    assertSame(null, outcome.get());
  }
}
