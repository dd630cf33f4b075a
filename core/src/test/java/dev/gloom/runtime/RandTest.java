package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HashSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(20)
class RandTest {
  @ParameterizedTest
  @ValueSource(longs = {0, 1, -1, 42, Long.MIN_VALUE, Long.MAX_VALUE})
  void sameSeedGivesTheSameNumbers(long seed) {
    assertArrayEquals(draw(new Rand(seed), 100), draw(new Rand(seed), 100));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, -1, 42, Long.MIN_VALUE, Long.MAX_VALUE})
  void numbersAreNeverNegativeAndSpread(long seed) {
    int[] drawn = draw(new Rand(seed), 16_000);
    assertTrue(Arrays.stream(drawn).allMatch(n -> n >= 0));
    // 16 boxes of 1,000 on average: 800 to 1,200 is more than six standard deviations.
    var boxes = new int[16];
    for (int n : drawn) {
      boxes[n % 16]++;
    }
    assertTrue(
        Arrays.stream(boxes).allMatch(n -> n > 800 && n < 1_200), () -> Arrays.toString(boxes));
  }

  @Test
  void processorsOfOneSchedulerHaveDifferentNumbers() {
    var still = new Still(64, 7);
    var firsts = new HashSet<Integer>();
    for (P p : still.sched.procs().all) {
      firsts.add(p.rand.next());
    }
    assertEquals(64, firsts.size());
  }

  @Test
  void seedOfASchedulerDecidesTheNumbersOfItsProcessors() {
    int[] one = draw(new Still(2, 7).p(1).rand, 10);
    int[] same = draw(new Still(2, 7).p(1).rand, 10);
    int[] other = draw(new Still(2, 8_000).p(1).rand, 10);
    assertArrayEquals(one, same);
    assertFalse(Arrays.equals(one, other));
  }

  private static int[] draw(Rand rand, int n) {
    return IntStream.range(0, n).map(_ -> rand.next()).toArray();
  }
}
