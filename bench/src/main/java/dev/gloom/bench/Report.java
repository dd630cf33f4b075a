package dev.gloom.bench;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/// The tables a reader sees: rows as each case ends, then what they mean.
final class Report {
  private static final String ROW = "%-16s %-13s %9s  %-19s %-14s %-14s%n";

  /// Above this an idle child is named: its work may have slowed down whoever was measured.
  private static final double LOUD_IDLE_CPU = 0.02;

  private final PrintStream out;
  private final List<Outcome> all = new ArrayList<>();

  Report(PrintStream out) {
    this.out = out;
  }

  List<Outcome> outcomes() {
    return all;
  }

  void heading() {
    row("case", "peer", "ns/op", "min .. max", "x jdk (paired)", "x go (paired)");
  }

  /// The rows of one case.
  void add(List<Outcome> outcomes) {
    all.addAll(outcomes);
    String caseName = outcomes.getFirst().caseName();
    for (Outcome outcome : outcomes) {
      switch (outcome) {
        case Outcome.Measured measured ->
            row(
                caseName,
                measured.peer(),
                ns(measured.median()),
                ns(Samples.min(measured.rounds())) + " .. " + ns(Samples.max(measured.rounds())),
                against(measured, Peers.JDK, outcomes),
                against(measured, Peers.GO, outcomes));
        case Outcome.Absent absent ->
            row(caseName, absent.peer(), absent.word(), absent.why(), "", "");
        case Outcome.Failed failed -> row(caseName, failed.peer(), "failed", "see below", "", "");
      }
    }
  }

  /// Everything that needs all cases.
  void end() {
    ladder("yield", "a switch", 1);
    ladder("park", "a round trip, two switches", 2);
    verdicts();
    servers();
    counters();
    notes();
    failures();
  }

  boolean hasFailures() {
    return all.stream().anyMatch(Outcome.Failed.class::isInstance);
  }

  private static String against(Outcome.Measured measured, String peer, List<Outcome> outcomes) {
    return find(outcomes, measured.caseName(), peer)
        .map(
            other ->
                format(
                    "%.2f (%.2f)",
                    measured.median() / other.median(),
                    Samples.pairedRatio(measured.rounds(), other.rounds())))
        .orElse("-");
  }

  /// What each step adds to the one below it, from the bare continuation up.
  private void ladder(String variant, String unit, int switches) {
    String caseName = Cases.SWITCH + "/" + variant;
    var executor = find(all, caseName, Peers.EXECUTOR);
    var continuation = find(all, Cases.SWITCH + "/yield", Peers.CONTINUATION);
    if (executor.isEmpty() || continuation.isEmpty()) {
      return;
    }
    double floor = continuation.get().median() * switches;
    double thread = executor.get().median();
    out.printf("%nSteps of %s, one carrier, ns %s%n", caseName, unit);
    String bare =
        switches == 1 ? "bare continuation, yield + run" : "two bare continuation switches";
    out.print(format("  %-38s %8s%n", bare, ns(floor)));
    step("virtual thread on a trivial executor", thread, thread - floor, "above the continuation");
    for (String peer : List.of(Peers.GLOOM, Peers.JDK)) {
      find(all, caseName, peer)
          .ifPresent(
              measured ->
                  step(
                      peer.equals(Peers.GLOOM) ? "goroutine on gloom, 1 P" : "JDK, 1 carrier",
                      measured.median(),
                      measured.median() - thread,
                      "above the trivial executor"));
    }
  }

  private void step(String what, double nanos, double added, String above) {
    out.print(format("  %-38s %8s  %+8.1f %s%n", what, ns(nanos), added, above));
  }

  private void verdicts() {
    var lines = new ArrayList<String>();
    for (Outcome outcome : all) {
      if (outcome instanceof Outcome.Measured gloom && gloom.peer().equals(Peers.GLOOM)) {
        var phrases = new ArrayList<String>();
        for (String peer : List.of(Peers.JDK, Peers.GO)) {
          find(all, gloom.caseName(), peer).ifPresent(other -> phrases.add(verdict(gloom, other)));
        }
        if (!phrases.isEmpty()) {
          lines.add(format("  %-16s %s", gloom.caseName(), String.join("; ", phrases)));
        }
      }
    }
    if (!lines.isEmpty()) {
      out.printf("%ngloom by its peers (medians; rounds in which gloom was faster)%n");
      lines.forEach(out::println);
    }
  }

