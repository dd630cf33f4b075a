package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.Lab;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What the real system says about real threads.
@Timeout(60)
@EnabledOnOs(OS.LINUX)
class KernelTest {
  private final Kernel kernel = Kernel.SYSTEM;
  private final AtomicBoolean stop = new AtomicBoolean();

  @AfterEach
  void letThreadsEnd() {
    stop.set(true);
  }

  /// Starts a thread that tells its number and then does `step` until the test is over.
  private int thread(String name, Runnable step) {
    var tid = new AtomicInteger();
    Thread t =
        new Thread(
            () -> {
              tid.set(kernel.thisThread());
              while (!stop.get()) {
                step.run();
              }
            },
            name);
    t.setDaemon(true);
    t.start();
    Lab.await("the number of " + name, () -> tid.get() != 0);
    return tid.get();
  }

  private int sleeper(String name) {
    return thread(name, () -> LockSupport.parkNanos(1_000_000_000));
  }

  private int spinner() {
    return thread("spinner", Thread::onSpinWait);
  }

  @Test
  void threadThatSleepsIsAsleep() {
    int tid = sleeper("sleeper");
    Lab.await("it sleeps", () -> kernel.asleep(tid));
  }

  // It may wait for a core all the while.
  @Test
  void threadThatComputesIsNeverAsleep() {
    int tid = spinner();
    long before = kernel.cpuNanos(tid);
    int looks = 0;
    while (kernel.cpuNanos(tid) - before < 20_000_000) {
      // A safepoint can stop it for a moment, on a busy machine for milliseconds; then it goes on.
      long starts = kernel.starts(tid);
      if (kernel.asleep(tid)) {
        Lab.await("it goes on", () -> !kernel.asleep(tid) || kernel.starts(tid) != starts);
      }
      looks++;
    }
    assertTrue(looks > 1, "it was looked at " + looks + " times");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b", "S) R (S", "))))", "x) S 1 2", "( S", "\n R"})
  void nameOfAThreadMeansNothing(String name) {
    int sleeps = sleeper(name);
    Lab.await("it sleeps", () -> kernel.asleep(sleeps));
  }

  @ParameterizedTest
  @ValueSource(strings = {"x) S (", ") S S S", "S"})
  void nameThatSaysAsleepMeansNothing(String name) {
    int runs = thread(name, Thread::onSpinWait);
    Lab.await("it runs", () -> !kernel.asleep(runs));
  }

  @Test
  void cpuTimeOfWhoComputesGrows() {
    int tid = spinner();
    long before = kernel.cpuNanos(tid);
    assertNotEquals(Kernel.UNKNOWN, before);
    Lab.await("10 ms of CPU time", () -> kernel.cpuNanos(tid) - before >= 10_000_000);
  }

  @Test
  void cpuTimeOfWhoSleepsDoesNot() {
    int tid = sleeper("sleeper");
    Lab.await("it sleeps", () -> kernel.asleep(tid));
    long before = kernel.cpuNanos(tid);
    long starts = kernel.starts(tid);
    Lab.spin(5_000_000);
    if (kernel.starts(tid) == starts) { // else its second was over
      assertEquals(before, kernel.cpuNanos(tid));
    }
  }

  @Test
  void startsGrowWithEachSleep() {
    int tid = thread("often", () -> LockSupport.parkNanos(100_000));
    long before = kernel.starts(tid);
    assertNotEquals(Kernel.UNKNOWN, before);
    Lab.await("10 starts", () -> kernel.starts(tid) - before >= 10);
  }

  @Test
  void startsOfWhoSleepsStay() {
    int tid = thread("sleeper", () -> LockSupport.park());
    Lab.await("it sleeps", () -> kernel.asleep(tid));
    long before = kernel.starts(tid);
    Lab.spin(5_000_000);
    assertTrue(kernel.starts(tid) - before <= 1, "at most a park that came late");
  }

  @Test
  void nothingIsKnownAboutAThreadThatHasEnded() {
    int tid = sleeper("short");
    stop.set(true);
    Lab.await("nothing is known", () -> kernel.starts(tid) == Kernel.UNKNOWN);
    assertEquals(Kernel.UNKNOWN, kernel.cpuNanos(tid));
    assertFalse(kernel.asleep(tid));
  }

  @Test
  void nothingIsKnownAboutNoThread() {
    assertEquals(Kernel.UNKNOWN, kernel.starts(0));
    assertEquals(Kernel.UNKNOWN, kernel.cpuNanos(0));
    assertFalse(kernel.asleep(0));
  }

  @Test
  void eachThreadHasANumberOfItsOwn() {
    assertNotEquals(0, kernel.thisThread());
    assertEquals(kernel.thisThread(), kernel.thisThread());
    assertNotEquals(kernel.thisThread(), spinner());
  }
}
