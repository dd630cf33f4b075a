package dev.gloom.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `./gloom bench`: the same work on gloom and its peers, interleaved in one run.
///
/// Exit status: 0, 1 if a peer failed, 2 for a command line that makes no sense.
@Command(
    name = "gloom bench",
    description = "Runs the same work on gloom and its peers, interleaved in one run.",
    mixinStandardHelpOptions = true,
    sortOptions = false)
final class Bench implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before call()
  private CommandSpec spec;

  @Parameters(
      paramLabel = "CASE",
      arity = "0..*",
      description = "what to run: a case with all its variants, or CASE/VARIANT; see --list")
  private List<String> caseNames = new ArrayList<>();

  @Option(
      names = "--peers",
      paramLabel = "PEER",
      split = ",",
      description = "whom to compare, see --list (default: gloom,jdk,go)")
  private List<String> peerNames = new ArrayList<>();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "11",
      description = "measured rounds a peer (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "write the results there too, after each case")
  private @Nullable Path json;

  @Option(names = "--list", description = "list cases and peers, run nothing")
  private boolean list;

  @Option(
      names = "--heap",
      paramLabel = "SIZE",
      defaultValue = "2g",
      description = "heap of every JVM (default: ${DEFAULT-VALUE})")
  private String heap = "";

  @Option(
      names = "--jvm",
      paramLabel = "FLAG",
      description = "a further flag for every JVM alike; can be repeated")
  private List<String> jvmArgs = new ArrayList<>();

  // For tests of the harness.

  @Option(names = "--scale", hidden = true, defaultValue = "1")
  private double scale;

  @Option(names = "--warmup", hidden = true, defaultValue = "3")
  private double warmupSeconds;

  @Option(names = "--timeout", hidden = true, defaultValue = "120")
  private double timeoutSeconds;

  private final PrintStream out;
  private final PrintStream messages;

  Bench(PrintStream out, PrintStream messages) {
    this.out = out;
    this.messages = messages;
  }

  public static void main(String[] args) {
    System.exit(execute(System.out, System.err, args));
  }

  static int execute(PrintStream out, PrintStream messages, String... args) {
    return new CommandLine(new Bench(out, messages))
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(messages, true))
        .setParameterExceptionHandler(Bench::complain)
        .execute(args);
  }

  @Override
  public Integer call() throws IOException {
    if (list) {
      printList();
      return 0;
    }
    var cases = cases();
    var peers = peers();
    checkNumbers();
    checkJson();
    var settings =
        new Settings(
            rounds, scale, seconds(warmupSeconds), seconds(timeoutSeconds), heap, jvmArgs, home());
    Machine.describe(out, settings);
    return measure(cases, peers, settings);
  }

  private int measure(List<BenchCase> cases, List<String> peers, Settings settings)
      throws IOException {
    var report = new Report(out);
    var interleaved = new Interleaved(settings, messages);
    report.heading();
    for (BenchCase benchCase : cases) {
      var names = new LinkedHashSet<>(benchCase.floors());
      names.addAll(peers);
      report.add(
          interleaved.run(
              benchCase, names.stream().map(name -> Peers.named(name).orElseThrow()).toList()));
      if (json != null) {
        Json.write(json, report.outcomes());
      }
    }
    report.end();
    return report.hasFailures() ? 1 : 0;
  }

  private List<BenchCase> cases() {
    if (caseNames.isEmpty()) {
      return Cases.defaults();
    }
    // A set: `yield yield/1p` runs yield/1p once.
    Set<BenchCase> cases = new LinkedHashSet<>();
    for (String name : caseNames) {
      var found = Cases.named(name);
      if (found.isEmpty()) {
        throw wrong("unknown case: " + name + "; there are " + String.join(", ", Cases.names()));
      }
      cases.addAll(found);
    }
    return List.copyOf(cases);
  }

  private List<String> peers() {
    for (String name : peerNames) {
      if (Peers.named(name).isEmpty()) {
        throw wrong("unknown peer: " + name + "; there are " + String.join(", ", Peers.names()));
      }
    }
    return peerNames.isEmpty() ? Peers.DEFAULTS : List.copyOf(new LinkedHashSet<>(peerNames));
  }

  private void checkNumbers() {
    if (rounds < 1) {
      throw wrong("--rounds must be at least 1: " + rounds);
    }
    if (!(scale > 0 && scale <= 1)) {
      throw wrong("--scale must be above 0 and at most 1: " + scale);
    }
    if (!(warmupSeconds >= 0) || !(timeoutSeconds > 0)) {
      throw wrong("--warmup must not be below 0, --timeout must be above it");
    }
    if (!heap.matches("[1-9][0-9]*[kKmMgG]")) {
      throw wrong("--heap must be a size like 2g or 512m: " + heap);
    }
  }

  /// Before the run, not after it: a wrong path should not cost the minutes that a run takes.
  private void checkJson() {
    if (json == null) {
      return;
    }
    Path folder = json.toAbsolutePath().getParent();
    if (Files.isDirectory(json) || folder == null || !Files.isWritable(folder)) {
      throw wrong("--json: cannot write there: " + json);
    }
  }

  private void printList() {
    out.println("Cases (a bare name runs all its variants; without a name all but `switch` run)");
    for (BenchCase benchCase : Cases.ALL) {
      out.printf("  %-16s %s%n", benchCase.fullName(), benchCase.about());
    }
    out.println();
    out.println("Peers");
    for (Peer peer : Peers.ALL) {
      out.printf("  %-16s %s%n", peer.name(), peer.about());
    }
  }

  /// The module's folder: two above its classes or its jar, in `target/`.
  private static Path home() {
    try {
      var location = Bench.class.getProtectionDomain().getCodeSource().getLocation();
      Path target = Path.of(location.toURI()).toAbsolutePath().getParent();
      Path home = target == null ? null : target.getParent();
      if (home == null) {
        throw new IllegalStateException("no folder above " + location);
      }
      return home;
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Duration seconds(double seconds) {
    return Duration.ofMillis(Math.round(seconds * 1_000));
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  /// One line and not the whole usage text, which would push the message off the screen.
  private static int complain(ParameterException e, String[] args) {
    var err = e.getCommandLine().getErr();
    err.println("gloom bench: " + e.getMessage());
    err.println("Try `./gloom bench --help` or `./gloom bench --list`.");
    return CommandLine.ExitCode.USAGE;
  }
}
