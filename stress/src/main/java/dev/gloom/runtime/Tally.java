package dev.gloom.runtime;

import java.util.function.Supplier;

/// Counts, when a test is over, where its goroutines have gone: each must be somewhere, and once.
final class Tally {
  private final int[] seen;
  private int stolen;

  /// For the goroutines 0 to `n` - 1.
  Tally(int n) {
    seen = new int[n];
  }

  static G[] gs(int n) {
    G[] gs = new G[n];
    for (int i = 0; i < n; i++) {
      gs[i] = new G(null, i, 0, null, null);
    }
    return gs;
  }

  /// One that was taken; null if there was none.
  Tally took(G g) {
    if (g != null) {
      seen[(int) g.id]++;
    }
    return this;
  }

  /// A chain that was taken.
  Tally tookChain(G chain) {
    for (G g = chain; g != null; g = g.link) {
      took(g);
    }
    return this;
  }

  /// What `stealInto` answered, and what the thief polls from its own queue.
  Tally stole(G last, Supplier<G> poll) {
    if (last != null) {
      took(last);
      stolen++;
    }
    for (G g = poll.get(); g != null; g = poll.get()) {
      took(g);
      stolen++;
    }
    return this;
  }

  /// What is still polled from the ring.
  Tally left(Supplier<G> poll) {
    for (G g = poll.get(); g != null; g = poll.get()) {
      took(g);
    }
    return this;
  }

  String outcome() {
    boolean lost = false;
    boolean twice = false;
    for (int n : seen) {
      lost |= n == 0;
      twice |= n > 1;
    }
    if (twice) {
      return lost ? "LOST AND TWICE" : "TWICE";
    }
    return lost ? "LOST" : "each once, stolen " + stolen;
  }
}
