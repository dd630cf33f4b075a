package dev.gloom.runtime;

/// The seeds and sizes of tests that choose by chance.
///
/// `-Dgloom.seed=N` repeats a run; `-Dgloom.stress=N` makes loops N times as long.
final class Seed {
  private Seed() {}

  static long pick() {
    return Long.getLong("gloom.seed", System.nanoTime());
  }

  static int times(int n) {
    return n * Integer.getInteger("gloom.stress", 1);
  }

  /// For the message of an assertion.
  static String hint(long seed) {
    return "repeat with -Dgloom.seed=" + seed;
  }
}
