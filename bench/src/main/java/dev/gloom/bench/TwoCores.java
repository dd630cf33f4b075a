package dev.gloom.bench;

import dev.gloom.bench.cases.Work;
import dev.gloom.bench.load.EchoClient;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;

/// How the cases with a server are started: server and client each on a core of its own.
final class TwoCores {
  private static final String SERVER_CORE = "0";
  private static final String CLIENT_CORE = "1";

  private TwoCores() {}

  /// The same child, pinned, and told how to start its client; others as they are.
  static Peer.Launch pinned(Peer.Launch launch, BenchCase benchCase) {
    if (benchCase.work().needs() != Work.Needs.SOCKETS
        || !(launch instanceof Peer.Launch.Command(var words, var environment))) {
      return launch;
    }
    var taskset = find("taskset");
    var client = client(benchCase);
    if (taskset.isEmpty() || Runtime.getRuntime().availableProcessors() < 2) {
      return Peer.Launch.Absent.missing("needs two cores and `taskset`");
    }
    if (client.isEmpty()) {
      return Peer.Launch.Absent.missing("no `wrk` on the PATH (apt-get install wrk)");
    }
    var pinned = new ArrayList<>(List.of(taskset.get(), "-c", SERVER_CORE));
    pinned.addAll(words);
    var all = new LinkedHashMap<>(environment);
    all.put("GLOOM_BENCH_CONNECTIONS", benchCase.variant());
    all.put(
        "GLOOM_BENCH_CLIENT", String.join("\t", taskset.get(), "-c", CLIENT_CORE, client.get()));
    return new Peer.Launch.Command(pinned, all);
  }

  private static Optional<String> client(BenchCase benchCase) {
    if (benchCase.name().equals("http")) {
      return find("wrk").map(wrk -> String.join("\t", wrk, "-t1", "-d2s", "--latency"));
    }
    return Optional.of(
        String.join(
            "\t",
            JavaPeer.java(),
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-cp",
            System.getProperty("java.class.path"),
            EchoClient.class.getName()));
  }

  private static Optional<String> find(String command) {
    for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
      Path file = Path.of(folder, command);
      if (!folder.isEmpty() && Files.isExecutable(file)) {
        return Optional.of(file.toString());
      }
    }
    return Optional.empty();
  }
}
