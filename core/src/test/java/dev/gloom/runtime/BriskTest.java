package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// A P whose goroutines run for less than a microsecond keeps a few of them to itself, and no
/// longer than that.
class BriskTest {
  private static final int LOOKS = 62; // more than from one reading of the clock to the next
  private static final int KEPT = 8;

  private final Still still = new Still(2);
  private final Sched sched = still.sched;
  private final P p = still.p(0);
  private final P other = still.p(1);
  private long now = 1_000_000;

  /// As many dispatches as lie between two looks at the clock, of so many nanoseconds each.
  private void dispatches(long nanosEach) {
    for (int i = 0; i < LOOKS; i++) {
      now += nanosEach;
      still.clock.stopAt(now);
      p.wantsToPoll();
      p.inherit = true;
      Still.dispatched(p);
    }
  }

  private void makeBrisk() {
    dispatches(200);
    dispatches(200);
    assertTrue(p.isBrisk());
  }

  @Test
  void fewAreKeptAndNobodyIsTold() {
    makeBrisk();
    for (int i = 0; i < 1 + KEPT; i++) {
      assertFalse(p.putNext(still.g()), "kept: run-next and " + i + " in the ring");
    }
    assertFalse(p.hasWorkForOthers());
    assertFalse(sched.hasQueuedWork());
    assertTrue(p.putNext(still.g()), "one more is too many");
    assertTrue(p.hasWorkForOthers());
  }

  @Test
  void slowOneTells() {
    dispatches(2_000);
    dispatches(2_000);
    assertFalse(p.isBrisk());
    assertTrue(p.putNext(still.g()));
    assertTrue(p.hasWorkForOthers());
  }

  @Test
  void clockThatStandsSaysNothing() {
    dispatches(0);
    dispatches(0);
    assertFalse(p.isBrisk());
  }

  @Test
  void oneThatSlowsDownTellsWhatItKept() {
    M asleep = still.idle(other);
    makeBrisk();
    p.putNext(still.g());
    p.putNext(still.g());
    dispatches(200);
    assertNull(asleep.given, "still brisk");
    dispatches(5_000); // the clock is read at the first of them
    dispatches(5_000);
    assertSame(other, asleep.given, "an M looks for work now");
  }

  @Test
  void oneThatSlowsDownTellsOfItsRunNextToo() {
    M asleep = still.idle(other);
    makeBrisk();
    assertFalse(p.putNext(still.g()), "kept");
    dispatches(5_000); // the clock is read at the first of them
    dispatches(5_000);
    assertSame(other, asleep.given, "an M looks for work now");
  }

  @Test
  void oneThatWasIdleBeginsAnew() {
    makeBrisk();
    M m = still.idle(p);
    assertFalse(p.isBrisk());
    assertSame(p, sched.idle.acquire());
    p.heldBy(m);
    dispatches(200);
    assertFalse(p.isBrisk(), "how long it was idle is no pace");
    dispatches(200);
    assertTrue(p.isBrisk());
  }

  // If they share.

  @Test
  void whoSharesTells() {
    makeBrisk();
    sched.sharing.on = true;
    assertFalse(p.putNext(still.g()), "run-next is kept all the same");
    assertTrue(p.putNext(still.g()));
    assertTrue(p.hasWorkForOthers());
    assertNotNull(FindWork.steal(sched, other));
    assertTrue(p.isBrisk(), "and learns nothing from it");
  }

  @Test
  void sysmonTriesWhetherItPays() {
    round();
    makeBrisk();
    M asleep = still.idle(other);
    p.putNext(still.g());
    p.putNext(still.g());
    assertEquals(1, p.kept);
    getsOn();
    assertNull(asleep.given, "nobody was told");
    round();
    assertTrue(sched.sharing.on);
    assertSame(other, asleep.given, "an M looks for work now");
    dispatches(1_000);
    round();
    assertTrue(sched.sharing.on, "too soon to judge");
    round();
    round();
    assertFalse(sched.sharing.on, "62 dispatches in two milliseconds are not more than before");
  }

