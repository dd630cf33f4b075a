package dev.gloom.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The commands of `./gloom` that build nothing: these tests run inside a build.
@Timeout(90)
class LauncherTest {
  private static final Path HOME = Path.of("..").toAbsolutePath().normalize();

  @TempDir Path dir;

  @Test
  void knowsItsHomeFromAnotherFolderAndThroughLinks() throws Exception {
    Path one = Files.createSymbolicLink(dir.resolve("one"), HOME.resolve("gloom"));
    Path two = Files.createSymbolicLink(dir.resolve("two"), one.getFileName());
    assertEquals(new Child(0, HOME + "\n", ""), gloom(HOME.resolve("gloom"), "env", "GLOOM_HOME"));
    assertEquals(new Child(0, HOME + "\n", ""), gloom(Path.of("./two"), "env", "GLOOM_HOME"));
    Files.delete(two);
    Files.delete(one);
  }

  @Test
  void prefersJavaHomeThenThePathIfTheyAreA25() throws Exception {
    Path old = jdk("old", "24.0.2");
    Path first = jdk("first", "25.0.1");
    Path second = jdk("second", "25.0.2");
    String gloom = HOME.resolve("gloom").toString();
    String path = "PATH=" + second.resolve("bin") + ":" + System.getenv("PATH");
    for (Path javaHome : List.of(old, first)) {
      String variable = "JAVA_HOME=" + javaHome;
      var child = Child.start(dir, "", List.of("env", path, variable, gloom, "env", "JAVA_HOME"));
      Path expected = javaHome == old ? second : first;
      assertEquals(new Child(0, expected + "\n", ""), child);
    }
  }

  @Test
  void helpListsTheCommands() throws Exception {
    for (String word : List.of("help", "--help", "-h")) {
      Child child = gloom(HOME.resolve("gloom"), word);
      assertEquals(0, child.status());
      assertTrue(child.out().contains("./gloom run"), child.out());
    }
  }

  @Test
  void misuseIsOneSentenceAndStatusTwo() throws Exception {
    assertEquals(
        new Child(2, "", "gloom: unknown command fly: ./gloom help lists the commands.\n"),
        gloom(HOME.resolve("gloom"), "fly"));
    assertEquals(2, gloom(HOME.resolve("gloom"), "test", "--fast").status());
    assertEquals(2, gloom(HOME.resolve("gloom"), "run", "--fast", "P.java").status());
    assertEquals(2, gloom(HOME.resolve("gloom"), "run", "-cp").status());
  }

  private Child gloom(Path script, String... args) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(script.toString());
    command.addAll(List.of(args));
    return Child.start(dir, "", command);
  }

  /// As much of a JDK as the launcher looks at.
  private Path jdk(String name, String version) throws Exception {
    Path bin = Files.createDirectories(dir.toRealPath().resolve(name).resolve("bin"));
    for (String program : List.of("java", "javac")) {
      assertTrue(Files.createFile(bin.resolve(program)).toFile().setExecutable(true));
    }
    Files.writeString(bin.resolveSibling("release"), "JAVA_VERSION=\"" + version + "\"\n");
    return bin.getParent();
  }
}
