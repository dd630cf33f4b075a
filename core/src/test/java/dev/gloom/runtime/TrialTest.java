package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/// When something is tried, and for how long.
class TrialTest {
  private static final long MILLI = 1_000_000;
  private static final long LONGEST = 1_000 * MILLI;

  private final Trial trial =
      new Trial(Long.MAX_VALUE - MILLI, LONGEST, 0); // the clock may overflow
  private long now = Long.MAX_VALUE - MILLI;
  private long starts = 100;
  private long dispatches = 1_000;

  /// So much time passes, in which so much happens.
  private boolean look(double millis, long moreStarts, long moreDispatches, boolean kept) {
    now += (long) (millis * MILLI);
    starts += moreStarts;
    dispatches += moreDispatches;
    return trial.look(now, starts, dispatches, kept, false);
  }

  /// A trial begins, after a millisecond of 4,000 dispatches.
  private void tries() {
    look(1, 0, 4_000, false);
    assertTrue(look(1, 0, 4_000, true));
    assertTrue(trial.on);
  }

  @Test
  void nobodyTriesUnlessSomethingIsKeptBesideAnIdleProcessor() {
    for (int i = 0; i < 100; i++) {
      assertFalse(look(1, 1, 4_000, false));
    }
    assertFalse(trial.on);
    assertTrue(look(1, 0, 4_000, true));
    assertTrue(trial.on);
    assertEquals(now + Trial.TRIAL_NANOS, trial.untilNanos(), "and is judged then");
  }

  @Test
  void itGoesOnWhileMoreIsDispatched() {
    tries();
    look(1, 5, 100, false);
    assertTrue(trial.on, "not judged before its time");
    look(1, 0, 9_500, false);
    assertTrue(trial.on, "9,600 in two milliseconds, where it was 8,000");
    for (int spell = 0; spell < 5; spell++) {
      look(49, 100, 1_000, false);
      assertTrue(trial.on);
      look(1, 0, 239_000, false);
      assertTrue(trial.on, "240,000 in fifty milliseconds");
    }
    look(50, 0, 190_000, false);
    assertFalse(trial.on, "it is no faster any more");
  }

  @Test
  void itEndsIfHardlyMoreIsDispatched() {
    tries();
    look(2, 1, 8_800, false);
    assertFalse(trial.on, "a tenth more");
  }

  @Test
  void itEndsIfThreadsAreWokenAllTheTime() {
    tries();
    look(2, 16_000 / Trial.STEPS_A_START + 1, 16_000, false);
    assertFalse(trial.on, "twice as fast, but at what price");
    look(16, 0, 64_000, false);
    tries();
    look(2, 16_000 / Trial.STEPS_A_START, 16_000, false);
    assertTrue(trial.on);
  }

  @Test
  void whatDoesNotPayIsTriedLessAndLessOften() {
    long pause = Trial.FIRST_PAUSE_NANOS;
    for (int i = 0; i < 10; i++) {
      tries();
      look(2, 0, 8_000, true);
      assertFalse(trial.on);
      long ended = now;
      while (now - ended < pause - 2 * MILLI) {
        assertFalse(look(1, 0, 4_000, true), "after " + (now - ended));
      }
      look(1, 0, 4_000, false);
      pause = Math.min(2 * pause, LONGEST);
    }
    assertEquals(LONGEST, pause);
  }

  @Test
  void whatPaidIsTriedAgainSoon() {
    for (int i = 0; i < 5; i++) {
      tries();
      look(2, 0, 8_000, true);
      look(1_000, 0, 4_000_000, false); // longer than any pause
    }
    tries();
    look(2, 0, 16_000, false);
    look(50, 0, 400_000, false);
    assertTrue(trial.on);
    look(50, 0, 200_000, false);
    assertFalse(trial.on, "it was good for a spell");
    look(14, 0, 60_000, false);
    assertFalse(look(1, 0, 4_000, true));
    assertTrue(look(1, 0, 4_000, true), "after 16 ms");
  }

