package dev.gloom.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.cli.Run;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Every example prints what its last comment says, as Go's do.
class ExamplesTest {
  private static final String MARK = "// Output:";

  @TempDir Path dir;

  static List<Path> examples() throws Exception {
    try (Stream<Path> files = Files.list(Path.of(""))) {
      return files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("examples")
  @Timeout(90)
  void printsItsOutputBlock(Path example) throws Exception {
    String expected = outputBlock(example);
    Path out = dir.resolve("out");
    Path err = dir.resolve("err");
    Process java =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-opens",
                "java.base/java.lang=ALL-UNNAMED",
                "-ea",
                "-cp",
                jarOf(Gloom.class) + File.pathSeparator + jarOf(Run.class),
                Run.class.getName(),
                example.toString())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    try {
      assertTrue(java.waitFor(60, TimeUnit.SECONDS), () -> example + " does not end");
    } finally {
      java.destroyForcibly();
    }
    assertEquals("", Files.readString(err));
    assertEquals(expected, Files.readString(out));
    assertEquals(0, java.exitValue());
  }

  @Test
  void theReadmeShowsTheFirstExample() throws Exception {
    String example = Files.readString(Path.of("Hello.java"));
    String code = example.substring(0, example.indexOf(MARK)).strip();
    String readme = Files.readString(Path.of("..", "README.md"));
    assertTrue(
        readme.contains("```java\n" + code + "\n```"),
        "README.md and examples/Hello.java differ: copy the example into the README");
  }

  private static String outputBlock(Path example) throws Exception {
    List<String> lines = Files.readAllLines(example);
    int mark = lines.lastIndexOf(MARK);
    assertTrue(mark >= 0, () -> example + " has no block " + MARK);
    var block = new StringBuilder();
    for (String line : lines.subList(mark + 1, lines.size())) {
      assertTrue(line.startsWith("//"), () -> example + ": code after its output: " + line);
      block.append(line.replaceFirst("^// ?", "")).append(System.lineSeparator());
    }
    return block.toString();
  }

  private static String jarOf(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }
}
