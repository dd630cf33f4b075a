package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// When a thread counts as asleep, and when as one that burns, with a kernel of the test's own.
@Timeout(20)
class HoldTest {
  private static final long MICRO = 1_000;
  private static final long SLICE = 10_000_000;

  private final Still still = new Still(2);
  private final Still.HandKernel kernel = still.kernel;
  private final P p = still.p(0);
  private final M m = still.busy(p);
  private final Hold hold = new Hold();

  private boolean asleepAt(long micros) {
    return hold.isAsleep(p, kernel, micros * MICRO, 0);
  }

  // Asleep.

  @Test
  void oneLookIsNotEnough() {
    kernel.sleeps(m);
    assertFalse(asleepAt(1_000));
    assertTrue(hold.suspected(), "but the next should come soon");
  }

  @Test
  void twoLooks100MicrosApartAre() {
    kernel.sleeps(m);
    asleepAt(1_000);
    assertFalse(asleepAt(1_099));
    assertTrue(asleepAt(1_100));
  }

  @Test
  void whoRunsIsNotAsleepHoweverOftenItIsLookedAt() {
    for (int i = 0; i < 100; i++) {
      assertFalse(asleepAt(1_000 * i));
      assertFalse(hold.suspected());
    }
  }

  @Test
  void whoRanInBetweenBeginsAnew() {
    kernel.sleeps(m);
    asleepAt(1_000);
    kernel.runs(m);
    assertFalse(asleepAt(1_100));
    kernel.sleeps(m);
    assertFalse(asleepAt(1_200));
    assertTrue(asleepAt(1_300));
  }

  // A loop of short calls is asleep at nearly every look.
  @Test
  void whoGotACoreInBetweenBeginsAnew() {
    kernel.sleeps(m);
    for (int i = 0; i < 100; i++) {
      assertFalse(asleepAt(1_000 * i));
      kernel.started(m);
    }
    assertFalse(asleepAt(200_000));
    assertTrue(asleepAt(200_100));
  }

  @Test
  void anotherGoroutineBeginsAnew() {
    kernel.sleeps(m);
    asleepAt(1_000);
    Still.dispatched(p);
    assertFalse(asleepAt(1_100));
    p.inherit = true;
    Still.dispatched(p);
    assertFalse(asleepAt(1_200), "also one that inherits its slice");
    assertTrue(asleepAt(1_300));
  }

  // Both may have had a core equally often.
  @Test
  void anotherThreadBeginsAnew() {
    kernel.sleeps(m);
    asleepAt(1_000);
    M other = still.busy(p);
    kernel.sleeps(other);
    assertFalse(asleepAt(1_100));
    assertTrue(asleepAt(1_200));
  }

  @Test
  void nobodyIsAskedBeforeTheGoroutineHasBeenThereForAWhile() {
    kernel.sleeps(m);
    assertFalse(hold.isAsleep(p, kernel, 0, SLICE));
    assertFalse(hold.isAsleep(p, kernel, SLICE - 1, SLICE));
    assertEquals(0, kernel.asked);
    assertFalse(hold.isAsleep(p, kernel, SLICE, SLICE));
    assertEquals(1, kernel.asked);
    assertTrue(hold.isAsleep(p, kernel, SLICE + 100 * MICRO, SLICE));
  }

  @Test
  void whoComputesIsAskedEverMoreRarely() {
    var looks = new ArrayList<Integer>();
    for (int millis = 0; millis <= 16; millis++) {
      int before = kernel.asked;
      assertFalse(hold.isAsleep(p, kernel, millis * 1_000 * MICRO, 1));
      if (kernel.asked > before) {
        looks.add(millis);
      }
    }
    assertEquals(List.of(1, 3, 8, 13), looks);
    kernel.sleeps(m);
    assertFalse(hold.isAsleep(p, kernel, 17_000 * MICRO, 1), "it computed at 13");
    assertFalse(hold.suspected());
    assertFalse(hold.isAsleep(p, kernel, 18_000 * MICRO, 1));
    assertTrue(hold.suspected());
    assertTrue(hold.isAsleep(p, kernel, 18_100 * MICRO, 1));
  }

  @Test
  void inACrowdItIsAskedAtOnce() {
    assertFalse(hold.isAsleep(p, kernel, 0, 1));
    assertFalse(hold.isAsleep(p, kernel, 8_000 * MICRO, 1));
    kernel.sleeps(m);
    assertFalse(hold.isAsleep(p, kernel, 8_100 * MICRO, 0));
    assertTrue(hold.isAsleep(p, kernel, 8_200 * MICRO, 0));
  }

