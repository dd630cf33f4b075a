package dev.gloom.bench;

import dev.gloom.bench.cases.Work;
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
    var needs = benchCase.work().needs();
    boolean isFloor = name.equals(Peers.EXECUTOR) || name.equals(Peers.CONTINUATION);
    if (isFloor && needs != Work.Needs.THREADS) {
      return Launch.Absent.notApplicable("a floor for yield and park only");
    }
    if (name.equals(Peers.JDK) && needs == Work.Needs.SELECT) {
      return Launch.Absent.notApplicable("java.util.concurrent has no select");
    }
    if (name.equals(Peers.EXECUTOR) && benchCase.procs() > 1) {
      return Launch.Absent.notApplicable("one thread only");
    }
    if (name.equals(Peers.CONTINUATION) && !benchCase.fullName().equals("switch/yield")) {
      return Launch.Absent.notApplicable("a bare continuation cannot park");
    }
    return command(
        Worker.class.getName(), System.getProperty("java.class.path"), name, benchCase, settings);
  }

  /// How to start a child that is a [Worker], by whatever main class.
  static Launch.Command command(
      String main, String classPath, String peer, BenchCase benchCase, Settings settings) {
    var words = new ArrayList<String>();
    words.add(java());
    words.addAll(flags(settings));
    words.addAll(limits(benchCase.procs()));
    words.addAll(List.of("-cp", classPath));
    words.add(main);
    words.add(peer);
    words.add(benchCase.fullName());
    words.add(Long.toString(settings.scaled(benchCase.size())));
    words.add(Long.toString(settings.warmup().toMillis()));
    // gloom reads this too: the caller's own must not overrule the limit.
    return new Launch.Command(words, Map.of("GOMAXPROCS", Integer.toString(benchCase.procs())));
  }

  /// The JVM that the harness runs in.
  static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  /// The flags of every JVM, whoever runs in it.
  static List<String> flags(Settings settings) {
    var flags = new ArrayList<String>();
    flags.add("-Xms" + settings.heap());
    flags.add("-Xmx" + settings.heap());
    flags.add("-XX:+AlwaysPreTouch"); // else rounds pay for pages that nobody has used before
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
