package dev.gloom.dropin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gloom.Gloom;
import dev.gloom.api.ChildJvm;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Child JVMs with the agent, as users start them: the jar, and programs that know nothing of it.
final class AgentJvm {
  static final int SECONDS = 120;

  private AgentJvm() {}

  /// The gloom jar, which Maven makes before the tests.
  static Path jar() throws Exception {
    Path place = Path.of(ChildJvm.pathOf(Gloom.class));
    return place.toString().endsWith(".jar") ? place : place.resolveSibling("gloom.jar");
  }

  /// The JVM option that switches the agent on.
  static String agent(String options) throws Exception {
    return "-javaagent:" + jar() + (options.isEmpty() ? "" : "=" + options);
  }

  static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  /// Runs `main`, with the tests alone on the class path.
  static ChildJvm run(List<String> jvmArgs, Class<?> main, String... args) throws Exception {
    return run(ChildJvm.pathOf(main), jvmArgs, main, args);
  }

  static ChildJvm run(String classPath, List<String> jvmArgs, Class<?> main, String... args)
      throws Exception {
    var command = new ArrayList<String>();
    command.add(java());
    command.addAll(jvmArgs);
    command.add("-cp");
    command.add(classPath);
    command.add(main.getName());
    command.addAll(List.of(args));
    return ChildJvm.run(SECONDS, command);
  }

  /// Runs {@link WhereProgram} with these options of the agent.
  static ChildJvm where(String options) throws Exception {
    return run(List.of(agent(options)), WhereProgram.class);
  }

  /// Checks that a program's virtual threads ran on gloom, and that nothing was printed but that.
  static void isOnGloom(ChildJvm child) {
    assertEquals("gloom\n", child.succeeded().out());
    assertEquals("", child.err());
  }

  /// Checks that they ran on the JDK's scheduler, and that standard error has exactly this.
  static void isOnJdk(String err, ChildJvm child) {
    assertEquals("jdk\n", child.succeeded().out());
    assertEquals(err, child.err());
  }
}
