package dev.gloom.bench.cases;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// What the cases with a server have in common: the client's process and what is measured beside
/// the time.
final class Load {
  /// The client's command, word by word; the port and the number of connections are added. Set by
  /// the harness.
  static final String CLIENT = "GLOOM_BENCH_CLIENT";

  static final String CONNECTIONS = "GLOOM_BENCH_CONNECTIONS";

  private Load() {}

  /// Starts the client; it ends when this process does.
  static Process client(int port) throws IOException {
    var words = new ArrayList<>(List.of(System.getenv(CLIENT).split("\t")));
    words.add(Integer.toString(port));
    words.add(System.getenv(CONNECTIONS));
    return new ProcessBuilder(words)
        .redirectInput(new File("/dev/null"))
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /// The CPU time that this process has used so far, in its threads that live.
  static long cpuNanos() throws IOException {
    long sum = 0;
    File[] threads = new File("/proc/self/task").listFiles();
    for (File thread : threads == null ? new File[0] : threads) {
      try {
        String stat = Files.readString(Path.of(thread.getPath(), "schedstat"));
        sum += Long.parseLong(stat.substring(0, stat.indexOf(' ')));
      } catch (java.nio.file.NoSuchFileException _) {
        // it has ended
      }
    }
    return sum;
  }

  /// The names that [dev.gloom.bench.Report] knows. A counter is divided by the operations of all
  /// rounds: so the percentile is multiplied by those of this one.
  static Map<String, Long> figures(long ops, long nanos, long p99, long cpu) {
    var figures = new LinkedHashMap<String, Long>();
    figures.put("clientNanos", nanos);
    figures.put("serverCpu", cpu);
    figures.put("p99", p99 * ops);
    return figures;
  }
}
