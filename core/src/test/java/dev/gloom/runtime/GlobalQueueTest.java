package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GlobalQueueTest {
  private final Still still = new Still(1);
  private final GlobalQueue queue = new GlobalQueue();

  @Test
  void firstInIsFirstOut() {
    G[] gs = still.gs(5);
    for (int i = 0; i < gs.length; i++) {
      queue.put(gs[i]);
      assertEquals(i + 1, queue.size());
    }
    for (G g : gs) {
      assertSame(g, queue.take());
    }
    assertNull(queue.take());
    assertTrue(queue.isEmpty());
  }

  @Test
  void oneThatIsTakenIsInNoChain() {
    G[] gs = still.gs(2);
    queue.put(gs[0]);
    queue.put(gs[1]);
    assertNull(queue.take().link);
  }

  @Test
  void staleLinkOfWhatIsPutIsForgotten() {
    G[] gs = still.gs(2);
    gs[0].link = gs[1];
    queue.put(gs[0]);
    assertEquals(List.of(gs[0]), Still.list(queue.takeChain(9)));
    assertTrue(queue.isEmpty());
  }

  @Test
  void batchIsTakenFromTheHeadInOrder() {
    G[] gs = still.gs(6);
    for (G g : gs) {
      queue.put(g);
    }
    assertEquals(List.of(gs[0], gs[1]), Still.list(queue.takeChain(2)));
    assertEquals(4, queue.size());
    assertEquals(List.of(gs[2], gs[3], gs[4], gs[5]), Still.list(queue.takeChain(100)));
    assertEquals(0, queue.size());
    assertNull(queue.takeChain(100));
  }

  /// Else one that is kept when it has ended would keep another one from the collector.
  @Test
  void whoeverIsTakenRefersToNobodyAhead() {
    G[] gs = still.gs(20);
    var ring = new RunQueue();
    for (G g : gs) {
      ring.offer(g);
    }
    G chain = ring.takeChain(20);
    for (int i = 0; i < gs.length; i++) {
      assertSame(i + 8 < gs.length ? gs[i + 8] : null, gs[i].ahead);
    }
    queue.putChain(chain, gs[19], 20);
    queue.take();
    assertNull(gs[0].ahead);
    queue.takeChain(5);
    assertNull(gs[5].ahead, "the last of a batch");
    assertSame(gs[14], gs[6].ahead, "still there");
    queue.takeChain(100);
    for (G g : gs) {
      assertNull(g.ahead);
    }
  }

  @Test
  void batchOfNoneTakesNothing() {
    G g = still.g();
    queue.put(g);
    assertNull(queue.takeChain(0));
    assertSame(g, queue.take());
  }

  @Test
  void emptiedQueueTakesNewOnes() {
    G[] gs = still.gs(3);
    queue.put(gs[0]);
    queue.takeChain(1);
    queue.put(gs[1]);
    queue.put(gs[2]);
    assertEquals(List.of(gs[1], gs[2]), Still.list(queue.takeChain(9)));
  }

  @Test
  void chainIsAppendedInOrder() {
    G[] gs = still.gs(6);
    queue.putChain(Still.chain(gs[0], gs[1]), gs[1], 2); // into an empty queue
    queue.put(gs[2]);
    queue.putChain(Still.chain(gs[3], gs[4], gs[5]), gs[5], 3); // behind others
    assertEquals(6, queue.size());
    assertEquals(Arrays.asList(gs), Still.list(queue.takeChain(9)));
  }

  @Test
  void chainOfARetiredProcessorGoesInFront() {
    G[] gs = still.gs(6);
    queue.put(gs[3]);
    queue.put(gs[4]);
    queue.putChainFirst(Still.chain(gs[0], gs[1], gs[2]), gs[2], 3);
    queue.put(gs[5]);
    assertEquals(6, queue.size());
    assertEquals(Arrays.asList(gs), Still.list(queue.takeChain(9)));
  }

  @Test
  void chainInFrontOfAnEmptyQueueIsAlsoItsEnd() {
    G[] gs = still.gs(3);
    queue.putChainFirst(Still.chain(gs[0], gs[1]), gs[1], 2);
    queue.put(gs[2]);
    assertEquals(Arrays.asList(gs), Still.list(queue.takeChain(9)));
  }

  // Item 65: min(128, size, size / P + 1).
  @ParameterizedTest
  @CsvSource({
    "0, 1, 0",
    "1, 1, 1",
    "2, 1, 2",
    "1, 8, 1",
    "7, 8, 1",
    "8, 8, 2",
    "100, 2, 51",
    "253, 2, 127",
    "254, 2, 128",
    "255, 2, 128",
    "10000, 2, 128",
    "127, 1, 127",
    "128, 1, 128",
    "129, 1, 128",
  })
  void batchIsAProcessorsShare(int size, int maxProcs, int batch) {
    assertEquals(batch, GlobalQueue.batch(size, maxProcs));
  }

  @Test
  void concurrentPutsAndTakesLoseNothingAndKeepTheOrderOfEachPutter() throws Exception {
    long seed = Seed.pick();
    int each = Seed.times(30_000);
    G[][] gs = {still.gs(each), still.gs(each)};
    var left = new AtomicInteger(2 * each);
    var together = new CyclicBarrier(4);
    try (var threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
      var putters = new ArrayList<Future<?>>();
      var takers = new ArrayList<Future<List<G>>>();
      for (int i = 0; i < 2; i++) {
        int mine = i;
        putters.add(threads.submit(() -> putAll(gs[mine], new Rand(seed + mine), together)));
        takers.add(threads.submit(() -> takeAll(left, new Rand(seed + 10 + mine), together)));
      }
      for (Future<?> f : putters) {
        f.get();
      }
      var putter = new HashMap<G, Integer>();
      var seen = new HashMap<G, Integer>();
      for (int i = 0; i < 2; i++) {
        for (G g : gs[i]) {
          putter.put(g, i);
        }
      }
      for (Future<List<G>> f : takers) {
        long[] lastId = {0, 0};
        for (G g : f.get()) {
          seen.merge(g, 1, Integer::sum);
          int from = putter.get(g);
          assertTrue(lastId[from] < g.id, () -> "order; " + Seed.hint(seed));
          lastId[from] = g.id;
        }
      }
      assertEquals(putter.keySet(), seen.keySet(), () -> Seed.hint(seed));
      assertTrue(seen.values().stream().allMatch(n -> n == 1), () -> Seed.hint(seed));
      assertEquals(0, queue.size());
    }
  }

  private Void putAll(G[] gs, Rand random, CyclicBarrier together) throws Exception {
    together.await();
    for (int i = 0; i < gs.length; ) {
      int n = Math.min(gs.length - i, Math.max(1, random.next() % 8 - 3)); // mostly one
      if (n == 1) {
        queue.put(gs[i]);
      } else {
        queue.putChain(Still.chain(Arrays.copyOfRange(gs, i, i + n)), gs[i + n - 1], n);
      }
      i += n;
    }
    return null;
  }

  private List<G> takeAll(AtomicInteger left, Rand random, CyclicBarrier together)
      throws Exception {
    together.await();
    var taken = new ArrayList<G>();
    while (left.get() > 0) {
      List<G> some = Still.list(queue.takeChain(1 + random.next() % 8));
      left.addAndGet(-some.size());
      taken.addAll(some);
    }
    return taken;
  }
}
