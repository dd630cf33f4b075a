package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RunQueueTest {
  private final Still still = new Still(1);

  // Item 59; Go: TestRunq.
  @Test
  void anyNumberUpTo255RoundTripsInOrder() {
    var queue = new RunQueue();
    G[] gs = still.gs(255);
    for (int n = 0; n <= gs.length; n++) {
      for (int i = 0; i < n; i++) {
        assertTrue(queue.offer(gs[i]));
      }
      assertEquals(n, queue.size());
      for (int i = 0; i < n; i++) {
        assertFalse(queue.isEmpty());
        assertSame(gs[i], queue.poll());
      }
      assertNull(queue.poll());
      assertTrue(queue.isEmpty());
    }
  }

  // Item 58, first half.
  @Test
  void ringHolds256AndRunNextOneMore() {
    var queue = new RunQueue();
    G[] gs = still.gs(258);
    for (int i = 0; i < 256; i++) {
      assertTrue(queue.offer(gs[i]), "put " + (i + 1));
    }
    assertFalse(queue.offer(gs[256]), "the 257th");
    assertNull(queue.swapNext(gs[257]));
    assertEquals(256, queue.size());

    assertSame(gs[257], queue.takeNext());
    assertEquals(Arrays.asList(gs).subList(0, 256), Still.emptied(queue));
  }

  @Test
  void refusedOfferChangesNothing() {
    var queue = new RunQueue(2);
    G[] gs = still.gs(3);
    queue.offer(gs[0]);
    queue.offer(gs[1]);
    assertFalse(queue.offer(gs[2]));
    assertEquals(List.of(gs[0], gs[1]), Still.emptied(queue));
    assertTrue(queue.offer(gs[2]), "there is room again");
  }

  // Item 57, the slot's part; P.putNext puts the one it answers at the tail.
  @Test
  void newRunNextPushesOutTheOldOne() {
    var queue = new RunQueue();
    G first = still.g();
    G second = still.g();
    assertNull(queue.swapNext(first));
    assertSame(first, queue.swapNext(second));
    assertSame(second, queue.peekNext());
    assertSame(second, queue.takeNext());
    assertNull(queue.takeNext());
    assertTrue(queue.isEmpty());
  }

  @Test
  void runNextIsOfferedOnlyToAFreeSlot() {
    var queue = new RunQueue();
    G first = still.g();
    assertTrue(queue.offerNext(first));
    assertFalse(queue.offerNext(still.g()));
    assertSame(first, queue.takeNext());
    assertTrue(queue.offerNext(first));
    assertTrue(queue.stealNext(first));
    assertTrue(queue.offerNext(first));
  }

  @Test
  void runNextIsNeitherInTheRingNorCountedThere() {
    var queue = new RunQueue();
    queue.swapNext(still.g());
    assertNull(queue.poll());
    assertEquals(0, queue.size());
    assertFalse(queue.isEmpty());
  }

  @Test
  void olderHalfIsThe128OldestInOrder() {
    var queue = new RunQueue();
    G[] gs = still.gs(256);
    for (G g : gs) {
      queue.offer(g);
    }
    assertEquals(Arrays.asList(gs).subList(0, 128), Still.list(queue.takeOlderHalf()));
    assertEquals(128, queue.size());
    assertEquals(Arrays.asList(gs).subList(128, 256), Still.emptied(queue));
  }

  @Test
  void olderHalfIsTakenOfAFullRingOnly() {
    var queue = new RunQueue(4);
    for (G g : still.gs(3)) {
      queue.offer(g);
    }
    assertNull(queue.takeOlderHalf(), "there is room: try to offer again");
    assertEquals(3, queue.size());
  }

  @Test
  void chainIsAppendedAsFarAsItFitsAndTheRestAnswered() {
    var queue = new RunQueue(4);
    G[] gs = still.gs(6);
    queue.offer(gs[0]);
    G rest = queue.offerChain(Still.chain(Arrays.copyOfRange(gs, 1, 6)));
    assertEquals(List.of(gs[4], gs[5]), Still.list(rest));
    assertEquals(List.of(gs[0], gs[1], gs[2], gs[3]), Still.emptied(queue));
    assertNull(gs[1].link, "what is in the ring is in no chain");
    assertNull(gs[3].link, "what is in the ring is in no chain");
  }

  @Test
  void chainThatFitsLeavesNothing() {
    var queue = new RunQueue(4);
    G[] gs = still.gs(4);
    assertNull(queue.offerChain(Still.chain(gs)));
    assertNull(queue.offerChain(null));
    assertEquals(Arrays.asList(gs), Still.emptied(queue));
  }

  @Test
  void allAreTakenAsOneChainInOrder() {
    var queue = new RunQueue(4);
    assertNull(queue.takeChain(Integer.MAX_VALUE));
    G[] gs = still.gs(4);
    for (G g : gs) {
      queue.offer(g);
    }
    assertEquals(Arrays.asList(gs), Still.list(queue.takeChain(Integer.MAX_VALUE)));
    assertNull(queue.takeChain(Integer.MAX_VALUE));
    assertTrue(queue.isEmpty());
  }

  @Test
  void someAreTakenFromTheOldEnd() {
    var queue = new RunQueue(4);
    G[] gs = still.gs(4);
    for (G g : gs) {
      queue.offer(g);
    }
    assertEquals(List.of(gs[0], gs[1], gs[2]), Still.list(queue.takeChain(3)));
    assertEquals(List.of(gs[3]), Still.list(queue.takeChain(3)));
  }

  // A P's ring of those that yielded is larger than the ring that a thief has for them.
  @Test
  void thiefTakesNoMoreThanHalfOfItsOwnRing() {
    var victim = new RunQueue(1024);
    var thief = new RunQueue(256);
    G[] gs = still.gs(1000);
    for (G g : gs) {
      victim.offer(g);
    }
    assertSame(gs[127], victim.stealInto(thief));
    assertEquals(Arrays.asList(gs).subList(0, 127), Still.emptied(thief));
    assertEquals(Arrays.asList(gs).subList(128, 1000), Still.emptied(victim));
  }

  // Item 60; Go: TestRunqSteal.
  @Test
  void thiefTakesTheLargerHalfAndRunsTheLastOfIt() {
    for (int n = 1; n <= 256; n++) {
      var victim = new RunQueue();
      var thief = new RunQueue();
      G[] gs = still.gs(n);
      for (G g : gs) {
        victim.offer(g);
      }
      int half = n - n / 2;
      assertSame(gs[half - 1], victim.stealInto(thief), "the last of the stolen, of " + n);
      List<G> all = Arrays.asList(gs);
      assertEquals(all.subList(0, half - 1), Still.emptied(thief), "order kept, of " + n);
      assertEquals(all.subList(half, n), Still.emptied(victim), "the younger half stays, of " + n);
    }
  }

  @Test
  void stealingFromAnEmptyRingLeavesRunNextAlone() {
    var victim = new RunQueue();
    var thief = new RunQueue();
    G next = still.g();
    victim.swapNext(next);
    assertNull(victim.stealInto(thief));
    assertTrue(thief.isEmpty());
    assertSame(next, victim.peekNext());
  }

  @Test
  void thiefAppendsToWhatItHas() {
    var victim = new RunQueue();
    var thief = new RunQueue();
    G[] gs = still.gs(5);
    thief.offer(gs[0]);
    for (int i = 1; i < 5; i++) {
      victim.offer(gs[i]);
    }
    assertSame(gs[2], victim.stealInto(thief));
    assertEquals(List.of(gs[0], gs[1]), Still.emptied(thief));
  }

  @Test
  void runNextIsStolenOnlyIfItIsStillTheSame() {
    var queue = new RunQueue();
    G seen = still.g();
    G other = still.g();
    queue.swapNext(other);
    assertFalse(queue.stealNext(seen));
    assertSame(other, queue.peekNext());
    assertTrue(queue.stealNext(other));
    assertNull(queue.peekNext());
    assertNull(queue.takeNext(), "the owner comes too late");
  }

  // The counters run on for ever: past 2^31, where they change sign, and past 2^32, where they
  // begin again.
  @ParameterizedTest
  @CsvSource({"2, 2147483646", "4, 2147483641", "256, 2147482500", "2, -1", "4, -7", "256, -1100"})
  void countersWrapAround(int capacity, int start) {
    var queue = new RunQueue(capacity, start);
    assertTrue(queue.isEmpty());
    assertNull(queue.poll());
    G[] gs = still.gs(capacity);
    for (int round = 0; round < 6; round++) {
      for (G g : gs) {
        assertTrue(queue.offer(g), "offer in round " + round);
      }
      assertFalse(queue.offer(still.g()), "full in round " + round);
      assertEquals(capacity, queue.size());
      var thief = new RunQueue(capacity, start);
      List<G> seen = new ArrayList<>();
      if (round % 3 == 0) {
        seen.addAll(Still.list(queue.takeOlderHalf()));
        seen.addAll(Still.list(queue.takeChain(Integer.MAX_VALUE)));
      } else if (round % 3 == 1) {
        G last = queue.stealInto(thief);
        seen.addAll(Still.emptied(thief));
        seen.add(last);
        seen.addAll(Still.emptied(queue));
      } else {
        seen.addAll(Still.emptied(queue));
      }
      assertEquals(Arrays.asList(gs), seen, "round " + round);
      assertTrue(queue.isEmpty());
      queue.forgetTaken();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 256, 300})
  void whatWasTakenIsLeftToTheCollector(int n) {
    var queue = new RunQueue();
    List<WeakReference<G>> taken = passThrough(queue, n);
    G kept = still.g();

    queue.forgetTaken();
    queue.offer(kept);

    for (int tries = 0; tries < 50 && !allCollected(taken); tries++) {
      System.gc();
    }
    assertTrue(allCollected(taken));
    assertSame(kept, queue.poll());
  }

  @Test
  void whatWasTakenIsLeftToTheCollectorWhileOthersWait() {
    var queue = new RunQueue(4);
    List<WeakReference<G>> taken = passThrough(queue, 3);
    G kept = still.g();
    queue.offer(kept);

    queue.forgetTaken();

    for (int tries = 0; tries < 50 && !allCollected(taken); tries++) {
      System.gc();
    }
    assertTrue(allCollected(taken));
    assertSame(kept, queue.poll());
  }

  /// The last of what it steals a thief runs at once; and it may have copied more than it got.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5})
  void whatWasStolenIsLeftToTheCollector(int n) {
    var queue = new RunQueue(16);
    var thief = new RunQueue(16);
    List<WeakReference<G>> stolen = stealAll(queue, thief, n);

    queue.forgetTaken();
    thief.forgetTaken();

    for (int tries = 0; tries < 50 && !allCollected(stolen); tries++) {
      System.gc();
    }
    assertTrue(allCollected(stolen));
  }

  private List<WeakReference<G>> stealAll(RunQueue queue, RunQueue thief, int n) {
    var references = new ArrayList<WeakReference<G>>();
    for (G g : still.gs(n)) {
      queue.offer(g);
    }
    for (G g = queue.stealInto(thief); g != null; g = queue.stealInto(thief)) {
      references.add(new WeakReference<>(g));
      for (G other : Still.emptied(thief)) {
        references.add(new WeakReference<>(other));
      }
    }
    assertEquals(n, references.size());
    return references;
  }

  private static boolean allCollected(List<WeakReference<G>> references) {
    return references.stream().allMatch(r -> r.get() == null);
  }

  private List<WeakReference<G>> passThrough(RunQueue queue, int n) {
    var references = new ArrayList<WeakReference<G>>();
    for (int i = 0; i < n; i++) {
      queue.offer(still.g());
      references.add(new WeakReference<>(queue.poll()));
    }
    return references;
  }

  // Item 61; Go: TestRunqempty.
  @Test
  void neverLooksEmptyWhileOneMovesFromRunNextToTheRing() throws Exception {
    var queue = new RunQueue();
    queue.swapNext(still.g());
    G other = still.g();
    var done = new AtomicBoolean();
    var looking = new CountDownLatch(1);
    try (var threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
      Future<Long> looks =
          threads.submit(
              () -> {
                looking.countDown();
                long n = 0;
                for (; !done.get(); n++) {
                  assertFalse(queue.isEmpty(), "empty at look " + n);
                }
                return n;
              });
      looking.await();
      G incoming = other;
      try {
        for (int i = 0; i < Seed.times(200_000) && !looks.isDone(); i++) {
          // Run-next has one; after this the ring has it, and run-next the other.
          assertTrue(queue.offer(queue.swapNext(incoming)));
          incoming = queue.takeNext();
          // The ring has one; after this run-next has one.
          assertNull(queue.swapNext(incoming));
          incoming = queue.poll();
        }
      } finally {
        done.set(true);
      }
      assertTrue(looks.get() > 0);
    }
  }

  // Item 60 under contention: an owner and two thieves.
  @ParameterizedTest
  @ValueSource(ints = {2, 4, 256})
  void nothingIsLostOrTakenTwiceUnderContention(int capacity) throws Exception {
    long seed = Seed.pick();
    int total = Seed.times(40_000);
    var random = new Rand(seed);
    G[] gs = still.gs(total);
    var queue = new RunQueue(capacity, -total / 2); // wraps on the way
    var done = new AtomicBoolean();
    var stealing = new CountDownLatch(2);
    var mine = new ArrayList<G>();
    try (var threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
      Future<List<G>> first = threads.submit(() -> thief(queue, capacity, stealing, done));
      Future<List<G>> second = threads.submit(() -> thief(queue, capacity, stealing, done));
      stealing.await();
      try {
        own(queue, capacity, gs, random, mine);
      } finally {
        done.set(true);
      }
      var seen = new ArrayList<G>(mine);
      for (List<G> some : List.of(mine, first.get(), second.get())) {
        for (int i = 1; i < some.size(); i++) {
          assertTrue(some.get(i - 1).id < some.get(i).id, () -> "order; " + Seed.hint(seed));
        }
      }
      seen.addAll(first.get());
      seen.addAll(second.get());
      seen.sort((a, b) -> Long.compare(a.id, b.id));
      assertEquals(Arrays.asList(gs), seen, () -> Seed.hint(seed));
    }
  }

  private static void own(RunQueue queue, int capacity, G[] gs, Rand random, List<G> mine) {
    for (G g : gs) {
      while (!queue.offer(g)) {
        mine.addAll(Still.list(queue.takeOlderHalf()));
      }
      switch (random.next() % 16) {
        case 0 -> mine.addAll(Still.list(queue.takeChain(1 + random.next() % capacity)));
        case 1, 2, 3, 4 -> {
          G one = queue.poll();
          if (one != null) {
            mine.add(one);
          } else {
            queue.forgetTaken();
          }
        }
        default -> {}
      }
    }
    mine.addAll(Still.emptied(queue));
  }

  private static List<G> thief(
      RunQueue victim, int capacity, CountDownLatch stealing, AtomicBoolean done) {
    stealing.countDown();
    var own = new RunQueue(capacity);
    var taken = new ArrayList<G>();
    while (!done.get()) {
      G last = victim.stealInto(own);
      if (last != null) {
        taken.addAll(Still.emptied(own));
        taken.add(last);
      }
    }
    return taken;
  }
}
