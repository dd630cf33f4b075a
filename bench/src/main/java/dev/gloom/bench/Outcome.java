package dev.gloom.bench;

import java.util.Map;

/// What became of one peer in one case.
sealed interface Outcome {
  String caseName();

  String peer();

  /// @param rounds nanoseconds an operation, in the order of the rounds
  /// @param counters what the peer's scheduler counted in all rounds, an operation
  /// @param idleCpu share of a core that the child used while others were measured
  record Measured(
      String caseName,
      String peer,
      String version,
      double[] rounds,
      Map<String, Double> counters,
      double idleCpu)
      implements Outcome {
    double median() {
      return Samples.median(rounds);
    }
  }

  /// Nothing to run: no toolchain, or no twin of the case.
  record Absent(String caseName, String peer, String word, String why) implements Outcome {}

  /// It ran and went wrong.
  record Failed(String caseName, String peer, String why) implements Outcome {}
}
