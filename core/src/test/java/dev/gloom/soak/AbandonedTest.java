package dev.gloom.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.ChildJvm;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A channel, and the goroutines that wait in it, which only they themselves can reach: nobody can
/// ever wake them. With the JDK's setting for that the collector takes them; nothing of gloom's
/// keeps them.
@Timeout(300)
class AbandonedTest {
  private static final String UNTRACKED = "-Djdk.trackAllThreads=false";

  private static final List<String> KINDS =
      List.of("recv", "send", "full", "select", "cycle", "group", "context", "never", "adopted");

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void whatOnlyGoroutinesThatWaitInItCanReachIsCollectedWithThem(int procs) throws Exception {
    var child = run(List.of(ChildJvm.OPEN, UNTRACKED), "wait", procs);
    for (String kind : KINDS) {
      assertTrue(child.figure(kind + ".all") > 0, kind);
      assertEquals(child.figure(kind + ".all"), child.figure(kind + ".gone"), kind);
    }
    assertEquals(1, child.figure("left"), "the one in a channel that others can reach is counted");
    assertEquals(1, child.figure("dumped"));
    assertEquals(1, child.figure("listed"));
    assertEquals(1, child.figure("answered"), "and is woken");
  }

  /// So dumps and counts show what leaks.
  @Test
  void withoutTheSettingTheyStay() throws Exception {
    var child = run(List.of(ChildJvm.OPEN), "wait", 2);
    long goroutines = 1; // the one that others can reach
    for (String kind : KINDS) {
      assertEquals(0, child.figure(kind + ".gone"), kind);
      goroutines += kind.equals("cycle") ? 2 : 1;
    }
    assertEquals(goroutines, child.figure("left"));
    assertEquals(goroutines, child.figure("dumped"));
    assertEquals(1, child.figure("answered"));
  }

  @Test
  void moreThanTheHeapHoldsOnAProcessorThatNeverRests() throws Exception {
    int n = 200_000; // of 600 bytes and more
    var child = run(List.of(ChildJvm.OPEN, UNTRACKED, "-Xmx48m"), "leak", n);
    assertEquals(n + 1, child.figure("started"));
  }

  private static ChildJvm run(List<String> jvmArgs, String what, int n) throws Exception {
    return ChildJvm.run(120, jvmArgs, AbandonedProgram.class, what, Integer.toString(n))
        .succeeded();
  }
}
