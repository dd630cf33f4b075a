package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Item 62; Go: TestStealOrder.
@Timeout(20)
class StealOrderTest {
  private static final int MOST = 64;

  @Test
  void everyWalkVisitsEachProcessorOnce() {
    for (int count = 1; count <= MOST; count++) {
      var order = new StealOrder(count);
      for (int random = 0; random < count * order.steps(); random++) {
        var visited = new BitSet();
        int position = order.start(random);
        int step = order.step(random);
        for (int i = 0; i < count; i++, position = order.after(position, step)) {
          assertTrue(position >= 0 && position < count, "position " + position);
          visited.set(position);
        }
        assertEquals(count, visited.cardinality(), "random " + random + " of " + count);
        assertEquals(order.start(random), position, "the walk closes");
      }
    }
  }

  @Test
  void startAndStepDoNotRepeatBeforeAllPairsHaveBeen() {
    for (int count = 1; count <= MOST; count++) {
      var order = new StealOrder(count);
      var pairs = new HashSet<List<Integer>>();
      for (int random = 0; random < count * order.steps(); random++) {
        assertTrue(
            pairs.add(List.of(order.start(random), order.step(random))),
            "random " + random + " of " + count);
      }
    }
  }

  @Test
  void stepsAreAllNumbersCoprimeToTheCount() {
    for (int count = 1; count <= MOST; count++) {
      var order = new StealOrder(count);
      var steps = new HashSet<Integer>();
      for (int i = 0; i < order.steps(); i++) {
        steps.add(order.step(i * count));
      }
      var coprime = new HashSet<Integer>();
      for (int i = 1; i <= count; i++) {
        if (BigInteger.valueOf(i).gcd(BigInteger.valueOf(count)).equals(BigInteger.ONE)) {
          coprime.add(i);
        }
      }
      assertEquals(coprime, steps);
      assertTrue(count < 3 || steps.size() >= 2, "two thieves can differ");
    }
  }

  @Test
  void largestRandomNumberIsFine() {
    for (int count = 1; count <= MOST; count++) {
      var order = new StealOrder(count);
      assertTrue(order.start(Integer.MAX_VALUE) < count);
      assertTrue(order.step(Integer.MAX_VALUE) <= count);
    }
  }
}