  private static String verdict(Outcome.Measured gloom, Outcome.Measured other) {
    double ratio = gloom.median() / other.median();
    return format(
        "%.2fx %s than %s (%d of %d)",
        ratio <= 1 ? 1 / ratio : ratio,
        ratio <= 1 ? "faster" : "slower",
        other.peer(),
        Samples.wins(gloom.rounds(), other.rounds()),
        gloom.rounds().length);
  }

  /// What a request costs the server, and how long the slowest hundredth takes.
  private void servers() {
    var lines = new ArrayList<String>();
    for (Outcome outcome : all) {
      if (outcome instanceof Outcome.Measured measured
          && measured.counters().containsKey("serverCpu")) {
        double cpu = figure(measured, "serverCpu");
        lines.add(
            format(
                "  %-16s %-13s %10.0f %12s %14.2f %12.0f",
                measured.caseName(),
                measured.peer(),
                cpu,
                find(all, measured.caseName(), Peers.JDK)
                    .map(jdk -> format("%.2f", cpu / figure(jdk, "serverCpu")))
                    .orElse("-"),
                1e6 / figure(measured, "clientNanos"),
                figure(measured, "p99") / 1e3));
      }
    }
    if (!lines.isEmpty()) {
      out.printf("%nServers, on one core%n");
      out.printf(
          "  %-16s %-13s %10s %12s %14s %12s%n",
          "case", "peer", "CPU ns/req", "x jdk", "thousand req/s", "p99 us");
      lines.forEach(out::println);
    }
  }

  private static double figure(Outcome.Measured measured, String name) {
    return measured.counters().getOrDefault(name, Double.NaN);
  }

  private void counters() {
    var lines = new ArrayList<String>();
    for (Outcome outcome : all) {
      if (outcome instanceof Outcome.Measured measured
          && measured.counters().containsKey("dispatches")) {
        var counters = measured.counters();
        double dispatches = counters.getOrDefault("dispatches", 0.0);
        double sameM = counters.getOrDefault("sameM", 0.0);
        lines.add(
            format(
                "  %-16s %10.3f %9s %10.5f %10.5f %10.5f",
                measured.caseName(),
                dispatches,
                dispatches == 0 ? "-" : format("%.1f%%", 100 * sameM / dispatches),
                counters.getOrDefault("steals", 0.0),
                counters.getOrDefault("wakeups", 0.0),
                counters.getOrDefault("handoffs", 0.0)));
      }
    }
    if (!lines.isEmpty()) {
      out.printf("%ngloom's scheduler, an operation%n");
      out.printf(
          "  %-16s %10s %9s %10s %10s %10s%n",
          "case", "dispatches", "same M", "steals", "wake-ups", "hand-offs");
      lines.forEach(out::println);
    }
  }

  /// What makes a number doubtful.
  private void notes() {
    out.println();
    for (Outcome outcome : all) {
      if (outcome instanceof Outcome.Measured measured) {
        if (measured.idleCpu() > LOUD_IDLE_CPU) {
          note(
              measured,
              "used %.0f%% of a core while the others were measured",
              100 * measured.idleCpu());
        }
        if (measured.counters().getOrDefault("rescues", 0.0) > 0) {
          note(measured, "was rescued by its monitor: it lost a wake-up, which is a bug");
        }
      }
    }
  }

  private void note(Outcome.Measured measured, String what, Object... args) {
    out.println(
        "note: " + measured.peer() + " in " + measured.caseName() + " " + format(what, args));
  }

  private void failures() {
    String failures =
        all.stream()
            .filter(Outcome.Failed.class::isInstance)
            .map(outcome -> "failed: " + ((Outcome.Failed) outcome).why())
            .collect(Collectors.joining("\n"));
    if (!failures.isEmpty()) {
      out.println(failures);
    }
  }

  private static Optional<Outcome.Measured> find(
      List<Outcome> outcomes, String caseName, String peer) {
    return outcomes.stream()
        .filter(Outcome.Measured.class::isInstance)
        .map(Outcome.Measured.class::cast)
        .filter(m -> m.caseName().equals(caseName) && m.peer().equals(peer))
        .findFirst();
  }

  private void row(String name, String peer, String ns, String spread, String jdk, String go) {
    out.print(format(ROW, name, peer, ns, spread, jdk, go).replaceAll(" +(\\R)", "$1"));
    out.flush();
  }

  private static String ns(double nanos) {
    return format("%.1f", nanos);
  }

  private static String format(String pattern, Object... args) {
    return String.format(Locale.ROOT, pattern, args);
  }
}
