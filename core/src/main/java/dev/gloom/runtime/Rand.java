package dev.gloom.runtime;

/// A small random generator for one owner (xorshift64*). Each P has one, all derived from the
/// scheduler's seed, so that a failing run can be repeated. Go: `cheaprand`
final class Rand {
  private long state;

  Rand(long seed) {
    // xorshift never leaves zero; the golden ratio keeps neighbouring seeds apart.
    state = seed * 0x9E37_79B9_7F4A_7C15L | 1;
  }

  /// A number from 0 to 2^31 - 1.
  int next() {
    long x = state;
    x ^= x >>> 12;
    x ^= x << 25;
    x ^= x >>> 27;
    state = x;
    return (int) ((x * 0x2545_F491_4F6C_DD1DL) >>> 33);
  }
}
