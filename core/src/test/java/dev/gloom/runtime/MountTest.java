package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.Lab;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Both ways of mounting: what a goroutine leaves on its carrier, what it finds when it comes back,
/// and what reaches it while it is away. That no wake-up is lost is shown by `LeanMountStress`.
@Timeout(60)
class MountTest {
  private static final ScopedValue<String> WHO = ScopedValue.newInstance();
  private static final long STORM_NANOS = 1_000_000_000L;

  private final List<Sched> made = new ArrayList<>();

  private Sched sched(String mount, int procs) {
    var properties = new Properties();
    properties.setProperty("gloom.mount", mount);
    var sched = new Sched(procs, Knobs.of(properties, Map.of()));
    made.add(sched);
    return sched;
  }

  @AfterEach
  void allIsQuiet() {
    for (Sched sched : made) {
      assertEquals(0, sched.sysmon.rescues(), "rescues");
      sched.close();
    }
  }

  @Test
  void gloomsOwnIsTheDefaultOnThisJdk() {
    assertEquals("lean", sched("lean", 1).counters().mount());
    assertEquals(true, Knobs.of(new Properties(), Map.of()).leanMount());
  }

  @Test
  void theJdksIsThereForTheAsking() {
    assertEquals("jdk: gloom.mount=jdk is set", sched("jdk", 1).counters().mount());
  }

  @ParameterizedTest
  @ValueSource(strings = {"lean", "jdk"})
  void currentThreadIsTheGoroutineBeforeAndAfterEverySuspension(String mount) throws Exception {
    var sched = sched(mount, 2);
    sched.run(
        () -> {
          Thread me = Thread.currentThread();
          G g = Sched.currentG();
          assertNotNull(g);
          assertSame(me, g.thread());
          var other = Spawn.go(sched, "", () -> null);
          for (int i = 0; i < 1_000; i++) {
            Sched.gosched();
            Thread.yield();
            LockSupport.parkNanos(1);
            assertSame(me, Thread.currentThread());
            assertSame(g, Sched.currentG());
          }
          assertNull(other.join());
          return null;
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"lean", "jdk"})
  void scopedValuesStayWithTheirGoroutine(String mount) throws Exception {
    var sched = sched(mount, 1);
    var there = new Channel(0);
    var back = new Channel(0);
    sched.run(
        () -> {
          var bound =
              Spawn.go(
                  sched,
                  "",
                  () ->
                      ScopedValue.where(WHO, "bound")
                          .call(
                              () -> {
                                for (int i = 0; i < 10_000; i++) {
                                  assertEquals("bound", WHO.get());
                                  there.send(i);
                                  assertEquals("bound", WHO.get());
                                  back.recv();
                                }
                                return null;
                              }));
          for (int i = 0; i < 10_000; i++) {
            assertFalse(WHO.isBound(), "read from the cache of another goroutine");
            there.recv();
            assertFalse(WHO.isBound(), "read from the cache of another goroutine");
            back.send(i);
          }
          assertNull(bound.join());
          return null;
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"lean", "jdk"})
  void anInterruptedGoroutineLeavesNoInterruptOnItsThread(String mount) throws Exception {
    var sched = sched(mount, 1);
    sched.run(
        () -> {
          for (int i = 0; i < 1_000; i++) {
            var interrupted =
                Spawn.go(
                    sched,
                    "",
                    () -> {
                      Thread.currentThread().interrupt();
                      Sched.gosched(); // leaves its thread, interrupted
                      assertTrue(Thread.interrupted(), "it came back without its interrupt");
                      return null;
                    });
            Sched.gosched();
            M m = M.current();
            assertNotNull(m);
            assertFalse(m.isInterrupted(), "left on the thread");
            assertFalse(Thread.currentThread().isInterrupted());
            assertNull(interrupted.join());
          }
          return null;
        });
  }

  /// Whoever waits in a channel is interrupted, unparked by strangers and has its stack taken, all
  /// the time; every value arrives once and in order.
  @ParameterizedTest
  @ValueSource(strings = {"lean", "jdk"})
  void aWaitSurvivesWhateverComesToIt(String mount) throws Exception {
    var sched = sched(mount, 2);
    var numbers = new Channel(0);
    var over = new AtomicInteger();
    var interrupts = new AtomicLong();
    var received = new AtomicLong();
    var failure = new AtomicReference<Throwable>();
    var started = new CountDownLatch(2);

    G sender =
        Spawn.go(
            sched,
            "",
            () -> {
              started.countDown();
              long next = 1;
              while (over.get() == 0) {
                try {
                  if (numbers.send(next)) {
                    next++;
                  }
                } catch (InterruptedException e) {
                  interrupts.incrementAndGet();
                }
              }
              Thread.interrupted();
              numbers.close();
              return null;
            });
    G receiver =
        Spawn.go(
            sched,
            "",
            () -> {
              started.countDown();
              long expected = 1;
              for (; ; ) {
                try {
                  Object got = numbers.recv();
                  if (got == null) {
                    break;
                  }
                  if ((long) got != expected) {
                    failure.compareAndSet(null, new AssertionError(expected + ": " + got));
                  }
                  expected++;
                } catch (InterruptedException e) {
                  interrupts.incrementAndGet();
                }
              }
              received.set(expected - 1);
              return null;
            });
    started.await();
    var victims = List.of(sender.thread(), receiver.thread());
    var storm =
        List.of(
            storm(over, () -> victims.forEach(Thread::interrupt)),
            storm(over, () -> victims.forEach(LockSupport::unpark)),
            storm(over, () -> victims.forEach(Thread::getStackTrace)));
    LockSupport.parkNanos(Lab.stress() * STORM_NANOS);
    over.set(1);
    for (Thread thread : storm) {
      thread.join();
    }
    assertNull(sender.join());
    assertNull(receiver.join());
    if (failure.get() != null) {
      throw new AssertionError(failure.get());
    }
    assertTrue(received.get() > 1_000, "received " + received);
    assertTrue(interrupts.get() > 100, "interrupted " + interrupts);
  }

  private static Thread storm(AtomicInteger over, Runnable blow) {
    return Thread.ofPlatform()
        .start(
            () -> {
              while (over.get() == 0) {
                blow.run();
                LockSupport.parkNanos(10_000);
              }
            });
  }
}
