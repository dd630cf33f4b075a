package dev.gloom.stress;

import static java.util.stream.Collectors.joining;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;
import org.openjdk.jcstress.infra.runners.TestList;

/// Runs the jcstress tests and judges them: no test of gloom may show an outcome in capitals, and
/// every broken twin must, since a test that cannot see the failure proves nothing. Most twins
/// break at once and have less time; one that did not is given more, twice; so is a test whose JVM
/// did not get through, which happens to jcstress on a machine that is short of cores.
///
/// `Main [sanity|quick|slow] [REGEXP]`. All that it writes goes to target/jcstress.
public final class Main {
  /// For the JVM in which jcstress runs, which hands them on to those that it forks: what gloom
  /// needs, and jcstress for its native calls.
  private static final List<String> JVM =
      List.of("--add-opens=java.base/java.lang=ALL-UNNAMED", "--enable-native-access=ALL-UNNAMED");

  /// Of a twin, at the first try.
  private static final int TWIN_ITERATIONS = 2;

  private static final int TRIES = 3;
  private static final int MORE_TIME = 4;

  private enum Mode {
    /// Do they start? Twins need not break.
    SANITY(1, 50, false),
    /// In one kind of JVM, the default one.
    QUICK(5, 300, false),
    /// In every kind: interpreter, C1 and C2 for each actor, and C2 with its choices shuffled.
    SLOW(5, 200, true);

    final int iterations;
    final int millis;
    final boolean everyJvm;

    Mode(int iterations, int millis, boolean everyJvm) {
      this.iterations = iterations;
      this.millis = millis;
      this.everyJvm = everyJvm;
    }

    static Optional<Mode> of(String name) {
      return Arrays.stream(values()).filter(m -> m.toString().equals(name)).findFirst();
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Mode mode;
  private final Path dir;
  private final Map<String, Seen> tests = new TreeMap<>();

  private Main(Mode mode, Path dir) {
    this.mode = mode;
    this.dir = dir;
  }

  /// Exit status 1 if gloom fails a test or a twin does not, 2 for a wrong command line.
  public static void main(String[] args) throws Exception {
    Optional<Mode> mode = Mode.of(args.length == 0 ? "quick" : args[0]);
    if (mode.isEmpty() || args.length > 2) {
      System.err.println("usage: dev.gloom.stress.Main [sanity|quick|slow] [REGEXP]");
      System.exit(2);
    }
    Pattern filter = Pattern.compile(args.length == 2 ? args[1] : "");
    Path classes = Path.of(Main.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    Path dir = classes.resolveSibling("jcstress");
    System.exit(new Main(mode.get(), dir).run(filter) ? 0 : 1);
  }

  private boolean run(Pattern filter) throws Exception {
    for (String name : TestList.tests()) {
      if (filter.matcher(name).find()) {
        tests.put(name, new Seen(name));
      }
    }
    delete(dir);
    Collection<String> open = new TreeSet<>(tests.keySet());
    int factor = 1;
    for (int i = 1; i <= TRIES && !open.isEmpty(); i++) {
      open.forEach(name -> tests.get(name).brokenOff = 0);
      int first = i == 1 ? Math.min(TWIN_ITERATIONS, mode.iterations) : mode.iterations;
      jcstress(open(open, false), mode.iterations, factor, dir.resolve("run" + i));
      jcstress(open(open, true), first, factor, dir.resolve("twins" + i));
      open.removeIf(name -> !tests.get(name).again());
      factor *= MORE_TIME;
    }
    return report();
  }

  private List<String> open(Collection<String> names, boolean twins) {
    return names.stream().filter(name -> tests.get(name).isTwin() == twins).toList();
  }

  private boolean report() {
    boolean passed = !tests.isEmpty();
    for (Seen seen : tests.values()) {
      passed &= seen.passed();
      System.out.println(seen);
    }
    long twins = tests.values().stream().filter(Seen::isTwin).count();
    System.out.printf(
        "jcstress %s: %s; %d tests, %d broken twins; logs and reports in %s%n",
        mode, passed ? "passed" : "FAILED", tests.size() - twins, twins, dir);
    return passed;
  }

  // Running.

  /// In a JVM of its own, because jcstress writes its results into the current folder.
  private void jcstress(Collection<String> names, int iterations, int factor, Path folder)
      throws Exception {
    if (names.isEmpty()) {
      return;
    }
    Files.createDirectories(folder);
    Process process =
        new ProcessBuilder(command(names, iterations, factor))
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
    process.waitFor(); // its status says nothing that its results do not say
    read(folder);
  }

  private List<String> command(Collection<String> names, int iterations, int factor) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JVM);
    command.addAll(List.of("-cp", classPath(), "org.openjdk.jcstress.Main"));
    command.addAll(List.of("-t", names.stream().map(Main::exactly).collect(joining("|"))));
    command.addAll(List.of("-iters", "" + iterations, "-time", "" + mode.millis * factor));
    command.addAll(List.of("-f", "1", "-fsm", "1", "-c", "2", "-r", "."));
    if (!mode.everyJvm) {
      command.addAll(List.of("-sc", "false", "-jvmArgs", String.join(" ", JVM)));
    }
    return command;
  }

  private static String classPath() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .map(entry -> Path.of(entry).toAbsolutePath().toString())
        .collect(joining(File.pathSeparator));
  }

  private static String exactly(String name) {
    return "^" + Pattern.quote(name) + "$";
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
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
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
    private int runs;
    private int errors; // of the test itself
    private int brokenOff; // in the last try, by the JVM or jcstress

    Seen(String name) {
      this.name = name;
    }

    void add(TestResult result) {
      runs++;
      switch (result.status()) {
        case NORMAL -> {}
        case VM_ERROR, TIMEOUT_ERROR -> brokenOff++;
        default -> errors++;
      }
      for (String outcome : result.getStateKeys()) {
        outcomes.merge(outcome, result.getCount(outcome), Long::sum);
      }
    }

    boolean isTwin() {
      return name.contains("Broken");
    }

    boolean again() {
      return runs == 0 || brokenOff > 0 || isTwin() && !judgedWell();
    }

    boolean passed() {
      return runs > 0 && errors == 0 && brokenOff == 0 && judgedWell();
    }

    private boolean judgedWell() {
      return isTwin() ? bad() > 0 || mode == Mode.SANITY : bad() == 0;
    }

    private long bad() {
      return outcomes.entrySet().stream()
          .filter(e -> Character.isUpperCase(e.getKey().charAt(0)))
          .mapToLong(Map.Entry::getValue)
          .sum();
    }

    @Override
    public String toString() {
      String shortName = name.substring("dev.gloom.runtime.".length());
      return "%-6s %-48s %s".formatted(passed() ? "ok" : "FAILED", shortName, explanation());
    }

    private String explanation() {
      if (runs == 0) {
        return "did not run";
      }
      String counts =
          outcomes.entrySet().stream()
              .map(e -> "%s: %,d".formatted(e.getKey(), e.getValue()))
              .collect(joining("; "));
      if (errors + brokenOff > 0) {
        return "%d of %d runs ended with an error; %s".formatted(errors + brokenOff, runs, counts);
      }
      return isTwin() && !passed() ? "was not seen to break; " + counts : counts;
    }
  }
}
