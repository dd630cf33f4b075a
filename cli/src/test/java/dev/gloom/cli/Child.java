package dev.gloom.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;

/// A child process and what became of it. Files, not pipes, so that a full pipe cannot hang a test.
///
/// @param out what it wrote to standard output
/// @param err what it wrote to standard error
record Child(int status, String out, String err) {

  /// `gloom run` as the launcher starts it: the program's class path is the JVM's.
  static Child run(Path dir, String classPath, String... args) throws Exception {
    return java(dir, classPath, Run.class, "", args);
  }

  /// The command of class [Main], whose options picocli reads.
  static Child main(Path dir, String... args) throws Exception {
    return java(dir, pathOf(CommandLine.class), Main.class, "", args);
  }

  static Child java(Path dir, String classPath, Class<?> main, String input, String... args)
      throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:TieredStopAtLevel=1"); // Starts faster; these programs are short.
    command.addAll(List.of("--add-opens", "java.base/java.lang=ALL-UNNAMED", "-ea", "-cp"));
    command.add(String.join(File.pathSeparator, pathOf(Gloom.class), pathOf(Run.class), classPath));
    command.add(main.getName());
    command.addAll(List.of(args));
    return start(dir, input, command);
  }

  static Child start(Path dir, String input, List<String> command) throws Exception {
    Path in = Files.createTempFile("gloom", ".in");
    Path out = Files.createTempFile("gloom", ".out");
    Path err = Files.createTempFile("gloom", ".err");
    try {
      Files.writeString(in, input);
      Process process =
          new ProcessBuilder(command)
              .directory(dir.toFile())
              .redirectInput(in.toFile())
              .redirectOutput(out.toFile())
              .redirectError(err.toFile())
              .start();
      try {
        assertTrue(process.waitFor(60, TimeUnit.SECONDS), () -> "does not end: " + command);
      } finally {
        process.destroyForcibly();
      }
      return new Child(process.exitValue(), Files.readString(out), Files.readString(err));
    } finally {
      Files.delete(in);
      Files.delete(out);
      Files.delete(err);
    }
  }

  private static String pathOf(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }
}
