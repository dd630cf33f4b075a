package dev.gloom.bench;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// A peer in a JVM of its own: [Worker] on the class path of the harness, with the same flags for
/// all of them.
record JavaPeer(String name, String about) implements Peer {
  private static final Set<String> NEEDED_OPENS =
      Set.of(
          "--add-opens=java.base/java.lang=ALL-UNNAMED",
          "--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED");

  @Override
  public Launch launch(BenchCase benchCase, Settings settings) {
    if (name.equals(Peers.EXECUTOR) && benchCase.procs() > 1) {
      return Launch.Absent.notApplicable("one thread only");
    }
    if (name.equals(Peers.CONTINUATION) && !benchCase.fullName().equals("switch/yield")) {
      return Launch.Absent.notApplicable("a bare continuation cannot park");
    }
    var words = new ArrayList<String>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(flags(settings));
    words.addAll(limits(benchCase.procs()));
    words.addAll(List.of("-cp", System.getProperty("java.class.path")));
    words.add(Worker.class.getName());
    words.add(name);
    words.add(benchCase.fullName());
    words.add(Long.toString(settings.scaled(benchCase.size())));
    words.add(Long.toString(settings.warmup().toMillis()));
    // gloom reads this too: the caller's own must not overrule the limit.
    return new Launch.Command(words, Map.of("GOMAXPROCS", Integer.toString(benchCase.procs())));
  }

  /// The flags of every JVM, whoever runs in it.
  static List<String> flags(Settings settings) {
    var flags = new ArrayList<String>();
    flags.add("-Xms" + settings.heap());
    flags.add("-Xmx" + settings.heap());
    flags.addAll(opens());
    flags.addAll(settings.jvmArgs());
    return flags;
  }

  /// Both limits for everyone: each peer has threads of the other kind in its JVM too, at most
  /// idle.
  static List<String> limits(int procs) {
    return List.of(
        "-Dgloom.maxprocs=" + procs,
        "-Djdk.virtualThreadScheduler.parallelism=" + procs,
        "-Djdk.virtualThreadScheduler.maxPoolSize=" + procs);
  }

  /// What the harness was started with is handed on, so that the launcher alone knows what gloom
  /// needs by now.
  private static Set<String> opens() {
    var opens = new LinkedHashSet<String>();
    for (String arg : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (arg.matches("--(add-opens|add-exports|enable-native-access)=.*")) {
        opens.add(arg);
      }
    }
    NEEDED_OPENS.stream().sorted().forEach(opens::add);
    return opens;
  }
}
