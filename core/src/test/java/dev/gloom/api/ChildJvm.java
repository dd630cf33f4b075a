package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import dev.gloom.Gloom;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// A child JVM and what became of it. It writes to files, not pipes, so that a full pipe cannot
/// hang a test.
///
/// @param status its exit status
/// @param out what it wrote to standard output
/// @param err what it wrote to standard error
public record ChildJvm(int status, String out, String err) {
  /// What opens `java.lang` to gloom on the class path.
  public static final String OPEN = "--add-opens=java.base/java.lang=ALL-UNNAMED";

  /// Runs `main` with gloom and these tests on the class path, for at most `seconds`.
  public static ChildJvm run(int seconds, List<String> jvmArgs, Class<?> main, String... args)
      throws Exception {
    return run(seconds, Map.of(), jvmArgs, main, args);
  }

  /// The same with these variables added to its environment.
  public static ChildJvm run(
      int seconds,
      Map<String, String> environment,
      List<String> jvmArgs,
      Class<?> main,
      String... args)
      throws Exception {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmArgs);
    command.add("-cp");
    command.add(pathOf(Gloom.class) + File.pathSeparator + pathOf(main));
    command.add(main.getName());
    command.addAll(List.of(args));
    return run(seconds, environment, command);
  }

  /// Runs any command, for at most `seconds`.
  public static ChildJvm run(int seconds, List<String> command) throws Exception {
    return run(seconds, Map.of(), command);
  }

  private static ChildJvm run(int seconds, Map<String, String> environment, List<String> command)
      throws Exception {
    Path out = Files.createTempFile("gloom", ".out");
    Path err = Files.createTempFile("gloom", ".err");
    try {
      var builder = new ProcessBuilder(command);
      builder.environment().putAll(environment);
      Process process = builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
      boolean ended;
      try {
        ended = process.waitFor(seconds, TimeUnit.SECONDS);
      } finally {
        process.destroyForcibly();
      }
      if (!ended) {
        fail(
            "does not end within %d s: %s%n%s%n%s"
                .formatted(seconds, command, Files.readString(out), Files.readString(err)));
      }
      return new ChildJvm(process.exitValue(), Files.readString(out), Files.readString(err));
    } finally {
      Files.delete(out);
      Files.delete(err);
    }
  }

  /// Checks that it ended with status 0; the message has all it wrote.
  public ChildJvm succeeded() {
    assertEquals(0, status, () -> "status " + status + "\n" + out + "\n" + err);
    return this;
  }

  /// The value of a line `name=value` that it printed.
  public long figure(String name) {
    for (String line : out.lines().toList()) {
      if (line.startsWith(name + "=")) {
        return Long.parseLong(line.substring(name.length() + 1));
      }
    }
    return fail("no " + name + "= in\n" + out + "\n" + err);
  }

  /// The folder or jar that a class comes from.
  public static String pathOf(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }
}
