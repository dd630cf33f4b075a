package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Blocking calls from the last frames of a stack: they fail as a whole or not at all, and the P is
/// never lost on the way.
@Timeout(60)
class BlockingStackTest {
  private static final int LAST_FRAMES = 400;

  private int tries;
  private int refused;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void callOnAFullStackLosesNoProcessor(boolean lasts) throws Exception {
    var sched = new Sched(1, new Knobs(1, false, true));
    sched.run(
        () -> {
          for (int i = 0; i < 2_000; i++) {
            Blocking.call(() -> 1, lasts); // everything is linked, some of it compiled
          }
          for (int i = 0; i < 30; i++) {
            dive(lasts);
            M m = M.current();
            P p = m.p;
            assertTrue(p != null || m.overcommitted, "it has neither a P nor leave to run: " + i);
            assertEquals(null, m.left, "it is in no call");
            if (p != null) {
              assertEquals(P.HELD, p.status);
              assertEquals(m, p.holder);
            }
            Sched.gosched();
          }
          return null;
        });
    assertTrue(refused > 0, "the stack was never full");
    assertTrue(tries > refused, "it was never deep enough");
    sched.close();
  }

  /// Answers how many frames are below.
  @SuppressWarnings("InfiniteRecursion") // that is the point
  private int dive(boolean lasts) throws Exception {
    int below = 0;
    try {
      below = dive(lasts) + 1;
    } catch (StackOverflowError e) {
      // The deepest.
    }
    if (below < LAST_FRAMES) {
      tries++;
      try {
        Blocking.call(() -> 1, lasts);
      } catch (StackOverflowError e) {
        refused++;
      }
    }
    return below;
  }
}
