package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The order of the search, on a scheduler that stands still.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FindWorkTest {
  /// Go's figure, item 64.
  private static final int GLOBAL_EVERY = 61;

  private Still still = new Still(1);
  private P p = still.p(0);

  private void procs(int n, long seed) {
    still = new Still(n, seed);
    p = still.p(0);
  }

  /// The next goroutine of `p` from its own queues and the global one, dispatched.
  private G next() {
    G g = FindWork.queued(still.sched, p);
    if (g != null) {
      Still.dispatched(p);
    }
    return g;
  }

  private List<G> next(int n) {
    var all = new ArrayList<G>();
    for (int i = 0; i < n; i++) {
      all.add(next());
    }
    return all;
  }

  private List<G> untilNull() {
    var all = new ArrayList<G>();
    for (G g = next(); g != null; g = next()) {
      all.add(g);
    }
    return all;
  }

  // The order of the queues.

  @Test
  void runNextThenRingThenGlobalThenThoseThatYielded() {
    G[] gs = still.gs(6);
    p.putYielded(gs[5]);
    still.sched.global.put(gs[3]);
    still.sched.global.put(gs[4]);
    p.put(gs[1]);
    p.put(gs[2]);
    p.putNext(gs[0]);
    assertEquals(List.of(gs), untilNull());
  }

  // Item 57.
  @Test
  void whomRunNextPushesOutGoesToTheTail() {
    G[] gs = still.gs(4);
    p.put(gs[1]);
    p.putNext(gs[2]);
    p.putNext(gs[3]);
    p.putNext(gs[0]);
    assertEquals(List.of(gs), untilNull());
  }

  // Item 54, the queue's part: N go statements, then block: N, 1, 2, …, N-1.
  @Test
  void lastOfManyStartedRunsFirstAndTheOthersInOrder() {
    G[] gs = still.gs(10);
    for (G g : gs) {
      p.putNext(g);
    }
    var expected = new ArrayList<G>(List.of(gs[9]));
    expected.addAll(Arrays.asList(gs).subList(0, 9));
    assertEquals(expected, untilNull());
  }

  @Test
  void onlyRunNextInheritsTheSlice() {
    p.put(still.g());
    p.putNext(still.g());
    still.sched.global.put(still.g());
    p.putYielded(still.g());
    next();
    assertTrue(p.inherit, "run-next");
    next();
    assertFalse(p.inherit, "ring");
    next();
    assertFalse(p.inherit, "global");
    next();
    assertFalse(p.inherit, "yielded");
  }

  // Item 65.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void processorWithoutWorkTakesItsShareOfTheGlobalQueue(int maxProcs) {
    for (int size : new int[] {1, 2, 9, 100, 300, 1000}) {
      procs(maxProcs, 1);
      G[] gs = still.gs(size);
      for (G g : gs) {
        still.sched.global.put(g);
      }
      int share = Math.min(Math.min(128, size), size / maxProcs + 1);
      assertSame(gs[0], next());
      assertEquals(share - 1, p.queue.size(), "rest of the share of " + size);
      assertEquals(size - share, still.sched.global.size());
      assertNull(gs[0].link, "what runs is in no chain");
      assertEquals(Arrays.asList(gs).subList(1, share), Still.emptied(p.queue));
    }
  }

  // Item 69, the queue's part.
  @Test
  void yielderRunsBehindEverythingThatWasThereBefore() {
    G[] gs = still.gs(20);
    for (int i = 0; i < 10; i++) {
      still.sched.global.put(gs[10 + i]);
    }
    for (int i = 0; i < 10; i++) {
      p.put(gs[i]);
    }
    G yielder = still.g();
    p.putYielded(yielder);
    List<G> order = next(21);
    assertEquals(List.of(gs), order.subList(0, 20));
    assertSame(yielder, order.get(20));
  }

  @Test
  void yielderIsNotStarvedByOneNewGlobalGoroutineAfterTheOther() {
    G yielder = still.g();
    p.putYielded(yielder);
    for (int ticks = 0; ; ticks++) {
      assertTrue(ticks <= 2 * GLOBAL_EVERY, "still not after " + ticks);
      still.sched.global.put(still.g());
      if (next() == yielder) {
        break;
      }
    }
  }

  @Test
  void yieldersTakeTurns() {
    G[] gs = still.gs(3);
    for (G g : gs) {
      p.putYielded(g);
    }
    for (int turn = 0; turn < 300; turn++) {
      G g = next();
      assertSame(gs[turn % 3], g);
      p.putYielded(g);
    }
  }

  @Test
  void whatComesFromOutsideIsNotPassedByYielders() {
    G[] yielders = still.gs(5);
    for (G g : yielders) {
      p.putYielded(g);
    }
    G outside = still.g();
    still.sched.global.put(outside);
    // The line of yielders was there first or comes behind it; either way it gets its turn.
    var seen = new HashSet<G>();
    for (int turn = 0; turn < 6; turn++) {
      G g = next();
      assertTrue(seen.add(g), g + " a second time, before " + outside);
      p.putYielded(g);
    }
    assertTrue(seen.contains(outside));
  }

  // Fairness towards the global queue, item 64.

  @Test
  void headOfTheGlobalQueueWaitsAtMost61TicksOfABusyProcessor() {
    for (int phase = 0; phase < 2 * GLOBAL_EVERY; phase++) {
      procs(1, 1);
      G local = still.g();
      p.put(local);
      for (int i = 0; i < phase; i++) {
        assertSame(local, next());
        p.put(local);
      }
      G waiting = still.g();
      still.sched.global.put(waiting);
      assertTrue(ticksUntil(waiting) <= GLOBAL_EVERY, "phase " + phase);
    }
  }

  @Test
  void goroutineAtPositionKOfTheGlobalQueueWaitsForKLooks() {
    p.put(still.g());
    G[] waiting = still.gs(10);
    for (G g : waiting) {
      still.sched.global.put(g);
    }
    int sum = ticksUntil(waiting[0]);
    for (int k = 1; k < waiting.length; k++) {
      int ticks = ticksUntil(waiting[k]);
      assertTrue(ticks <= GLOBAL_EVERY, "position " + k + " after " + ticks);
      sum += ticks;
    }
    assertTrue(sum > (waiting.length - 1) * (GLOBAL_EVERY - 1), "no oftener than that: " + sum);
  }

  /// Runs local goroutines, each of which comes back at once, until it is `waiting`'s turn.
  private int ticksUntil(G waiting) {
    for (int ticks = 1; ticks <= 10 * GLOBAL_EVERY; ticks++) {
      G g = next();
      if (g == waiting) {
        return ticks;
      }
      p.put(g);
    }
    throw new AssertionError("starved: " + waiting);
  }

  @Test
  void localWorkDoesNotStarveThoseThatYielded() {
    p.put(still.g());
    G[] yielded = still.gs(5);
    for (G g : yielded) {
      p.putYielded(g);
    }
    for (G g : yielded) {
      assertTrue(ticksUntil(g) <= GLOBAL_EVERY);
    }
  }

  @Test
  void yieldersDoNotKeepAGlobalGoroutineFromItsTurnBehindLocalWork() {
    p.put(still.g());
    for (G g : still.gs(200)) {
      p.putYielded(g);
    }
    G waiting = still.g();
    still.sched.global.put(waiting);
    assertTrue(ticksUntil(waiting) <= GLOBAL_EVERY);
  }

  @Test
  void looksAtTheGlobalQueueTakeOneOnly() {
    p.put(still.g());
    for (G g : still.gs(300)) {
      still.sched.global.put(g);
    }
    for (int tick = 0; tick < 3 * GLOBAL_EVERY; tick++) {
      p.put(next());
    }
    int taken = 300 - still.sched.global.size();
    assertTrue(taken >= 2 && taken <= 4, "taken in three times 61 ticks: " + taken);
  }

  // Items 53 and 66, the tick's part: on one P, so that the clock, which stands, is never waited
  // for.
  @Test
  void chainThroughRunNextSpendsOneTick() throws Exception {
    var clock = new Still.HandClock();
    clock.stop();
    var sched = new Sched(1, new Knobs(1, false, true), 1, clock, Parker.SYSTEM);
    P only = sched.procs().all[0];
    var ticks = new ArrayList<Long>();
    var dispatches = new ArrayList<Long>();
    var order = new ArrayList<String>();
    Callable<?> body =
        () -> {
          for (int i = 0; i < 20; i++) {
            int link = i;
            G child = Spawn.go(sched, "", () -> order.add("child " + link));
            child.join(); // parks; the child, in run-next, runs and readies this one
            order.add("parent " + link);
            ticks.add(only.tick);
            dispatches.add(only.dispatches());
          }
          return null;
        };
    sched.run(body);
    sched.close();
    for (int i = 0; i < 20; i++) {
      assertEquals("child " + i, order.get(2 * i));
      assertEquals("parent " + i, order.get(2 * i + 1));
    }
    assertEquals(1, Set.copyOf(ticks).size(), () -> "ticks " + ticks);
    assertEquals(dispatches.getFirst() + 2 * 19, dispatches.getLast(), "two for each link");
  }

  // Overflow, item 58.

  @Test
  void put257MovesThe128OldestAndTheNewOneToTheGlobalTail() {
    G before = still.g();
    still.sched.global.put(before);
    G[] gs = still.gs(257);
    for (int i = 0; i < 256; i++) {
      p.put(gs[i]);
    }
    assertEquals(1, still.sched.global.size(), "256 fit");
    p.put(gs[256]);

    var expected = new ArrayList<G>(List.of(before));
    expected.addAll(Arrays.asList(gs).subList(0, 128));
    expected.add(gs[256]);
    assertEquals(expected, still.global());
    assertEquals(1, p.overflows);
    assertEquals(Arrays.asList(gs).subList(128, 256), Still.emptied(p.queue));
  }

  @Test
  void run258StartedOverflowsByTheOneThatRunNextPushedOut() {
    G[] gs = still.gs(258);
    for (G g : gs) {
      p.putNext(g);
    }
    var expected = new ArrayList<G>(Arrays.asList(gs).subList(0, 128));
    expected.add(gs[256]);
    assertEquals(expected, still.global());
    assertSame(gs[257], p.queue.peekNext());
  }

  // Stealing.

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 8})
  void thiefTakesHalfOfTheFirstRingThatHasAny(int maxProcs) {
    for (long seed = 0; seed < 20; seed++) {
      procs(maxProcs, seed);
      P victim = still.p(maxProcs - 1);
      G[] gs = still.gs(9);
      for (G g : gs) {
        victim.put(g);
      }
      assertSame(gs[4], FindWork.steal(still.sched, p), Seed.hint(seed));
      assertEquals(Arrays.asList(gs).subList(0, 4), Still.emptied(p.queue));
      assertEquals(4, victim.queue.size());
      assertEquals(1, p.steals);
      assertEquals(5, p.stolen);
    }
  }

  @Test
  void thoseThatYieldedAreStolenToo() {
    procs(2, 1);
    G[] gs = still.gs(4);
    for (G g : gs) {
      still.p(1).putYielded(g);
    }
    assertSame(gs[1], FindWork.steal(still.sched, p));
    assertEquals(List.of(gs[0]), Still.emptied(p.queue));
  }

  @Test
  void manyThatYieldedAreStolenAsFarAsTheThiefHasRoom() {
    procs(2, 1);
    G[] gs = still.gs(256); // fills the smallest ring that those who yield can have
    for (G g : gs) {
      still.p(1).putYielded(g);
    }
    assertSame(gs[127], FindWork.steal(still.sched, p));
    assertEquals(127, p.queue.size());
  }

  @Test
  void thiefFindsNothingWhereThereIsNothing() {
    procs(4, 1);
    p.put(still.g()); // its own does not count
    assertNull(FindWork.steal(still.sched, p));
    assertEquals(0, p.steals);
  }

  @Test
  void stolenGoroutineDoesNotInheritTheSlice() {
    procs(2, 1);
    still.p(1).putNext(still.g());
    M m = still.busy(p);
    G g = FindWork.next(m);
    assertSame(0, p.inherit ? 1 : 0);
    assertFalse(m.spinning, "a thief that found something searches no longer");
    assertEquals(0, still.sched.idle.searching());
    assertTrue(g != null);
  }

  // Item 63.

  @Test
  void runNextIsStolenInTheFourthRoundOnly() {
    for (long seed = 0; seed < 20; seed++) {
      procs(2, seed);
      G next = still.g();
      still.p(1).putNext(next);
      var same = new Rand(still.seed + p.id); // each round draws one number
      for (int i = 0; i < 4; i++) {
        same.next();
      }
      assertSame(next, FindWork.steal(still.sched, p), Seed.hint(seed));
      assertEquals(same.next(), p.rand.next(), "rounds; " + Seed.hint(seed));
    }
  }

  @Test
  void ringOfAnotherIsPreferredToRunNextWhateverTheOrder() {
    for (long seed = 0; seed < 50; seed++) {
      procs(3, seed);
      var reads = new AtomicInteger();
      still.clock.onRead = _ -> reads.incrementAndGet();
      G next = still.g();
      G queued = still.g();
      still.p(1).putNext(next);
      still.p(2).put(queued);
      assertSame(queued, FindWork.steal(still.sched, p), Seed.hint(seed));
      assertEquals(0, reads.get(), "no grace was waited for; " + Seed.hint(seed));
      assertSame(next, still.p(1).queue.peekNext());
    }
  }

  @Test
  void runNextIsLeftToItsOwnerForThreeMicroseconds() {
    procs(2, 1);
    P victim = still.p(1);
    G next = still.g();
    victim.putNext(next);
    var times = new ArrayList<Long>();
    still.clock.onRead =
        now -> {
          times.add(now);
          assertSame(next, victim.queue.peekNext(), "taken at " + now);
        };
    assertSame(next, FindWork.steal(still.sched, p));
    assertNull(victim.queue.peekNext());
    assertTrue(times.getLast() - times.getFirst() >= 3_000, "grace " + times);
    assertEquals(1, p.steals);
    assertEquals(1, p.stolen);
  }

  @Test
  void runNextIsNotStolenIfItsOwnerDispatchedMeanwhile() {
    procs(2, 1);
    P victim = still.p(1);
    G next = still.g();
    victim.putNext(next);
    still.clock.onRead =
        _ -> {
          still.clock.onRead = _ -> {};
          Still.dispatched(victim); // another one, and `next` is still, or again, in the slot
        };
    assertNull(FindWork.steal(still.sched, p));
    assertSame(next, victim.queue.peekNext());
  }

  @Test
  void runNextIsNotStolenIfItsOwnerTookIt() {
    procs(2, 1);
    P victim = still.p(1);
    G next = still.g();
    victim.putNext(next);
    still.clock.onRead = _ -> victim.takeNext();
    assertNull(FindWork.steal(still.sched, p));
    assertEquals(0, p.steals);
  }

  @Test
  void newRunNextIsNotStolenInPlaceOfTheOneSeen() {
    procs(2, 1);
    P victim = still.p(1);
    victim.putNext(still.g());
    G other = still.g();
    var swapped = new ArrayList<G>();
    still.clock.onRead =
        _ -> {
          if (swapped.isEmpty()) {
            swapped.add(victim.queue.swapNext(other));
          }
        };
    assertNull(FindWork.steal(still.sched, p));
    assertSame(other, victim.queue.peekNext());
  }

  @Test
  void ownerWhoseRunNextWasStolenTellsOthersAgain() {
    procs(2, 1);
    P victim = still.p(1);
    makeKeepNext(still, victim);
    assertFalse(victim.putNext(still.g()), "it keeps its run-next: nobody is told");
    FindWork.steal(still.sched, p);
    assertTrue(victim.putNext(still.g()));
  }

  /// Lets `p` run its own run-next until it is known to.
  static void makeKeepNext(Still still, P p) {
    for (int i = 0; i < 100 && !p.keepsNext(); i++) {
      p.putNext(still.g());
      p.takeNext();
    }
    assertTrue(p.keepsNext());
  }

  // What others ask of a P.

  @Test
  void preemptedChainGoesBehindEverybody() {
    G[] gs = still.gs(6);
    p.putNext(gs[5]);
    p.put(gs[0]);
    p.put(gs[1]);
    still.sched.global.put(gs[2]);
    still.sched.global.put(gs[3]);
    p.putYielded(gs[4]);
    p.ask(P.PREEMPT);

    M m = still.busy(p);
    assertSame(gs[0], FindWork.next(m));
    Still.dispatched(p);
    assertEquals(0, p.request, "served");
    assertEquals(List.of(gs).subList(1, 6), untilNull());
  }

  @Test
  void preemptionWithoutAChainChangesNothing() {
    G g = still.g();
    p.put(g);
    p.ask(P.PREEMPT);
    assertSame(g, FindWork.next(still.busy(p)));
    assertEquals(0, p.request);
    assertTrue(still.sched.global.isEmpty());
  }

  // Item 66, the queue's part: two that ready each other through run-next, asked once.
  @Test
  void pairThatReadiesEachOtherLetsAThirdGoFirstWhenAsked() {
    G[] pair = still.gs(2);
    G third = still.g();
    p.put(third);
    p.putNext(pair[0]);
    M m = still.busy(p);
    for (int i = 0; i < 100; i++) {
      assertSame(pair[i % 2], FindWork.next(m), "the chain has run-next");
      Still.dispatched(p);
      p.putNext(pair[(i + 1) % 2]);
    }
    p.ask(P.PREEMPT);
    assertSame(third, FindWork.next(m));
    Still.dispatched(p);
    assertSame(pair[0], FindWork.next(m), "and then the chain again");
  }

  @Test
  void retiredProcessorGivesEverythingToTheFrontOfTheGlobalQueue() {
    G[] gs = still.gs(6);
    p.putYielded(gs[3]);
    p.put(gs[1]);
    p.put(gs[2]);
    p.putNext(gs[0]);
    still.sched.global.put(gs[4]);
    still.sched.global.put(gs[5]);
    M m = still.busy(p);
    still.sched.idle.retire(1);
    p.ask(P.RETIRE);
    still.parker.onPark = () -> m.ending = true; // nobody gives it a P: it is told to end

    assertNull(FindWork.next(m));
    assertNull(m.p);
    assertTrue(p.isEmpty());
    assertEquals(List.of(gs), still.global());
    assertEquals(1, still.sched.idle.idleMs());
  }

  @Test
  void retirementComesBeforePreemption() {
    G g = still.g();
    p.putNext(g);
    M m = still.busy(p);
    still.sched.idle.retire(1);
    p.ask(P.PREEMPT);
    p.ask(P.RETIRE);
    still.parker.onPark = () -> m.ending = true;
    assertNull(FindWork.next(m));
    assertEquals(List.of(g), still.global());
  }

  // The end of the search.

  @Test
  void threadWithoutWorkGivesUpItsProcessorAndSleepsUntilItGetsOne() {
    procs(2, 1);
    M m = still.busy(p);
    G late = still.g();
    still.parker.onPark =
        () -> {
          assertNull(m.p, "asleep without a P");
          assertEquals(1, still.sched.idle.idleProcs());
          assertFalse(m.spinning);
          still.sched.global.put(late);
          still.sched.idle.wake();
        };
    assertSame(late, FindWork.next(m));
    assertSame(p, m.p);
    assertEquals(List.of(m), List.copyOf(still.parker.woken));
    assertEquals(0, still.sched.idle.searching(), "it found something");
    assertEquals(0, still.sched.idle.idleProcs());
  }
}
