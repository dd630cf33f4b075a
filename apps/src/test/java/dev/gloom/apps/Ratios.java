package dev.gloom.apps;

import java.util.ArrayList;
import java.util.List;

/// Ratios of pairs that were measured one after the other: their mean and how far it can be
/// trusted. Ratios multiply, so all of it is done with logarithms.
final class Ratios {
  /// Student's t, 95 %, two sides, by degrees of freedom: from 5 to 14.
  private static final double[] T = {
    2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145
  };

  private static final int LEAST = 5;

  private final List<Double> logs = new ArrayList<>();

  void add(double ratio) {
    logs.add(Math.log(ratio));
  }

  double mean() {
    return Math.exp(logMean());
  }

  /// The lower end of the 95 % interval.
  double low() {
    return Math.exp(logMean() - half());
  }

  /// The upper end of the 95 % interval.
  double high() {
    return Math.exp(logMean() + half());
  }

  private double logMean() {
    return logs.stream().mapToDouble(d -> d).average().orElseThrow();
  }

  private double half() {
    double mean = logMean();
    int freedom = logs.size() - 1;
    double variance = logs.stream().mapToDouble(d -> (d - mean) * (d - mean)).sum() / freedom;
    return T[freedom - LEAST] * Math.sqrt(variance / logs.size());
  }

  @Override
  public String toString() {
    return "%.3f (95 %%: %.3f to %.3f)".formatted(mean(), low(), high());
  }
}
