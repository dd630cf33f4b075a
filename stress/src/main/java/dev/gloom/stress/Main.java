package dev.gloom.stress;

import static java.util.stream.Collectors.joining;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;
import org.openjdk.jcstress.infra.runners.TestList;

/// Runs the jcstress tests and judges them: no test of gloom may show an outcome in capitals, and
/// every broken twin must. A twin that did not is given more time, twice; a test that could not see
/// the failure proves nothing.
///
/// `Main [sanity|quick|slow] [REGEXP]`; all that is written goes to target/jcstress.
public final class Main {
  /// For the JVM in which jcstress runs and for those that it forks: what gloom needs, and jcstress
  /// itself for its own native calls.
  private static final List<String> JVM =
      List.of(
          "--add-opens", "java.base/java.lang=ALL-UNNAMED", "--enable-native-access=ALL-UNNAMED");

  private static final int TRIES = 3;

  private enum Mode {
    /// Do they start? Twins need not fail.
    SANITY(1, 50, false),
    /// One kind of JVM, the default one.
    QUICK(5, 300, false),
    /// Every kind: interpreter, C1 and C2 for each actor, and C2 with its orders shuffled.
    SLOW(5, 400, true);

    final int iterations;
    final int millis;
    final boolean everyJvm;

    Mode(int iterations, int millis, boolean everyJvm) {
      this.iterations = iterations;
      this.millis = millis;
      this.everyJvm = everyJvm;
    }
  }

  private final Mode mode;
  private final Path dir;
  private final Map<String, Seen> tests = new TreeMap<>();

  private Main(Mode mode, Path dir) {
    this.mode = mode;
    this.dir = dir;
  }

  /// Exit status 1 if gloom fails a test or a twin passes one, 2 for a wrong command line.
  public static void main(String[] args) throws Exception {
    Mode mode = args.length == 0 ? Mode.QUICK : mode(args[0]);
    if (mode == null || args.length > 2) {
      System.err.println("usage: dev.gloom.stress.Main [sanity|quick|slow] [REGEXP]");
      System.exit(2);
    }
    Pattern filter = Pattern.compile(args.length == 2 ? args[1] : "");
    Path classes =
        Path.of(Main.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    Path dir = classes.resolveSibling("jcstress");
    System.exit(new Main(mode, dir).run(filter) ? 0 : 1);
  }

  private static Mode mode(String name) {
    return Arrays.stream(Mode.values())
        .filter(m -> m.name().equalsIgnoreCase(name))
        .findFirst()
        .orElse(null);
  }

  private boolean run(Pattern filter) throws Exception {
    for (String name : TestList.tests()) {
      if (filter.matcher(name).find()) {
        tests.put(name, new Seen(name));
      }
    }
    Collection<String> open = new TreeSet<>(tests.keySet());
    for (int i = 1, times = 1; i <= TRIES && !open.isEmpty(); i++, times *= 4) {
      jcstress(open, times);
      open.removeIf(name -> !tests.get(name).needsMoreTime());
    }
    boolean passed = !tests.isEmpty();
    for (Seen seen : tests.values()) {
      passed &= seen.passed();
      System.out.println(seen);
    }
    long twins = tests.values().stream().filter(Seen::isTwin).count();
    System.out.printf(
        "jcstress %s: %s; %d tests, %d broken twins; reports and logs in %s%n",
        mode.name().toLowerCase(), passed ? "passed" : "FAILED", tests.size() - twins, twins, dir);
    return passed;
  }

  // Running.

  /// In a JVM of its own, because jcstress writes its results into the current folder.
  private void jcstress(Collection<String> names, int times) throws Exception {
    Path folder = dir.resolve("run" + times);
    delete(folder);
    Files.createDirectories(folder);
    Process process =
        new ProcessBuilder(command(names, times))
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
    process.waitFor(); // its status says nothing more than the results
    read(folder);
  }

  private List<String> command(Collection<String> names, int times) {
    String classPath =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .map(entry -> Path.of(entry).toAbsolutePath().toString())
            .collect(joining(File.pathSeparator));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JVM);
    command.addAll(List.of("-cp", classPath, "org.openjdk.jcstress.Main"));
    command.addAll(List.of("-t", names.stream().map(n -> "^" + Pattern.quote(n) + "$").collect(joining("|"))));
    command.addAll(List.of("-iters", "" + mode.iterations, "-time", "" + mode.millis * times));
    command.addAll(List.of("-f", "1", "-fsm", "1", "-c", "2", "-r", "."));
    String jvm = String.join(" ", JVM);
    command.addAll(
        mode.everyJvm
            ? List.of("-jvmArgsPrepend", jvm)
            : List.of("-sc", "false", "-jvmArgs", jvm));
    return command;
  }

  private void read(Path folder) throws IOException, ClassNotFoundException {
    var results = new InProcessCollector();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".bin.gz")).toList()) {
        var reader = new DiskReadCollector(file.toString(), results);
        reader.dump();
        reader.close();
      }
    }
    for (TestResult result : results.getTestResults()) {
      tests.get(result.getName()).add(result);
    }
  }

  private static void delete(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  // Judging.

  /// All that was seen of one test, over all JVMs.
  private final class Seen {
    private final String name;
    private final Map<String, Long> outcomes = new TreeMap<>();
    private long errors;
    private int runs;

    Seen(String name) {
      this.name = name;
    }

    void add(TestResult result) {
      runs++;
      if (result.status() != Status.NORMAL) {
        errors++;
      }
      for (String outcome : result.getStateKeys()) {
        outcomes.merge(outcome, result.getCount(outcome), Long::sum);
      }
    }

    boolean isTwin() {
      return name.contains("Broken");
    }

    boolean needsMoreTime() {
      return isTwin() && mode != Mode.SANITY && bad() == 0;
    }

    boolean passed() {
      return runs > 0
          && errors == 0
          && (isTwin() ? mode == Mode.SANITY || bad() > 0 : bad() == 0);
    }

    private long bad() {
      return outcomes.entrySet().stream()
          .filter(e -> Character.isUpperCase(e.getKey().charAt(0)))
          .mapToLong(Map.Entry::getValue)
          .sum();
    }

    @Override
    public String toString() {
      return "%-6s %-60s %s"
          .formatted(
              passed() ? "ok" : "FAILED", name.replace("dev.gloom.runtime.", ""), explanation());
    }

    private String explanation() {
      if (runs == 0) {
        return "did not run";
      }
      String counts =
          outcomes.entrySet().stream()
              .map(e -> "%s: %,d".formatted(e.getKey(), e.getValue()))
              .collect(joining("; "));
      if (errors > 0) {
        return "%d of %d runs ended with an error; %s".formatted(errors, runs, counts);
      }
      return isTwin() && !passed() ? "was not seen to break; " + counts : counts;
    }
  }
}
