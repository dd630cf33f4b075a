package dev.gloom.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(10)
class SamplesTest {
  @Test
  void medianOfAnOddNumberIsTheMiddleOne() {
    assertEquals(3, Samples.median(new double[] {100, 1, 3}));
  }

  @Test
  void medianOfAnEvenNumberIsBetweenTheMiddleTwo() {
    assertEquals(2.5, Samples.median(new double[] {4, 1, 3, 2}));
  }

  @Test
  void medianLeavesItsArgumentInOrder() {
    double[] rounds = {3, 1, 2};
    Samples.median(rounds);
    assertEquals(3, rounds[0]);
  }

  @Test
  void noRoundsHaveNoMedian() {
    assertThrows(IllegalArgumentException.class, () -> Samples.median(new double[0]));
  }

  /// A machine that gets four times slower in mid-run: the ratio of medians would say 0.8, but each
  /// pair says 0.5.
  @Test
  void pairedRatioIgnoresWhatBothSaw() {
    double[] ours = {10, 40, 40, 10, 40};
    double[] theirs = {20, 80, 80, 20, 50};
    assertEquals(0.5, Samples.pairedRatio(ours, theirs));
    assertEquals(0.8, Samples.median(ours) / Samples.median(theirs));
  }

  @Test
  void winsAreTheRoundsThatWereLower() {
    assertEquals(1, Samples.wins(new double[] {1, 2, 3}, new double[] {2, 2, 2}));
  }

  @Test
  void roundsThatDoNotPairAreRefused() {
    assertThrows(
        IllegalArgumentException.class,
        () -> Samples.pairedRatio(new double[] {1, 2}, new double[] {1}));
  }

  @Test
  void anAnswerIsRoundedToWhatTheResultsFileHolds() {
    assertEquals(0.333, new Child.Answer(3, 1, Map.of()).nanosPerOp());
  }
}
