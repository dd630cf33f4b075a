package dev.gloom.bench;

import java.util.Arrays;

/// The arithmetic of rounds.
final class Samples {
  private Samples() {}

  static double median(double[] values) {
    if (values.length == 0) {
      throw new IllegalArgumentException("no values");
    }
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  static double min(double[] values) {
    return Arrays.stream(values).min().orElseThrow();
  }

  static double max(double[] values) {
    return Arrays.stream(values).max().orElseThrow();
  }

  /// The median of the ratios of each round: two peers in one round saw the same machine, so that
  /// its moods cancel out.
  static double pairedRatio(double[] values, double[] others) {
    return median(ratios(values, others));
  }

  /// In how many rounds `values` was the lower one.
  static int wins(double[] values, double[] others) {
    return (int) Arrays.stream(ratios(values, others)).filter(ratio -> ratio < 1).count();
  }

  private static double[] ratios(double[] values, double[] others) {
    if (values.length != others.length) {
      throw new IllegalArgumentException(
          "rounds do not pair: " + values.length + " and " + others.length);
    }
    double[] ratios = new double[values.length];
    for (int i = 0; i < values.length; i++) {
      ratios[i] = values[i] / others[i];
    }
    return ratios;
  }
}
