package dev.gloom.dropin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Chan;
import dev.gloom.DeadlockException;
import dev.gloom.Gloom;
import dev.gloom.api.ChildJvm;
import dev.gloom.api.Lab;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Under the agent no deadlock is reported, even if it is one and the program asks for the report.
@Tag("waits")
@Timeout(120)
class NoDeadlockTest {
  /// Many times what it takes to find one.
  private static final int PATIENCE_SECONDS = 4;

  static final class StuckProgram {
    public static void main(String[] args) throws Exception {
      try {
        Gloom.run(
            () -> {
              System.out.println("waits");
              Chan.make().recv();
            });
      } catch (DeadlockException e) {
        System.out.println("reported");
      }
    }
  }

  /// Else the other test would show nothing.
  @Test
  void withoutTheAgentItIsReported() throws Exception {
    var child = ChildJvm.run(60, List.of(ChildJvm.OPEN), StuckProgram.class).succeeded();
    assertEquals("waits\nreported\n", child.out());
  }

  @Test
  void withTheAgentItIsNot() throws Exception {
    for (String property : List.of("-Dnone", "-Dgloom.deadlock=report")) {
      Path out = Files.createTempFile("gloom", ".out");
      Process process = start(out, property);
      try {
        Lab.await("it waits", () -> read(out).equals("waits\n") || !process.isAlive());
        assertFalse(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), () -> read(out));
        assertEquals("waits\n", read(out));
      } finally {
        process.destroyForcibly().onExit().join();
        Files.delete(out);
      }
    }
  }

  private static Process start(Path out, String property) throws Exception {
    var command = new ArrayList<>(List.of(AgentJvm.java(), AgentJvm.agent(""), property));
    command.addAll(List.of("-cp", ChildJvm.pathOf(StuckProgram.class)));
    command.add(StuckProgram.class.getName());
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(out.toFile())
        .start();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /// The property is what says so, to whoever looks.
  @Test
  void theSettingShowsIt() throws Exception {
    var child = AgentJvm.run(List.of(AgentJvm.agent("")), SettingProgram.class).succeeded();
    assertEquals("off\n", child.out());
    assertTrue(child.err().isEmpty(), child.err());
  }

  static final class SettingProgram {
    public static void main(String[] args) {
      System.out.println(System.getProperty("gloom.deadlock"));
    }
  }
}
