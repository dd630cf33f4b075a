package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

@ParameterizedClass
@ValueSource(booleans = {true, false})
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RegistryTest {
  private final Still still = new Still(1);
  private final Registry registry;

  RegistryTest(boolean keeps) {
    registry = keeps ? new StrongRegistry() : new WeakRegistry();
  }

  @Test
  void knowsWhatWasAddedAndNotYetRemoved() {
    G[] gs = still.gs(100); // more than fit into the first try of a snapshot of a list
    for (G g : gs) {
      registry.add(g);
    }
    assertEquals(100, registry.size());
    assertEquals(Set.of(gs), Set.of(registry.snapshot()));

    registry.remove(gs[50]);
    assertEquals(99, registry.size());
    assertEquals(100, registry.started());
    assertTrue(!List.of(registry.snapshot()).contains(gs[50]));
  }

  @Test
  void snapshotOfOneLongListIsWhole() {
    // Ids that are equal modulo 16 share a list.
    G[] gs = Arrays.stream(still.gs(16 * 40)).filter(g -> g.id % 16 == 3).toArray(G[]::new);
    for (G g : gs) {
      registry.add(g);
    }
    assertEquals(40, registry.snapshot().length);
    assertEquals(Set.of(gs), Set.of(registry.snapshot()));
  }

  @Test
  void removingInAnyOrderLeavesTheOthers() {
    long seed = Seed.pick();
    G[] gs = still.gs(64);
    for (G g : gs) {
      registry.add(g);
    }
    var left = new HashSet<G>(List.of(gs));
    List<G> order = Arrays.asList(gs.clone());
    Collections.shuffle(order, new Random(seed));
    for (G g : order) {
      registry.remove(g);
      left.remove(g);
      assertEquals(left, Set.of(registry.snapshot()), () -> Seed.hint(seed));
      assertNull(g.registryNext);
      assertNull(g.registryPrevious);
    }
    assertEquals(0, registry.size());
    assertEquals(64, registry.started());
  }

  @Test
  void removingTwiceCountsOnce() {
    G g = still.g();
    registry.add(g);
    registry.remove(g);
    registry.remove(g);
    assertEquals(0, registry.size());
    assertEquals(1, registry.started());
  }

  @Test
  void concurrentStartsEndsAndJoinersAgree() throws Exception {
    int each = Seed.times(5_000);
    G[][] gs = {still.gs(each), still.gs(each)};
    try (var threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
      List<Future<?>> adding =
          List.of(threads.submit(() -> add(gs[0])), threads.submit(() -> add(gs[1])));
      for (Future<?> f : adding) {
        f.get();
      }
      assertEquals(2 * each, registry.size());
      // The M of a goroutine and whoever joined it both remove it.
      List<Future<?>> removing =
          List.of(threads.submit(() -> removeAll(gs)), threads.submit(() -> removeAll(gs)));
      for (Future<?> f : removing) {
        f.get();
      }
    }
    assertEquals(0, registry.size());
    assertEquals(2 * each, registry.started());
    assertEquals(0, registry.snapshot().length);
  }

  /// Whether it keeps them is all that the two differ in.
  @Test
  void whatNobodyElseRefersToIsTakenOutOrStays() {
    G kept = still.g();
    registry.add(kept);
    addSome();
    boolean keeps = registry instanceof StrongRegistry;
    for (int tries = keeps ? 47 : 0; tries < 50 && registry.size() > 1; tries++) {
      System.gc();
      registry.sweep();
    }
    assertEquals(keeps ? 41 : 1, registry.size());
    assertEquals(41, registry.started());
    assertEquals(keeps ? 41 : 1, registry.snapshot().length);
    assertTrue(List.of(registry.snapshot()).contains(kept));
  }

  private void addSome() {
    for (G g : still.gs(40)) {
      registry.add(g);
    }
  }

  /// One that sysmon has to do something for is in no queue.
  @Test
  void whatIsStrandedStaysUntilItIsSeenTo() {
    addSome();
    for (G g : registry.snapshot()) {
      if (g.entry != null) {
        g.entry.held = g;
      }
      g.unwoken = true;
    }
    for (int i = 0; i < 3; i++) {
      System.gc();
      registry.sweep();
    }
    assertEquals(40, registry.size());
    for (G g : registry.snapshot()) {
      assertTrue(g.unwoken);
    }
  }

  private void add(G[] gs) {
    for (G g : gs) {
      registry.add(g);
    }
  }

  private void removeAll(G[][] gs) {
    for (G[] some : gs) {
      for (G g : some) {
        registry.remove(g);
      }
    }
  }
}
