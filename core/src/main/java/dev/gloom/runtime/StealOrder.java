package dev.gloom.runtime;

/// In which order a thief visits its victims: a start and a step that is coprime to their number,
/// so that each is visited once, in an order that two thieves rarely share. Go: `randomOrder`
final class StealOrder {
  private final int count;
  private final int[] coprimes;

  StealOrder(int count) {
    this.count = count;
    int[] found = new int[count];
    int n = 0;
    for (int i = 1; i <= count; i++) {
      if (gcd(i, count) == 1) {
        found[n++] = i;
      }
    }
    coprimes = java.util.Arrays.copyOf(found, n);
  }

  int start(int random) {
    return random % count;
  }

  int step(int random) {
    return coprimes[random / count % coprimes.length];
  }

  int after(int position, int step) {
    return (position + step) % count;
  }

  int steps() {
    return coprimes.length;
  }

  private static int gcd(int a, int b) {
    return b == 0 ? a : gcd(b, a % b);
  }
}