  @Test
  void afterASecondItIsComparedAnew() {
    tries();
    look(2, 0, 16_000, false);
    for (int i = 0; i < Trial.MOST_SPELLS; i++) {
      assertTrue(trial.on, "spell " + i);
      look(50, 0, 400_000, false);
    }
    assertFalse(trial.on);
    assertFalse(look(1, 0, 4_000, true));
    assertTrue(look(1, 0, 4_000, true), "after 2 ms");
  }

  @Test
  void timeThatWasSleptOrLostIsNoPace() {
    look(10_000, 0, 4_000, false);
    assertFalse(look(10_000, 0, 4_000, true), "a sleep before it");
    assertTrue(look(1, 0, 4_000, true));
    look(30, 0, 100, false);
    assertFalse(trial.on, "a sleep in it: nothing is known");
    assertTrue(look(1, 0, 4_000, true), "so there is no pause");
    look(1, 0, 9_000, false);
    assertTrue(trial.on);
  }

  @Test
  void whoIsHeldUpTriesLessOften() {
    tries();
    now += 50 * MILLI;
    assertFalse(trial.look(now, starts, dispatches + 400_000, true, true));
    assertFalse(trial.on, "a small quota, say, which is used up sooner");
    assertFalse(look(15, 0, 60_000, true));
    assertTrue(look(1, 0, 4_000, true), "after 16 ms");
  }

  @Test
  void whatIsColdIsTriedForLongerAndHasSomeFailures() {
    var cold = new Trial(0, LONGEST, 400_000);
    long time = 0;
    long steps = 0;
    long pause = Trial.FIRST_PAUSE_NANOS;
    for (int i = 0; i < 10; i++) {
      assertFalse(cold.look(time += pause - MILLI, 0, steps += 60_000, false, false));
      assertTrue(cold.look(time += MILLI, 0, steps += 4_000, true, false), "try " + i);
      assertEquals(time + Trial.COLD_NANOS, cold.untilNanos());
      cold.look(time += Trial.COLD_NANOS, 0, steps += 39_000, true, false);
      assertFalse(cold.on);
      assertEquals(time + pause, cold.untilNanos());
      pause *= i < 8 ? 1 : 2;
    }
    cold.look(time += pause, 0, steps += 64_000, false, false);
    assertTrue(cold.look(time += MILLI, 0, steps += 4_000, true, false));
    cold.look(time += Trial.COLD_NANOS, 0, steps += 39_000, true, false);
    assertEquals(time + Trial.FIRST_PAUSE_NANOS, cold.untilNanos(), "429,000 steps are enough");
    cold.look(time += Trial.FIRST_PAUSE_NANOS, 0, steps += 64_000, false, false);
    assertTrue(cold.look(time += MILLI, 0, steps += 4_000, true, false));
    assertEquals(time + Trial.TRIAL_NANOS, cold.untilNanos());
  }

  @Test
  void afterATimeWithoutWorkItIsTriedAtOnce() {
    for (int i = 0; i < 5; i++) {
      tries();
      look(2, 0, 8_000, true);
      assertFalse(look(50, 0, 200_000, true), "a sleep as short as that is none");
      assertFalse(look(101, 0, 1_000, true), "no pace either");
    }
    tries();
    look(2, 0, 8_000, true);
    assertFalse(look(15, 0, 60_000, true));
    assertTrue(look(1, 0, 4_000, true), "after 16 ms");
  }

  @Test
  void fewMicrosecondsAreNoPace() {
    look(1, 0, 4_000, false);
    for (int i = 0; i < 9; i++) {
      assertFalse(look(0.05, 0, 200, true), "look " + i);
    }
    assertTrue(look(0.05, 0, 200, true), "half a millisecond together");
  }

  @Test
  void withoutADispatchThereIsNothingToCompare() {
    look(1, 0, 4_000, false);
    assertFalse(look(1, 0, 0, true));
    assertFalse(trial.on);
  }
}