  @Test
  void whoWasSeenAsleepInACrowdIsAskedAgainAtOnce() {
    assertFalse(hold.isAsleep(p, kernel, 0, 1));
    assertFalse(hold.isAsleep(p, kernel, 8_000 * MICRO, 1), "awake: the next look at 13 ms");
    kernel.sleeps(m);
    assertFalse(hold.isAsleep(p, kernel, 8_100 * MICRO, 0));
    assertTrue(hold.isAsleep(p, kernel, 8_200 * MICRO, 1), "the crowd is over");
  }

  @Test
  void threadThatNothingIsKnownAboutIsNotAsleep() {
    kernel.ended(m);
    kernel.sleeps(m);
    assertFalse(asleepAt(1_000));
    assertFalse(asleepAt(2_000));
    p.holder = null;
    assertFalse(asleepAt(3_000), "nor is nobody");
  }

  @Test
  void forgettingBeginsAnew() {
    kernel.sleeps(m);
    asleepAt(1_000);
    hold.forgetSleep();
    assertFalse(hold.suspected());
    assertFalse(asleepAt(1_100));
    assertTrue(asleepAt(1_200));
  }

  // Burning.

  private boolean burnsAt(long nanos) {
    return hold.burns(p, kernel, nanos, SLICE);
  }

  @Test
  void sliceOfCpuTimeAfterItWasAskedIsBurning() {
    hold.asked(p, kernel, 0);
    kernel.burnt(m, SLICE);
    assertTrue(burnsAt(SLICE));
  }

  @Test
  void timeOnTheWallIsNot() {
    hold.asked(p, kernel, 0);
    kernel.burnt(m, SLICE - 1);
    assertFalse(burnsAt(100 * SLICE), "it waited for a core");
    kernel.burnt(m, 1);
    assertTrue(burnsAt(100 * SLICE));
  }

  @Test
  void cpuTimeFromBeforeItWasAskedDoesNotCount() {
    kernel.burnt(m, 100 * SLICE);
    assertFalse(burnsAt(SLICE), "not asked yet");
    hold.asked(p, kernel, SLICE);
    kernel.burnt(m, SLICE / 2);
    assertFalse(burnsAt(2 * SLICE));
  }

  @Test
  void beingAskedAgainDoesNotStartTheTimeAnew() {
    hold.asked(p, kernel, 0);
    kernel.burnt(m, SLICE / 2);
    hold.asked(p, kernel, SLICE);
    kernel.burnt(m, SLICE / 2);
    assertTrue(burnsAt(2 * SLICE));
  }

  @Test
  void anotherGoroutineIsNotTheOneThatWasAsked() {
    hold.asked(p, kernel, 0);
    kernel.burnt(m, SLICE);
    Still.dispatched(p);
    assertFalse(burnsAt(SLICE));
    hold.asked(p, kernel, SLICE);
    kernel.burnt(m, SLICE);
    assertTrue(burnsAt(2 * SLICE));
  }

  // An older thread has used more.
  @Test
  void anotherThreadIsNotTheOneThatWasAsked() {
    hold.asked(p, kernel, 0);
    M other = still.busy(p);
    kernel.burnt(other, 100 * SLICE);
    assertFalse(burnsAt(SLICE));
    hold.asked(p, kernel, SLICE);
    assertFalse(burnsAt(2 * SLICE));
    kernel.burnt(other, SLICE);
    assertTrue(burnsAt(2 * SLICE));
  }

  @Test
  void unknownCpuTimeIsNotBurning() {
    kernel.ended(m);
    hold.asked(p, kernel, 0);
    kernel.burnt(m, 1 + 2 * SLICE);
    assertFalse(burnsAt(SLICE), "it was not known then");

    Still.dispatched(p);
    hold.asked(p, kernel, SLICE);
    kernel.ended(m);
    assertFalse(burnsAt(2 * SLICE), "it is not known now");
  }

  // For want of a descriptor, for instance.
  @Test
  void cpuTimeThatCouldNotBeReadIsReadTheNextTime() {
    kernel.ended(m);
    hold.asked(p, kernel, 0);
    kernel.burnt(m, 1 + 2 * SLICE);
    hold.asked(p, kernel, SLICE);
    assertFalse(burnsAt(2 * SLICE), "nothing since");
    kernel.burnt(m, SLICE);
    assertTrue(burnsAt(2 * SLICE));
  }

  @Test
  void cpuTimeCountsAlsoIfEverythingStoodStill() {
    hold.asked(p, kernel, 0);
    kernel.burnt(m, SLICE);
    hold.forgetSleep();
    assertTrue(burnsAt(100 * SLICE));
  }
}
