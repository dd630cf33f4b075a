package dev.gloom.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The commands beside `run`.
@Timeout(90)
class MainTest {
  @TempDir Path dir;

  @Test
  void envPrintsAssignments() throws Exception {
    var child = Child.main(dir, "env");
    assertEquals(0, child.status(), child.err());
    assertTrue(child.out().contains("JAVA_HOME='" + System.getProperty("java.home") + "'\n"));
    assertTrue(child.out().lines().allMatch(line -> line.matches("[A-Z_]+='.*'")), child.out());
  }

  @Test
  void envPrintsTheBareValuesOfNames() throws Exception {
    var child = Child.main(dir, "env", "JAVA_VERSION", "NO_SUCH_NAME", "NUMCPU");
    int cpus = Runtime.getRuntime().availableProcessors();
    assertEquals(
        new Child(0, System.getProperty("java.version") + "\n\n" + cpus + "\n", ""), child);
  }

  @Test
  void versionNamesGloomAndTheJdk() throws Exception {
    var child = Child.main(dir, "version");
    assertEquals(0, child.status(), child.err());
    assertTrue(child.out().startsWith("gloom version "), child.out());
    assertTrue(child.out().contains("JDK " + Runtime.version()), child.out());
  }

  @Test
  void anUnknownCommandIsMisuse() throws Exception {
    var child = Child.main(dir, "fly");
    assertEquals(2, child.status());
    assertTrue(child.err().contains("fly"), child.err());
  }
}
