package dev.gloom.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// When a class that was caught gets its checks.
class WantedTest {
  private static final long NOW = 1_000;
  private static final long LATER = NOW + Wanted.STAY_NANOS;

  private final Wanted wanted = new Wanted();

  @BeforeEach
  void twoAreWanted() {
    assertTrue(wanted.add("A"));
    assertTrue(wanted.add("B"));
  }

  @Test
  void nobodyIsInIt() {
    assertEquals(List.of("B"), wanted.ripe(Map.of(1L, Set.of("A", "C"), 2L, Set.of()), NOW));
    assertFalse(wanted.isEmpty());
    assertEquals(List.of("A"), wanted.ripe(Map.of(1L, Set.of("C")), NOW + 1));
    assertTrue(wanted.isEmpty());
    assertEquals(List.of(), wanted.ripe(Map.of(), NOW + 2), "once each");
  }

  @Test
  void oneStaysInItForLong() {
    var inside = Map.of(1L, Set.of("A"), 2L, Set.of("B"));
    assertEquals(List.of(), wanted.ripe(inside, NOW));
    assertEquals(List.of(), wanted.ripe(inside, LATER - 1));
    assertEquals(2, wanted.ripe(inside, LATER).size());
  }

  @Test
  void severalComeAndGo() {
    var both = Set.of("A", "B");
    assertEquals(List.of(), wanted.ripe(Map.of(1L, both), NOW));
    assertEquals(List.of(), wanted.ripe(Map.of(1L, both, 2L, both), LATER - 2));
    assertEquals(List.of(), wanted.ripe(Map.of(2L, both, 3L, both), LATER));
    assertEquals(List.of(), wanted.ripe(Map.of(3L, both, 1L, both), LATER + 1_000));
    assertFalse(wanted.isEmpty());
  }

  @Test
  void askedForTwiceIsNoNewBeginning() {
    var inside = Map.of(1L, Set.of("A", "B"));
    wanted.ripe(inside, NOW);
    assertFalse(wanted.add("A"));
    assertTrue(wanted.ripe(inside, LATER).contains("A"));
  }

  @Test
  void nobodyIsWantedAnyMore() {
    wanted.clear();
    assertTrue(wanted.isEmpty());
    assertEquals(List.of(), wanted.ripe(Map.of(), LATER));
  }
}
