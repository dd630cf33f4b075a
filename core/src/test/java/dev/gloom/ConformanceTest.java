package dev.gloom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// docs/CONFORMANCE.md says of every behaviour what holds it, and names no test that is not there.
class ConformanceTest {
  private static final Pattern ROW = Pattern.compile("^\\| (\\d+) \\| [^|]+ \\| ([^|]+) \\|$");
  private static final Pattern NAMED =
      Pattern.compile("(stress )?`(\\w+Test|\\w+Stress)(\\.(\\w+))?`");
  private static final List<String> PACKAGES =
      List.of("api", "contract", "dropin", "java", "net", "runtime", "soak");

  @Test
  void hasARowForEachOfThe140Behaviours() throws Exception {
    List<Integer> numbers = rows().map(row -> Integer.parseInt(row.group(1))).toList();
    assertEquals(IntStream.rangeClosed(1, 140).boxed().toList(), numbers);
  }

  @Test
  void saysOfEachWhatHoldsIt() throws Exception {
    rows()
        .map(row -> row.group(2))
        .forEach(
            held ->
                assertTrue(
                    held.equals("later") || held.startsWith("n/a: ") || NAMED.matcher(held).find(),
                    held));
  }

  @Test
  void namesOnlyTestsThatExist() throws Exception {
    Matcher named = NAMED.matcher(Files.readString(page()));
    int seen = 0;
    while (named.find()) {
      if (named.group(1) == null) {
        seen++;
        Class<?> type = type(named.group(2));
        String method = named.group(4);
        assertTrue(
            method == null
                || Arrays.stream(type.getDeclaredMethods())
                    .anyMatch(m -> m.getName().equals(method)),
            named.group());
      } else {
        Path source =
            Path.of("../stress/src/main/java/dev/gloom/runtime/" + named.group(2) + ".java");
        assertTrue(Files.exists(source), named.group());
      }
    }
    assertTrue(seen > 20, "only " + seen + " tests are named");
  }

  private static Class<?> type(String name) throws ClassNotFoundException {
    for (String place : PACKAGES) {
      try {
        return Class.forName("dev.gloom." + place + "." + name);
      } catch (ClassNotFoundException _) {
        // perhaps in the next
      }
    }
    throw new ClassNotFoundException(name);
  }

  private static java.util.stream.Stream<Matcher> rows() throws Exception {
    return Files.readAllLines(page()).stream().map(ROW::matcher).filter(Matcher::matches);
  }

  private static Path page() {
    return Path.of("../docs/CONFORMANCE.md");
  }
}
