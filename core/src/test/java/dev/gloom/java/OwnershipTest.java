package dev.gloom.java;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.api.Lab;
import dev.gloom.jdk.Carrier;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What a goroutine holds is its own, not its thread's: it yields or parks, goes on on another M,
/// and still owns its locks, monitors and locals; whoever runs on its old thread meanwhile does
/// not.
@Timeout(120)
class OwnershipTest {
  private static final int MOVES = 20;

  private interface Step {
    void run() throws Exception;
  }

  /// Lets the caller go on until it has been seen on another thread, `MOVES` times, with a yield, a
  /// park and a sleep in turn; `check` is run after each. Others compute and yield beside it, and
  /// it is woken from outside, through the global queue, so that it is moved about.
  private static void whileMoving(Lab lab, Step check) throws Exception {
    var stop = new AtomicBoolean();
    var others = new Goroutine[6];
    for (int i = 0; i < others.length; i++) {
      others[i] =
          lab.go(
              () -> {
                while (!stop.get()) {
                  Lab.spin(20_000);
                  Gloom.gosched();
                }
              });
    }
    Thread mover = Thread.currentThread();
    Thread waker =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  while (!stop.get()) {
                    LockSupport.unpark(mover);
                    LockSupport.parkNanos(50_000);
                  }
                });
    try {
      int moves = 0;
      long giveUp = System.nanoTime() + 60_000_000_000L;
      for (int i = 0; moves < MOVES; i++) {
        Thread before = Carrier.current();
        switch (i % 3) {
          case 0 -> Gloom.gosched();
          case 1 -> LockSupport.park();
          default -> Thread.sleep(0, 20_000);
        }
        if (Carrier.current() != before) {
          moves++;
        }
        check.run();
        int seen = moves;
        assertTrue(System.nanoTime() - giveUp < 0, () -> "only " + seen + " moves");
      }
    } finally {
      stop.set(true);
      waker.join();
      for (Goroutine g : others) {
        g.join();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 8})
  void aReentrantLockStaysWithTheGoroutine(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var lock = new ReentrantLock();
      var intruders = new AtomicInteger();
      lab.run(
          () -> {
            lock.lock();
            lock.lock();
            Goroutine waits = lab.go(() -> intrude(lock, intruders));
            whileMoving(
                lab,
                () -> {
                  assertTrue(lock.isHeldByCurrentThread());
                  assertEquals(2, lock.getHoldCount());
                  assertEquals(0, intruders.get());
                  lab.run(() -> assertTrue(!lock.tryLock(), "another goroutine got it"));
                });
            lock.unlock();
            lock.unlock();
            waits.join();
          });
      assertEquals(1, intruders.get());
    }
  }

  private static void intrude(ReentrantLock lock, AtomicInteger intruders) {
    lock.lock();
    intruders.incrementAndGet();
    lock.unlock();
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 8})
  void aMonitorStaysWithTheGoroutine(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var monitor = new Object();
      var intruders = new AtomicInteger();
      lab.run(
          () -> {
            Goroutine waits;
            synchronized (monitor) {
              waits =
                  lab.go(
                      () -> {
                        synchronized (monitor) {
                          intruders.incrementAndGet();
                        }
                      });
              synchronized (monitor) {
                whileMoving(
                    lab,
                    () -> {
                      assertTrue(Thread.holdsLock(monitor));
                      assertEquals(0, intruders.get());
                      monitor.notifyAll(); // throws if it is not the owner
                      lab.run(() -> assertTrue(!Thread.holdsLock(monitor)));
                    });
              }
              assertTrue(Thread.holdsLock(monitor));
            }
            assertTrue(!Thread.holdsLock(monitor));
            waits.join();
          });
      assertEquals(1, intruders.get());
    }
  }

  @Test
  void readHoldsStayWithTheGoroutine() throws Exception {
    try (var lab = Lab.procs(2)) {
      var lock = new ReentrantReadWriteLock(true);
      lab.run(
          () -> {
            lock.readLock().lock();
            lock.readLock().lock();
            whileMoving(
                lab,
                () -> {
                  assertEquals(2, lock.getReadHoldCount());
                  lab.run(() -> assertEquals(0, lock.getReadHoldCount()));
                });
            lock.readLock().unlock();
            lock.readLock().unlock();
          });
      assertEquals(0, lock.getReadLockCount());
    }
  }

  /// Wait gives up a monitor that was entered three times, and comes back, perhaps on another
  /// thread, with all three.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void waitGivesUpAndTakesBackAllEntries(int procs) throws Exception {
    var monitor = new Object();
    var turn = new int[1];
    Crew.onGloom(
        procs,
        0,
        1,
        crew -> {
          crew.each(
              2,
              me -> {
                for (int round = 0; round < 200; round++) {
                  synchronized (monitor) {
                    synchronized (monitor) {
                      synchronized (monitor) {
                        while (turn[0] % 2 != me) {
                          monitor.wait();
                        }
                        turn[0]++;
                        monitor.notifyAll();
                      }
                      assertTrue(Thread.holdsLock(monitor));
                    }
                    assertTrue(Thread.holdsLock(monitor));
                  }
                  assertTrue(!Thread.holdsLock(monitor));
                }
              });
          return null;
        });
    assertEquals(400, turn[0]);
  }

  // What travels with it.

  @ParameterizedTest
  @ValueSource(ints = {2, 8})
  void localsLoaderHandlerNameAndFlagTravelWithTheGoroutine(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var local = ThreadLocal.withInitial(() -> "nothing");
      ScopedValue<String> scoped = ScopedValue.newInstance();
      var loader = new ClassLoader(OwnershipTest.class.getClassLoader()) {};
      Thread.UncaughtExceptionHandler handler = (_, _) -> {};
      lab.run(
          () -> {
            Thread me = Thread.currentThread();
            local.set("mine");
            me.setContextClassLoader(loader);
            me.setUncaughtExceptionHandler(handler);
            me.setName("moving");
            ScopedValue.where(scoped, "bound")
                .call(
                    () -> {
                      whileMoving(
                          lab,
                          () -> {
                            assertSame(me, Thread.currentThread());
                            assertEquals("mine", local.get());
                            assertEquals("bound", scoped.get());
                            assertSame(loader, me.getContextClassLoader());
                            assertSame(handler, me.getUncaughtExceptionHandler());
                            assertEquals("moving", me.getName());
                            lab.run(() -> assertEquals("nothing", local.get()));
                          });
                      return null;
                    });
            assertTrue(!scoped.isBound());
          });
    }
  }

  // What is inherited, whichever way a goroutine is started.

  private interface Starting {
    void start(Lab lab, Runnable body) throws Exception;
  }

  enum Way {
    GO((lab, body) -> lab.go(body::run).join()),
    RUN((lab, body) -> lab.run(body::run)),
    FACTORY(
        (lab, body) -> {
          Thread t = lab.scheduler().threadFactory().newThread(body);
          t.start();
          t.join();
        }),
    EXECUTOR(
        (lab, body) -> {
          try (var executor = lab.scheduler().executor()) {
            executor.submit(body).get();
          }
        }),
    ADOPTED((_, body) -> Thread.ofVirtual().start(body).join()),
    ADOPTED_EXECUTOR(
        (_, body) -> {
          try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            executor.submit(body).get();
          }
        });

    private final Starting way;

    Way(Starting way) {
      this.way = way;
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void inheritableLocalsAndLoaderAreInheritedAndNothingElse(Way way) throws Exception {
    try (var lab = Lab.procs(2)) {
      var plain = new ThreadLocal<String>();
      var inherited =
          new InheritableThreadLocal<String>() {
            @Override
            protected String childValue(String parent) {
              return parent + "'s child";
            }
          };
      ScopedValue<String> scoped = ScopedValue.newInstance();
      var loader = new ClassLoader(OwnershipTest.class.getClassLoader()) {};
      var seen = new AtomicBoolean();
      lab.run(
          () -> {
            plain.set("parent");
            inherited.set("parent");
            Thread.currentThread().setContextClassLoader(loader);
            Thread.currentThread().interrupt();
            assertTrue(Thread.interrupted());
            ScopedValue.where(scoped, "parent")
                .call(
                    () -> {
                      way.way.start(
                          lab,
                          () -> {
                            assertNull(plain.get());
                            assertEquals("parent's child", inherited.get());
                            assertSame(loader, Thread.currentThread().getContextClassLoader());
                            assertTrue(!scoped.isBound(), "only a task scope hands these on");
                            assertTrue(!Thread.currentThread().isInterrupted());
                            inherited.set("child");
                            seen.set(true);
                          });
                      return null;
                    });
            assertEquals("parent", inherited.get());
          });
      assertTrue(seen.get());
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void groupPriorityAndDaemonAreThoseOfAnyVirtualThread(Way way) throws Exception {
    Thread plain = Thread.ofVirtual().unstarted(() -> {});
    try (var lab = Lab.procs(1)) {
      var seen = new AtomicBoolean();
      lab.run(
          () ->
              way.way.start(
                  lab,
                  () -> {
                    Thread me = Thread.currentThread();
                    assertTrue(me.isVirtual());
                    assertTrue(me.isDaemon());
                    assertSame(plain.getThreadGroup(), me.getThreadGroup());
                    assertEquals("VirtualThreads", me.getThreadGroup().getName());
                    assertEquals(Thread.NORM_PRIORITY, me.getPriority());
                    me.setPriority(Thread.MAX_PRIORITY); // ignored
                    assertEquals(Thread.NORM_PRIORITY, me.getPriority());
                    Thread platform = new Thread(() -> {});
                    assertTrue(!platform.isVirtual());
                    assertTrue(platform.isDaemon());
                    assertSame(me.getThreadGroup(), platform.getThreadGroup());
                    seen.set(true);
                  }));
      assertTrue(seen.get());
    }
  }
}
