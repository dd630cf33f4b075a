package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// How often sysmon looks at the CPUs, its rounds called by hand. That changes arrive:
/// dev.gloom.api.QuotaTest.
@Timeout(20)
class CpuFollowerTest {
  private static final long MILLI = 1_000_000;

  @TempDir Path directory;
  private int looks;
  private int says = 3;
  private boolean memory = true;

  private final Cpus.Jvm jvm =
      new Cpus.Jvm() {
        @Override
        public int says() {
          looks++;
          if (!memory) {
            throw new OutOfMemoryError("made up");
          }
          return says;
        }

        @Override
        public String[] arguments() {
          return new String[0];
        }
      };

  /// A scheduler of which nothing runs, so it must not change its number either.
  private Sched sched(int maxProcs, boolean updates) {
    var cpus = new Cpus(directory, true, updates, jvm);
    var sched =
        new Sched(
            maxProcs,
            new Knobs(maxProcs, false, true),
            1,
            new Still.HandClock(),
            new Still.HandParker(),
            cpus,
            Kernel.SYSTEM);
    looks = 0;
    return sched;
  }

  private static void pass(Sched sched, int fromMillis, int millis) {
    for (int i = 1; i <= millis; i++) {
      sched.sysmon.round((fromMillis + i) * MILLI);
    }
  }

  @Test
  void looksOnceASecond() {
    var sched = sched(Knobs.BY_DEFAULT, true);
    pass(sched, 0, 1);
    assertEquals(1, looks, "at the first round");
    pass(sched, 1, 999);
    assertEquals(1, looks);
    pass(sched, 1_000, 1);
    assertEquals(2, looks);
    pass(sched, 1_001, 10_000);
    assertEquals(12, looks);
  }

  @Test
  void doesNotLookAtANumberThatSomebodySet() {
    var sched = sched(3, true);
    pass(sched, 0, 3_000);
    assertEquals(0, looks);
    assertEquals(3, sched.defaultMaxProcs());
    assertEquals(1, looks);
    pass(sched, 3_000, 2_001);
    assertEquals(4, looks, "followed again");
    sched.maxProcs(3);
    pass(sched, 5_001, 3_000);
    assertEquals(4, looks);
  }

  @Test
  void doesNotLookIfUpdatesAreOff() {
    var sched = sched(Knobs.BY_DEFAULT, false);
    assertEquals(3, sched.maxProcs());
    pass(sched, 0, 3_000);
    assertEquals(0, looks);
  }

  // The thread that makes the change may come when somebody has just set a number.
  @Test
  void lateChangeDoesNotOverrideTheUser() {
    var cpus = new Cpus(directory, true, false, jvm);
    var sched =
        new Sched(
            3, new Knobs(3, false, true), 1, Clock.SYSTEM, Parker.SYSTEM, cpus, Kernel.SYSTEM);
    says = 5;
    sched.resize.follow();
    assertEquals(3, sched.maxProcs());
    assertEquals(5, sched.defaultMaxProcs());
    says = 4;
    sched.resize.follow();
    assertEquals(4, sched.maxProcs());
    sched.close();
  }

  @Test
  void wantOfMemoryIsNoReasonToStop() {
    var sched = sched(Knobs.BY_DEFAULT, true);
    memory = false;
    try {
      pass(sched, 0, 1_001);
    } catch (OutOfMemoryError e) { // which JUnit takes for its own
      throw new AssertionError(e);
    }
    memory = true;
    pass(sched, 1_001, 1_000);
    assertTrue(looks >= 3, () -> "looks: " + looks);
  }
}
