package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// maxProcs to fewer than before: in Go it holds when the call returns.
@Timeout(60)
class ShrinkTest {
  private static final int ROUNDS = 50;

  /// Nothing else runs before the call, so nothing but the caller's own P can be in the way.
  @Test
  void afterMaxProcs1NobodyRunsBesideTheCaller() throws Exception {
    var beside = new AtomicInteger();
    for (int i = 0; i < ROUNDS; i++) {
      try (var lab = Lab.procs(8)) {
        lab.run(
            () -> {
              lab.scheduler().maxProcs(1);
              var ran = new AtomicBoolean();
              lab.go(() -> ran.set(true));
              Lab.spin(3_000_000); // less than a slice, and no scheduling point
              if (ran.get()) {
                beside.incrementAndGet();
              }
            });
      }
    }
    // A busy machine may stretch a few of them to a slice.
    assertTrue(beside.get() <= 5, () -> beside + " of " + ROUNDS);
  }
}
