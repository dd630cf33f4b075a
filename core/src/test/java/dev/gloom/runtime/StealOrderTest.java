package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Item 62; Go: TestStealOrder.
@Timeout(20)
class StealOrderTest {
  static IntStream sizes() {
    return IntStream.rangeClosed(1, 64);
  }

  @ParameterizedTest
  @MethodSource("sizes")
  void everyWalkVisitsEachProcessorOnce(int count) {
    var order = new StealOrder(count);
    for (int random = 0; random < count * order.steps(); random++) {
      var visited = new BitSet();
      int position = order.start(random);
      int step = order.step(random);
      for (int i = 0; i < count; i++, position = order.after(position, step)) {
        assertTrue(position >= 0 && position < count, "position " + position);
        visited.set(position);
      }
      assertEquals(count, visited.cardinality(), "random " + random);
      assertEquals(order.start(random), position, "the walk closes");
    }
  }

  @ParameterizedTest
  @MethodSource("sizes")
  void startAndStepDoNotRepeatBeforeAllPairsHaveBeen(int count) {
    var order = new StealOrder(count);
    var pairs = new HashSet<List<Integer>>();
    for (int random = 0; random < count * order.steps(); random++) {
      assertTrue(pairs.add(List.of(order.start(random), order.step(random))), "random " + random);
    }
  }

  @ParameterizedTest
  @MethodSource("sizes")
  void stepsAreAllNumbersCoprimeToTheCount(int count) {
    var order = new StealOrder(count);
    var steps = new HashSet<Integer>();
    for (int i = 0; i < order.steps(); i++) {
      steps.add(order.step(i * count));
    }
    var coprime = new HashSet<Integer>();
    for (int i = 1; i <= count; i++) {
      int candidate = i;
      if (IntStream.rangeClosed(2, count).noneMatch(d -> candidate % d == 0 && count % d == 0)) {
        coprime.add(i);
      }
    }
    assertEquals(coprime, steps);
    assertTrue(count < 3 || steps.size() >= 2, "two thieves can differ");
  }

  @ParameterizedTest
  @MethodSource("sizes")
  void largestRandomNumberIsFine(int count) {
    var order = new StealOrder(count);
    assertTrue(order.start(Integer.MAX_VALUE) < count);
    assertTrue(order.step(Integer.MAX_VALUE) <= count);
  }
}
