package dev.gloom.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/// Where and with what a run took place: numbers without it mean nothing.
final class Machine {
  private Machine() {}

  static void describe(PrintStream out, Settings settings) {
    var system = ManagementFactory.getOperatingSystemMXBean();
    out.printf(
        Locale.ROOT,
        "machine  %s, %d cores, %s %s, load %.2f%n",
        cpu(),
        Runtime.getRuntime().availableProcessors(),
        system.getName(),
        system.getVersion(),
        system.getSystemLoadAverage());
    out.printf("jdk      %s, %s%n", Runtime.version(), System.getProperty("java.vendor"));
    out.printf("go       %s%n", go());
    out.printf("JVMs     %s%n", String.join(" ", JavaPeer.flags(settings)));
    out.printf(
        "limits   JVMs %s; Kotlin %s; Go GOMAXPROCS=N (N = 1 or 2)%n",
        String.join(" ", JavaPeer.limits(1)).replace("=1", "=N"),
        String.join(" ", KotlinPeer.limits(1)).replace("=1", "=N"));
    out.printf(
        Locale.ROOT,
        "rounds   %d a peer, interleaved; warm-up at least 5 rounds and %.1f s%n",
        settings.rounds(),
        settings.warmup().toMillis() / 1_000.0);
    if (settings.scale() != 1) {
      out.printf(
          Locale.ROOT,
          "SCALE    sizes are times %s: a test of the harness, not a measurement%n",
          settings.scale());
    }
    out.println();
  }

  private static String cpu() {
    try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .findFirst()
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .orElse(System.getProperty("os.arch"));
    } catch (IOException _) {
      return System.getProperty("os.arch");
    }
  }

  private static String go() {
    return GoPeer.find(System.getenv())
        .map(go -> firstLine(List.of(go.toString(), "version")))
        .orElse("missing");
  }

  private static String firstLine(List<String> command) {
    try {
      var process = new ProcessBuilder(command).redirectErrorStream(true).start();
      var output = new String(process.getInputStream().readAllBytes()).strip();
      process.waitFor(10, TimeUnit.SECONDS);
      return output.lines().findFirst().orElse("unknown");
    } catch (IOException e) {
      return "unknown: " + e.getMessage();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return "unknown";
    }
  }
}
