package dev.gloom.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.api.Lab;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The contract of `execute`: it may come when there is nothing to do. `Thread.getStackTrace`
/// suspends a runnable virtual thread and submits it again, at any moment; against every kind of
/// wake-up, no wake-up may be lost by that and no goroutine may run twice at once.
@Timeout(120)
class StackTraceStormTest {
  private static final long STORM_NANOS = 2_000_000_000L;

  private volatile boolean over;
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final List<Goroutine> actors = new ArrayList<>();
  private final AtomicLong steps = new AtomicLong();

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void wakeUpsSurviveStackTraces(int procs) {
    Lab.seeded(
        seed -> {
          try (var lab = Lab.procs(procs)) {
            for (int i = 0; i < 4; i++) {
              parkers(lab);
              waiters(lab);
            }
            contenders(lab);
            yielders(lab);
            sleepers(lab);
            var fromOutside = wokenFromOutside(lab);
            var samplers = new ArrayList<Thread>();
            for (int i = 0; i < 2; i++) {
              var random = new Random(seed + i);
              samplers.add(Thread.ofPlatform().start(() -> sample(random)));
            }
            Goroutine inside = lab.go(() -> sample(new Random(seed + 2)));

            long end = System.nanoTime() + Lab.stress() * STORM_NANOS;
            while (end - System.nanoTime() > 0 && failure.get() == null) {
              LockSupport.parkNanos(50_000);
              fromOutside.run();
            }
            over = true;
            fromOutside.run(); // it may have parked again before it could see that
            for (Thread t : samplers) {
              t.join();
            }
            inside.join();
            for (Goroutine g : actors) {
              if (!g.join(Duration.ofSeconds(20))) {
                throw new AssertionError(g + " is lost: " + g.thread() + ", " + failure.get());
              }
            }
            assertNull(failure.get());
            assertEquals(0, contended % CONTENDERS);
            assertTrue(steps.get() > 1_000, () -> "only " + steps.get() + " steps");
          }
        });
  }

  /// A goroutine that checks, between any two switches, that it is alone in itself.
  private final class Actor {
    private final AtomicInteger inside = new AtomicInteger();

    void step() {
      if (inside.getAndIncrement() != 0) {
        failure.compareAndSet(
            null, new AssertionError("runs twice at once: " + Thread.currentThread()));
      }
      steps.incrementAndGet();
      Thread.onSpinWait();
      inside.decrementAndGet();
    }
  }

  private interface Play {
    void run(Actor me) throws Exception;
  }

  private Thread act(Lab lab, Play play) {
    Goroutine g =
        lab.go(
            () -> {
              try {
                play.run(new Actor());
              } catch (Throwable e) {
                failure.compareAndSet(null, e);
              }
            });
    actors.add(g);
    return g.thread();
  }

  /// Two that wake each other by unpark. Each waits for its turn without a time limit: one lost
  /// wake-up and both hang.
  private void parkers(Lab lab) {
    var turn = new AtomicInteger();
    var threads = new AtomicReference<Thread[]>();
    var made = new Thread[2];
    for (int i = 0; i < 2; i++) {
      int mine = i;
      made[i] =
          act(
              lab,
              me -> {
                Lab.await("the partner", () -> threads.get() != null);
                Thread partner = threads.get()[1 - mine];
                while (!over) {
                  while (turn.get() != mine && !over) {
                    LockSupport.park();
                    me.step();
                  }
                  turn.set(1 - mine);
                  LockSupport.unpark(partner);
                  me.step();
                }
                LockSupport.unpark(partner);
              });
    }
    threads.set(made);
  }

  /// Two that wake each other by notify.
  private void waiters(Lab lab) {
    var lock = new Object();
    var turn = new int[1];
    for (int i = 0; i < 2; i++) {
      int mine = i;
      act(
          lab,
          me -> {
            while (!over) {
              synchronized (lock) {
                while (turn[0] != mine && !over) {
                  lock.wait();
                  me.step();
                }
                turn[0] = 1 - mine;
                lock.notify();
              }
              me.step();
            }
            synchronized (lock) {
              lock.notifyAll();
            }
          });
    }
  }

  private static final int CONTENDERS = 4;
  private final Object contendedLock = new Object();
  private long contended; // guarded by contendedLock

  /// Some that contend for a monitor, which each holds across a yield now and then.
  private void contenders(Lab lab) {
    for (int i = 0; i < CONTENDERS; i++) {
      act(
          lab,
          me -> {
            for (int k = 0; !over; k++) {
              synchronized (contendedLock) {
                long before = contended;
                if (k % 8 == 0) {
                  Gloom.gosched();
                }
                contended = before + CONTENDERS;
                me.step();
              }
              me.step();
            }
          });
    }
  }

  private void yielders(Lab lab) {
    for (int i = 0; i < 4; i++) {
      act(
          lab,
          me -> {
            while (!over) {
              Gloom.gosched();
              me.step();
            }
          });
    }
  }

  /// Woken by the JDK's timer thread.
  private void sleepers(Lab lab) {
    for (int i = 0; i < 4; i++) {
      long nanos = 1_000L << 3 * i;
      act(
          lab,
          me -> {
            while (!over) {
              LockSupport.parkNanos(nanos);
              me.step();
            }
          });
    }
  }

  /// Woken by the platform thread of the test; the answer is what it has to do.
  private Runnable wokenFromOutside(Lab lab) {
    var given = new AtomicLong();
    var taken = new AtomicLong();
    Thread t =
        act(
            lab,
            me -> {
              while (!over) {
                while (taken.get() == given.get() && !over) {
                  LockSupport.park();
                  me.step();
                }
                taken.set(given.get());
              }
            });
    return () -> {
      // The one before must have arrived.
      Lab.await("it took what it was given", () -> over || taken.get() == given.get());
      given.incrementAndGet();
      LockSupport.unpark(t);
    };
  }

  @SuppressWarnings("ReturnValueIgnored") // the call is what disturbs
  private void sample(Random random) {
    while (!over) {
      Thread t = actors.get(random.nextInt(actors.size())).thread();
      switch (random.nextInt(4)) {
        case 0 -> t.getState();
        case 1 -> t.toString();
        default -> t.getStackTrace();
      }
    }
  }
}
