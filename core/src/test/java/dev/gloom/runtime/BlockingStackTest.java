package dev.gloom.runtime;

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
          for (int i = 0; i < 100; i++) {
            Blocking.call(
                () -> 1,
                lasts); // everything is linked, and more of it compiled as the test goes on
          }
          for (int i = 0; i < 200; i++) {
            dive(lasts);
            assertTrue(isSomewhere(sched.procs().all[0], sched), "it is lost: " + i);
            Sched.gosched();
          }
          return null;
        });
    assertTrue(refused > 0, "the stack was never full");
    assertTrue(tries > refused, "it was never deep enough");
    sched.close();
  }

  /// Whether the P is held by whom it says, or idle, or another thread has it; or lies there for
  /// whoever takes it, if there was no room even to end the call.
  private static boolean isSomewhere(P p, Sched sched) {
    M m = M.current();
    if (m.p != null) {
      return m.p == p && p.status == P.HELD && p.holder == m;
    }
    return m.left == p && p.status == P.BLOCKED
        || sched.idle.idleProcs() == 1
        || p.status == P.HELD && p.holder != m;
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
