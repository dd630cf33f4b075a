package dev.gloom.dropin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.ChildJvm;
import dev.gloom.api.Lab;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Random work from several class loaders under the agent: nothing is lost, nothing is left.
@Timeout(1200)
class DropInSoakTest {
  /// The JIT and the class loaders' remains wobble by so much.
  private static final long WOBBLE_BYTES = 4_000_000;

  @Test
  void nothingIsLost() {
    soak(10);
  }

  @Test
  @Tag("slow")
  void alsoForTenMinutes() {
    soak(600);
  }

  private static void soak(int seconds) {
    Lab.seeded(
        seed -> {
          var child =
              ChildJvm.run(
                      seconds * 2 + 120,
                      List.of(
                          AgentJvm.java(),
                          AgentJvm.agent(""),
                          "-Xmx512m",
                          "-ea",
                          "-cp",
                          ChildJvm.pathOf(DropInSoakProgram.class),
                          DropInSoakProgram.class.getName(),
                          Integer.toString(seconds),
                          Long.toString(seed)))
                  .succeeded();
          System.out.println(child.out().replace('\n', ' '));
          assertEquals("", child.err());
          assertTrue(child.figure("started") > 1_000, child.out());
          assertEquals(child.figure("started"), child.figure("ended"));
          assertTrue(child.figure("gloomStarted") >= child.figure("started"), child.out());
          assertEquals(0, child.figure("goroutines"));
          assertEquals(0, child.figure("rescues"));
          assertTrue(child.figure("bytesLeft") < WOBBLE_BYTES, child.out());
        });
  }
}