  /// Its owner asked before it began, and put something down after that.
  @Test
  void whatAnOwnerKeptTooLateIsFound() {
    round();
    makeBrisk();
    p.putNext(still.g());
    p.putNext(still.g());
    assertEquals(1, p.kept);
    M asleep = still.idle(other);
    sched.sharing.on = true;
    getsOn();
    assertNull(asleep.given, "nobody was told");
    round();
    assertTrue(p.isBrisk());
    assertSame(other, asleep.given);
  }

  @Test
  void noTrialWhileNobodyIsIdle() {
    makeBrisk();
    p.putNext(still.g());
    p.putNext(still.g());
    round();
    assertFalse(sched.sharing.on);
    still.idle(other);
    dispatches(200);
    round();
    assertFalse(sched.sharing.on, "nothing was kept since somebody is");
  }

  @Test
  void noTrialForRunNextAlone() {
    still.idle(other);
    makeBrisk();
    p.putNext(still.g());
    dispatches(200);
    round();
    assertFalse(sched.sharing.on);
  }

  /// So quickly that sysmon does not call it slow a millisecond later, but not to what it kept.
  private void getsOn() {
    for (int i = 0; i < 10; i++) {
      dispatches(200);
    }
  }

  private void round() {
    now += 1_000_000;
    still.clock.stopAt(now);
    sched.sysmon.round(now);
  }

  // Thieves.

  @Test
  void thiefLeavesWhatABriskOneGetsTo() {
    makeBrisk();
    p.putNext(still.g());
    p.putNext(still.g());
    still.clock.step(1_000);
    still.clock.onRead = _ -> Still.dispatched(p);
    assertNull(FindWork.steal(sched, other));
    assertEquals(2, p.queued());
  }

  @Test
  void thiefTakesWhatABriskOneDoesNotGetTo() {
    makeBrisk();
    G inRing = still.g();
    G next = still.g();
    p.putNext(inRing);
    p.putNext(next);
    still.clock.step(1_000);
    assertSame(next, FindWork.steal(sched, other), "as without a ring, run-next is taken last");
    assertFalse(p.isBrisk());
    assertSame(inRing, FindWork.steal(sched, other), "and what is left at once");
  }

  @Test
  void thiefTakesTheRingOfABriskOneThatStands() {
    makeBrisk();
    p.put(still.g());
    still.clock.step(1_000);
    assertNotNull(FindWork.steal(sched, other));
    assertFalse(p.isBrisk());
  }

  // Sysmon.

  private void pass(int millis, int dispatchesEach) {
    for (int i = 0; i < millis; i++) {
      for (int k = 0; k < dispatchesEach; k++) {
        p.inherit = true;
        Still.dispatched(p);
      }
      now += 1_000_000;
      sched.sysmon.round(now);
    }
  }

  @Test
  void sysmonHasOneThatStandsGiveUpWhatItKeeps() {
    M asleep = still.idle(other);
    pass(1, 0);
    makeBrisk();
    p.put(still.g());
    pass(2, 0);
    assertFalse(p.isBrisk());
    assertSame(other, asleep.given);
    assertEquals(0, sched.sysmon.rescues(), "this is no rescue");
  }

  @Test
  void sysmonHasOneThatSlowsDownGiveUpWhatItKeeps() {
    M asleep = still.idle(other);
    pass(1, 0);
    makeBrisk();
    p.put(still.g());
    pass(3, 100); // 10 us each
    assertFalse(p.isBrisk());
    assertSame(other, asleep.given);
  }

  @Test
  void sysmonLeavesOneThatGetsOn() {
    M asleep = still.idle(other);
    pass(1, 0);
    makeBrisk();
    var kept = new AtomicInteger();
    p.put(still.g());
    for (int i = 0; i < 50; i++) {
      pass(1, 2_000);
      kept.addAndGet(p.isBrisk() ? 1 : 0);
    }
    assertEquals(50, kept.get());
    assertNull(asleep.given);
    assertEquals(0, sched.sysmon.rescues());
  }
}
