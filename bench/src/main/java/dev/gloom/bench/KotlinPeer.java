package dev.gloom.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Kotlin's coroutines: the twins in `kotlin/`, in a JVM with the flags of all others.
record KotlinPeer() implements Peer {
  @Override
  public String name() {
    return Peers.KOTLIN;
  }

  @Override
  public String about() {
    return "coroutines of Kotlin and their channels on Dispatchers.Default";
  }

  @Override
  public Launch launch(BenchCase benchCase, Settings settings) throws ChildException {
    var build = new PeerBuild(settings.home(), name());
    try {
      build.maven();
    } catch (PeerBuild.MissingException e) {
      return Launch.Absent.missing(String.valueOf(e.getMessage()));
    }
    var words = new ArrayList<String>();
    words.add(JavaPeer.java());
    words.addAll(JavaPeer.flags(settings));
    words.addAll(limits(benchCase.procs()));
    words.addAll(List.of("-cp", build.classPath()));
    words.add("MainKt");
    words.add(benchCase.name());
    words.add(Long.toString(settings.scaled(benchCase.size())));
    words.add(Long.toString(settings.warmup().toMillis()));
    words.add(Integer.toString(benchCase.procs()));
    return new Launch.Command(words, Map.of());
  }

  static List<String> limits(int procs) {
    return List.of(
        "-Dkotlinx.coroutines.scheduler.core.pool.size=" + procs,
        "-Dkotlinx.coroutines.scheduler.max.pool.size=" + procs);
  }
}
