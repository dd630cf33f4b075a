package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/// When brisk Ps share their rings, and for how long.
class SharingTest {
  private static final long MILLI = 1_000_000;

  private final Sharing sharing = new Sharing(Long.MAX_VALUE - MILLI); // the clock may overflow
  private long now = Long.MAX_VALUE - MILLI;
  private long starts = 100;
  private long dispatches = 1_000;

  /// So much time passes, in which so much happens.
  private boolean look(double millis, long moreStarts, long moreDispatches, boolean kept) {
    now += (long) (millis * MILLI);
    starts += moreStarts;
    dispatches += moreDispatches;
    return sharing.look(now, starts, dispatches, kept);
  }

  /// A trial begins, after a millisecond of 4,000 dispatches.
  private void tries() {
    look(1, 0, 4_000, false);
    assertTrue(look(1, 0, 4_000, true));
    assertTrue(sharing.on);
  }

  @Test
  void nobodyTriesUnlessSomethingIsKeptBesideAnIdleProcessor() {
    for (int i = 0; i < 100; i++) {
      assertFalse(look(1, 1, 4_000, false));
    }
    assertFalse(sharing.on);
    assertTrue(look(1, 0, 4_000, true));
    assertTrue(sharing.on);
    assertEquals(now + Sharing.TRIAL_NANOS, sharing.untilNanos(), "and is judged then");
  }

  @Test
  void itGoesOnWhileMoreIsDispatched() {
    tries();
    look(1, 5, 100, false);
    assertTrue(sharing.on, "not judged before its time");
    look(1, 0, 9_500, false);
    assertTrue(sharing.on, "9,600 in two milliseconds, where it was 8,000");
    for (int spell = 0; spell < 5; spell++) {
      look(49, 100, 1_000, false);
      assertTrue(sharing.on);
      look(1, 0, 239_000, false);
      assertTrue(sharing.on, "240,000 in fifty milliseconds");
    }
    look(50, 0, 190_000, false);
    assertFalse(sharing.on, "it is no faster any more");
  }

  @Test
  void itEndsIfHardlyMoreIsDispatched() {
    tries();
    look(2, 1, 8_800, false);
    assertFalse(sharing.on, "a tenth more");
  }

  @Test
  void itEndsIfThreadsAreWokenAllTheTime() {
    tries();
    look(2, 16_000 / Sharing.DISPATCHES_A_START + 1, 16_000, false);
    assertFalse(sharing.on, "twice as fast, but at what price");
    look(16, 0, 64_000, false);
    tries();
    look(2, 16_000 / Sharing.DISPATCHES_A_START, 16_000, false);
    assertTrue(sharing.on);
  }

  @Test
  void whatDoesNotPayIsTriedLessAndLessOften() {
    long pause = Sharing.FIRST_PAUSE_NANOS;
    for (int i = 0; i < 10; i++) {
      tries();
      look(2, 0, 8_000, true);
      assertFalse(sharing.on);
      long ended = now;
      while (now - ended < pause - 2 * MILLI) {
        assertFalse(look(1, 0, 4_000, true), "after " + (now - ended));
      }
      look(1, 0, 4_000, false);
      pause = Math.min(2 * pause, Sharing.LONGEST_PAUSE_NANOS);
    }
    assertEquals(Sharing.LONGEST_PAUSE_NANOS, pause);
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
    look(50, 0, 200_000, false);
    assertFalse(sharing.on, "it was good for a spell");
    look(14, 0, 60_000, false);
    assertFalse(look(1, 0, 4_000, true));
    assertTrue(look(1, 0, 4_000, true), "after 16 ms");
  }

  @Test
  void afterASecondItIsComparedAnew() {
    tries();
    look(2, 0, 16_000, false);
    for (int i = 0; i < Sharing.MOST_SPELLS; i++) {
      assertTrue(sharing.on, "spell " + i);
      look(50, 0, 400_000, false);
    }
    assertFalse(sharing.on);
    look(14, 0, 60_000, false);
    assertFalse(look(1, 0, 4_000, true));
    assertTrue(look(1, 0, 4_000, true), "after 16 ms");
  }

  @Test
  void timeThatWasSleptOrLostIsNoPace() {
    look(10_000, 0, 4_000, false);
    assertFalse(look(10_000, 0, 4_000, true), "a sleep before it");
    assertTrue(look(1, 0, 4_000, true));
    look(30, 0, 100, false);
    assertFalse(sharing.on, "a sleep in it: nothing is known");
    assertTrue(look(1, 0, 4_000, true), "so there is no pause");
    look(1, 0, 9_000, false);
    assertTrue(sharing.on);
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
    assertFalse(sharing.on);
  }
}
