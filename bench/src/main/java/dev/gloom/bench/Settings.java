package dev.gloom.bench;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// What holds for a whole run.
///
/// @param rounds measured rounds a peer
/// @param scale times the size of each case; anything but 1 is for tests of the harness
/// @param warmup each child runs unmeasured rounds for at least this long
/// @param timeout the longest wait for one answer of a child
/// @param heap initial and greatest heap of every JVM
/// @param jvmArgs further flags, for every JVM alike
/// @param home the folder of this module, where the twins in other languages are
record Settings(
    int rounds,
    double scale,
    Duration warmup,
    Duration timeout,
    String heap,
    List<String> jvmArgs,
    Path home) {
  long scaled(long size) {
    return Math.max(1, Math.round(size * scale));
  }
}
