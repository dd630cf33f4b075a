package dev.gloom.bench.cases;

import java.util.Map;

/// The work of one case. A round is one call, timed from outside.
@FunctionalInterface
public interface Work {
  /// What a kind of threads must offer to do it.
  enum Needs {
    /// To start, yield and park.
    THREADS,
    /// Channels.
    CHANNELS,
    /// Channels, and to wait for several of them at once.
    SELECT,
    /// To sleep.
    SLEEP,
    /// Sockets, and a client on another core.
    SOCKETS
  }

  /// Does about `size` operations in a thread of `threads`, and returns how many it really did.
  ///
  /// It returns when every thread it started has finished its part, and throws
  /// IllegalStateException if the outcome is wrong: a round that did not do its work has no time.
  long run(Threads threads, long size);

  /// What it has measured beside the time, in its last round, by name.
  default Map<String, Long> figures() {
    return Map.of();
  }

  /// What it cannot run without.
  default Needs needs() {
    return Needs.THREADS;
  }

  /// Throws if the outcome is wrong.
  static void check(String what, long got, long expected) {
    if (got != expected) {
      throw new IllegalStateException("wrong " + what + ": " + got + ", not " + expected);
    }
  }
}
