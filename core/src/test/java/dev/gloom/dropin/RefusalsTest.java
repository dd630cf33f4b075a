package dev.gloom.dropin;

import static dev.gloom.dropin.AgentJvm.agent;
import static dev.gloom.dropin.AgentJvm.isOnGloom;
import static dev.gloom.dropin.AgentJvm.isOnJdk;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.ChildJvm;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.FieldModel;
import java.lang.classfile.instruction.FieldInstruction;
import java.net.URI;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What the agent does not support: one sentence, and the program runs.
@Timeout(300)
class RefusalsTest {
  // A second one.

  @Test
  void aSecondOneDoesNothing() throws Exception {
    var child = AgentJvm.run(List.of(agent(""), agent("")), WhereProgram.class);
    assertEquals("gloom\n", child.succeeded().out());
    assertEquals(
        "gloom: the agent is there already (mode=on); the second one does nothing\n", child.err());
  }

  @Test
  void norDoesACopyOfTheJar(@TempDir Path directory) throws Exception {
    Path copy = Files.copy(AgentJvm.jar(), directory.resolve("copy-of-gloom.jar"));
    var child =
        AgentJvm.run(List.of(agent("mode=observe"), "-javaagent:" + copy), WhereProgram.class);
    isOnJdk(
        "gloom: the agent is there already (mode=observe); the second one does nothing\n", child);
  }

  @Test
  void aSecondOneIsTheFirstIfTheOtherIsOff() throws Exception {
    isOnGloom(AgentJvm.run(List.of(agent("mode=off"), agent("")), WhereProgram.class));
  }

  // An older Java.

  @Test
  void anOlderJavaGoesOnWithout(@TempDir Path directory) throws Exception {
    Path launcher = olderJava();
    Path program = directory.resolve("Old.java");
    Files.writeString(
        program,
        """
        class Old {
          public static void main(String[] args) {
            System.out.println("runs");
          }
        }
        """);
    String[] compile = {"--release", "8", "-d", directory.toString(), program.toString()};
    assertEquals(
        0,
        java.util.spi.ToolProvider.findFirst("javac")
            .orElseThrow()
            .run(
                System.out,
                new java.io.PrintStream(java.io.OutputStream.nullOutputStream()),
                compile));
    var child =
        ChildJvm.run(
            60, List.of(launcher.toString(), agent(""), "-cp", directory.toString(), "Old"));
    assertEquals("runs\n", child.succeeded().out());
    assertTrue(
        child.err().matches("gloom: this is Java \\d+, gloom needs 25: going on without gloom\n"),
        child.err());
  }

  /// Any Java below 25 in the usual folder.
  private static Path olderJava() throws IOException {
    Path folder = Path.of("/usr/lib/jvm");
    if (Files.isDirectory(folder)) {
      try (DirectoryStream<Path> homes = Files.newDirectoryStream(folder)) {
        for (Path home : homes) {
          Path release = home.resolve("release");
          Path java = home.resolve("bin/java");
          if (Files.isReadable(release)
              && Files.isExecutable(java)
              && Files.readString(release)
                  .matches("(?s).*JAVA_VERSION=\"(1\\.8|8|9|1\\d|2[0-4])\\b.*")) {
            return java;
          }
        }
      }
    }
    System.out.println("NOT RUN: no Java below 25 in /usr/lib/jvm to refuse");
    return Assumptions.abort("no older Java");
  }

  // A JDK whose internals have moved: the scheduler's field has another name.

  @Test
  void movedInternalsAreSaidAndTheProgramRuns(@TempDir Path directory) throws Exception {
    var child =
        AgentJvm.run(List.of(agent(""), movedField(directory)), WhereProgram.class).succeeded();
    assertEquals("jdk\n", child.out());
    assertTrue(
        child
            .err()
            .matches(
                "gloom: this JDK \\([^)]+\\) has no java\\.lang\\.VirtualThread\\.DEFAULT_SCHEDULER as gloom knows it \\(.*\\)\\. Use JDK 25, or a gloom made for this JDK\\.: going on without gloom\n"),
        child.err());
  }

  @Test
  void orTheProgramStopsIfToldTo(@TempDir Path directory) throws Exception {
    var child =
        AgentJvm.run(List.of(agent("unsupported=stop"), movedField(directory)), WhereProgram.class);
    assertEquals(1, child.status());
    assertEquals("", child.out());
    assertTrue(child.err().endsWith(" (unsupported=stop)\n"), child.err());
    assertEquals(1, child.err().lines().count());
  }

  private static String movedField(Path directory) throws Exception {
    var jrt = FileSystems.getFileSystem(URI.create("jrt:/"));
    byte[] original =
        Files.readAllBytes(jrt.getPath("/modules/java.base/java/lang/VirtualThread.class"));
    var from = "DEFAULT_SCHEDULER";
    var to = "MOVED_SCHEDULER";
    var classFile = ClassFile.of();
    CodeTransform uses =
        (code, element) -> {
          if (element instanceof FieldInstruction f && f.name().equalsString(from)) {
            code.fieldAccess(f.opcode(), f.owner().asSymbol(), to, f.typeSymbol());
          } else {
            code.with(element);
          }
        };
    ClassTransform declaration =
        (type, element) -> {
          if (element instanceof FieldModel f && f.fieldName().equalsString(from)) {
            type.withField(to, f.fieldTypeSymbol(), f.flags().flagsMask());
          } else {
            type.with(element);
          }
        };
    byte[] moved =
        classFile.transformClass(
            classFile.parse(original),
            declaration.andThen(ClassTransform.transformingMethodBodies(uses)));
    Path file = directory.resolve("java/lang/VirtualThread.class");
    Files.createDirectories(file.getParent());
    Files.write(file, moved);
    return "--patch-module=java.base=" + directory;
  }

  // Hardened starts.

  @Test
  void noNativeAccessIsNeeded() throws Exception {
    isOnGloom(
        AgentJvm.run(
            List.of(
                agent(""),
                "--illegal-native-access=deny",
                "--sun-misc-unsafe-memory-access=deny",
                "-XX:-EnableDynamicAgentLoading",
                "-XX:+DisableAttachMechanism"),
            WhereProgram.class));
  }

  /// Without java.instrument the JVM knows no agents: it says so itself and does not start. The
  /// library works in such an image as ever.
  @Test
  void anImageWithoutJavaInstrument(@TempDir Path directory) throws Exception {
    Path image = directory.resolve("image");
    assertEquals(
        0,
        java.util.spi.ToolProvider.findFirst("jlink")
            .orElseThrow()
            .run(
                System.out,
                System.err,
                "--add-modules",
                "java.base,jdk.unsupported",
                "--output",
                image.toString()));
    Path launcher = image.resolve("bin/java");
    String tests = ChildJvm.pathOf(WhereProgram.class);
    var with =
        ChildJvm.run(
            60,
            List.of(launcher.toString(), agent(""), "-cp", tests, WhereProgram.class.getName()));
    assertFalse(with.status() == 0);
    assertTrue((with.out() + with.err()).contains("java.instrument"), with.out() + with.err());
    var library =
        ChildJvm.run(
            60,
            List.of(
                launcher.toString(),
                ChildJvm.OPEN,
                "-cp",
                AgentJvm.jar() + java.io.File.pathSeparator + tests,
                LibraryProgram.class.getName()));
    assertEquals("gloom\n", library.succeeded().out());
    assertEquals("", library.err());
  }

  static final class LibraryProgram {
    public static void main(String[] args) throws Exception {
      dev.gloom.Gloom.run(() -> System.out.println(WhereProgram.here()));
    }
  }
}
