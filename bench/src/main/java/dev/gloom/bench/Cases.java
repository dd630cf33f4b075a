package dev.gloom.bench;

import dev.gloom.bench.cases.ParkPingPong;
import dev.gloom.bench.cases.Skynet;
import dev.gloom.bench.cases.Spawn;
import dev.gloom.bench.cases.Work;
import dev.gloom.bench.cases.Yield;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// Every case there is. A new one is a line here, its work in `cases/`, and a twin in `go/`.
final class Cases {
  private static final long MILLION = 1_000_000;

  /// The case about steps below a scheduler; it says nothing about peers and runs only when named.
  static final String SWITCH = "switch";

  static final List<BenchCase> ALL = new ArrayList<>();

  static {
    onOneAndTwo("yield", "1,000 threads yield 1,000 times each; ns a yield", new Yield(1_000));
    onOneAndTwo("spawn", "1 M threads started from one and joined; ns a thread", new Spawn());
    onOneAndTwo(
        "parkpingpong",
        "two threads park and unpark each other; ns a round trip",
        new ParkPingPong());
    onOneAndTwo("skynet", "1 M leaves in tens, summed up; ns a leaf", new Skynet());
    ALL.add(
        new BenchCase(
            SWITCH,
            "yield",
            "2 threads that yield, from a bare continuation upwards; ns a switch",
            1,
            MILLION,
            List.of(Peers.CONTINUATION, Peers.EXECUTOR),
            new Yield(2)));
    ALL.add(
        new BenchCase(
            SWITCH,
            "park",
            "2 threads that park and unpark each other; ns a round trip",
            1,
            MILLION / 2,
            List.of(Peers.EXECUTOR),
            new ParkPingPong()));
  }

  private Cases() {}

  private static void onOneAndTwo(String name, String about, Work work) {
    for (int procs = 1; procs <= 2; procs++) {
      ALL.add(new BenchCase(name, procs + "p", about, procs, MILLION, List.of(), work));
    }
  }

  /// What a bare `./gloom bench` runs.
  static List<BenchCase> defaults() {
    return ALL.stream().filter(c -> !c.name().equals(SWITCH)).toList();
  }

  /// The cases of a name, with or without variant; empty if there is none.
  static List<BenchCase> named(String name) {
    return ALL.stream().filter(c -> c.name().equals(name) || c.fullName().equals(name)).toList();
  }

  static Set<String> names() {
    var names = new LinkedHashSet<String>();
    ALL.forEach(c -> names.add(c.name()));
    return names;
  }
}
