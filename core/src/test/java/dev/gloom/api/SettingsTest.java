package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What a JVM that is set up wrongly says, each seen from a JVM of its own.
@Timeout(60)
class SettingsTest {
  static final class Program {
    public static void main(String[] args) throws Exception {
      for (int i = 0; i < 2; i++) { // the second call gets the same message, not a linkage error
        try {
          Gloom.run(() -> System.out.println("procs=" + Gloom.maxProcs()));
        } catch (RuntimeException e) {
          System.out.println(e.getMessage());
        }
      }
    }
  }

  @Test
  void theSystemPropertySetsMaxProcs() throws Exception {
    var child = ChildJvm.run(30, List.of(ChildJvm.OPEN, "-Dgloom.maxprocs=3"), Program.class);
    assertEquals(3, child.succeeded().figure("procs"));
    assertEquals("", child.err());
  }

  @Test
  void aMalformedPropertyIsNamedWithWhatIsRight() throws Exception {
    var child = ChildJvm.run(30, List.of(ChildJvm.OPEN, "-Dgloom.maxprocs=many"), Program.class);
    String text =
        "gloom: the system property gloom.maxprocs is \"many\" but must be a whole number from 1"
            + " to 65536: correct or remove -Dgloom.maxprocs=many\n";
    assertEquals(text + text, child.succeeded().out());
  }

  @Test
  void closedInternalsGiveTheLineToPaste() throws Exception {
    var child = ChildJvm.run(30, List.of(), Program.class);
    assertTrue(
        child.succeeded().out().contains("    --add-opens java.base/java.lang=ALL-UNNAMED\n"),
        child.out());
    assertEquals(2, child.out().lines().filter(l -> l.startsWith("gloom: package")).count());
  }
}
