package dev.gloom.java;

import dev.gloom.Gloom;
import dev.gloom.api.Lab;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A child JVM that a tool looks at while it runs. Its close ends it.
final class LiveJvm implements AutoCloseable {
  private final Process process;
  private final Path out;
  private final Path err;

  private LiveJvm(Process process, Path out, Path err) {
    this.process = process;
    this.out = out;
    this.err = err;
  }

  /// Starts `main` with gloom and these tests on the class path.
  static LiveJvm start(List<String> jvmArgs, Class<?> main, String... args) throws Exception {
    var command = new ArrayList<String>();
    command.add(tool("java"));
    command.addAll(jvmArgs);
    command.add("-cp");
    command.add(pathOf(Gloom.class) + File.pathSeparator + pathOf(main));
    command.add(main.getName());
    command.addAll(List.of(args));
    Path out = Files.createTempFile("gloom", ".out");
    Path err = Files.createTempFile("gloom", ".err");
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    return new LiveJvm(process, out, err);
  }

  /// A command of the JDK that runs these tests.
  static String tool(String name) {
    return Path.of(System.getProperty("java.home"), "bin", name).toString();
  }

  long pid() {
    return process.pid();
  }

  /// Waits until it has printed this line.
  void awaitLine(String line) {
    Lab.await(
        line + " from the child",
        () -> {
          if (!process.isAlive()) {
            throw new AssertionError("ended with status " + process.exitValue() + ":\n" + output());
          }
          return output().lines().anyMatch(line::equals);
        });
  }

  /// Ends its standard input, for which it waits, and answers its status.
  int end() throws Exception {
    process.getOutputStream().close();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      throw new AssertionError("does not end:\n" + output());
    }
    return process.exitValue();
  }

  /// All that it has written so far.
  String output() {
    try {
      return Files.readString(out) + Files.readString(err);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() throws IOException {
    process.destroyForcibly().onExit().join();
    Files.delete(out);
    Files.delete(err);
  }

  private static String pathOf(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }
}
