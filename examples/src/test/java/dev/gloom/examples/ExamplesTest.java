package dev.gloom.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.gloom.Gloom;
import dev.gloom.cli.Run;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Every example prints what its last comment says, as Go's do: in that order, or, where order is
/// not promised, in any. One that is to fail says before that with which status and first words.
class ExamplesTest {
  private static final String MARK = "// Output:";

  /// How the lines under a mark are compared.
  private enum Block {
    ORDERED(MARK),
    UNORDERED("// Unordered output:"),
    REPEATED("// Unordered output, each line once or more:");

    private final String mark;

    Block(String mark) {
      this.mark = mark;
    }

    /// What two outputs that count as the same have in common.
    Object essence(List<String> lines) {
      return switch (this) {
        case ORDERED -> lines;
        case UNORDERED -> lines.stream().sorted().toList();
        case REPEATED -> new TreeSet<>(lines);
      };
    }
  }

  private static final Pattern FAILS = Pattern.compile("// Ends with status (\\d+) and: (.+)");

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
    List<String> source = Files.readAllLines(example);
    Block block = block(example, source);
    List<String> expected = outputBlock(example, source, block);
    Path out = dir.resolve("out");
    Path err = dir.resolve("err");
    Process java =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-opens",
                "java.base/java.lang=ALL-UNNAMED",
                "--enable-native-access=ALL-UNNAMED",
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
    Matcher fails = FAILS.matcher(String.join("\n", source));
    if (fails.find()) {
      assertEquals(fails.group(2), Files.readString(err).lines().findFirst().orElse(""));
    } else {
      assertEquals("", Files.readString(err));
    }
    String printed = Files.readString(out);
    assertTrue(printed.endsWith(System.lineSeparator()), printed);
    assertEquals(block.essence(expected), block.essence(printed.lines().toList()));
    assertEquals(
        fails.hasMatch() ? Integer.parseInt(fails.group(1)) : 0,
        java.exitValue(),
        () -> example + " ended with another status");
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

  private static Block block(Path example, List<String> source) {
    return Arrays.stream(Block.values())
        .filter(block -> source.contains(block.mark))
        .findAny()
        .orElseGet(() -> fail(example + " has no block " + MARK));
  }

  private static List<String> outputBlock(Path example, List<String> source, Block block) {
    List<String> lines = source.subList(source.lastIndexOf(block.mark) + 1, source.size());
    assertTrue(lines.stream().allMatch(l -> l.startsWith("//")), () -> example + ": code after it");
    assertFalse(lines.isEmpty(), () -> example + ": an empty block");
    return lines.stream().map(line -> line.replaceFirst("^// ?", "")).toList();
  }

  private static String jarOf(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }
}
