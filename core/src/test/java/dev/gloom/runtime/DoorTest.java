package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.jdk.Probe;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.FieldModel;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What a user sees whose JVM does not let gloom in: one message with the line to paste, and that
/// line works. Each in a JVM of its own.
@Timeout(60)
class DoorTest {
  private static final Path MAIN = placeOf(Gloom.class);
  private static final Path TEST = placeOf(DoorTest.class);

  private static final String CLOSED =
      """
      gloom: package java.lang is not open to gloom, so it cannot schedule virtual threads. Add to the java command:
          --add-opens java.base/java.lang=%s
      or, for java -jar, to the jar's manifest: Add-Opens: java.base/java.lang""";

  /// The program of a newcomer.
  static final class Hello {
    public static void main(String[] args) throws Exception {
      Gloom.run(() -> System.out.println("hello"));
    }
  }

  @Test
  void programOnTheClassPathIsToldTheLineToPaste() throws Exception {
    Child child = java("-cp", MAIN + File.pathSeparator + TEST, Hello.class.getName());
    assertNotEquals(0, child.status);
    assertTrue(
        child.err.contains(
            IllegalStateException.class.getName() + ": " + CLOSED.formatted("ALL-UNNAMED")),
        child.err);
    assertEquals("", child.out);
  }

  @Test
  void lineForTheClassPathWorks() throws Exception {
    Child child =
        java(
            "--add-opens",
            "java.base/java.lang=ALL-UNNAMED",
            "-cp",
            MAIN + File.pathSeparator + TEST,
            Hello.class.getName());
    assertEquals(new Child(0, "hello", ""), child);
  }

  @Test
  void probeSaysWhyNotWithStatus1() throws Exception {
    Child child = java("-cp", MAIN.toString(), Probe.class.getName());
    assertEquals(new Child(1, "", CLOSED.formatted("ALL-UNNAMED")), child);
  }

  @Test
  void probeIsSilentWithStatus0() throws Exception {
    Child child =
        java(
            "--add-opens",
            "java.base/java.lang=ALL-UNNAMED",
            "-cp",
            MAIN.toString(),
            Probe.class.getName());
    assertEquals(new Child(0, "", ""), child);
  }

  // On the module path ALL-UNNAMED does not open anything to gloom: the line is another one.
  @Test
  void probeOnTheModulePathNamesTheModule() throws Exception {
    Child child = java("-p", MAIN.toString(), "-m", "dev.gloom/" + Probe.class.getName());
    assertEquals(new Child(1, "", CLOSED.formatted("dev.gloom")), child);
  }

  @Test
  void lineForTheModulePathWorks() throws Exception {
    Child child =
        java(
            "--add-opens",
            "java.base/java.lang=dev.gloom",
            "-p",
            MAIN.toString(),
            "-m",
            "dev.gloom/" + Probe.class.getName());
    assertEquals(new Child(0, "", ""), child);
  }

  // A JDK whose internals have moved: this one, without one of the constants that gloom reads.
  @Test
  void missingInternalIsNamed(@TempDir Path directory) throws Exception {
    String missing = "TIMED_PINNED";
    Path patched = directory.resolve("java/lang/VirtualThread.class");
    Files.createDirectories(patched.getParent());
    Files.write(patched, virtualThreadWithout(missing));
    Child child =
        java(
            "--patch-module",
            "java.base=" + directory,
            "--add-opens",
            "java.base/java.lang=ALL-UNNAMED",
            "-cp",
            MAIN.toString(),
            Probe.class.getName());
    assertEquals(1, child.status, child.err);
    assertEquals(
        "gloom: this JDK (%s) has no java.lang.VirtualThread.%s as gloom knows it (%s: %s). Use JDK 25, or a gloom made for this JDK."
            .formatted(Runtime.version(), missing, NoSuchFieldException.class.getName(), missing),
        child.err);
  }

  private static byte[] virtualThreadWithout(String field) throws IOException {
    var image = FileSystems.getFileSystem(URI.create("jrt:/"));
    var file = ClassFile.of();
    var model =
        file.parse(
            Files.readAllBytes(image.getPath("modules/java.base/java/lang/VirtualThread.class")));
    return file.transformClass(
        model,
        ClassTransform.dropping(
            e -> e instanceof FieldModel f && f.fieldName().equalsString(field)));
  }

  /// How a JVM ended and what it printed, without the last line end.
  private record Child(int status, String out, String err) {}

  private static Child java(String... arguments) throws Exception {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(arguments));
    var builder = new ProcessBuilder(command);
    builder.environment().remove("JDK_JAVA_OPTIONS");
    builder.environment().remove("JAVA_TOOL_OPTIONS");
    Process process = builder.start();
    process.getOutputStream().close();
    var out = CompletableFuture.supplyAsync(() -> text(process.getInputStream()));
    var err = CompletableFuture.supplyAsync(() -> text(process.getErrorStream()));
    if (!process.waitFor(40, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError("still runs: " + command);
    }
    return new Child(process.exitValue(), out.get(), err.get());
  }

  private static String text(java.io.InputStream stream) {
    try (stream) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8).stripTrailing();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path placeOf(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
