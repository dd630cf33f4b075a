package dev.gloom.bench;

import dev.gloom.bench.cases.Chain;
import dev.gloom.bench.cases.Echo;
import dev.gloom.bench.cases.Http;
import dev.gloom.bench.cases.ParkPingPong;
import dev.gloom.bench.cases.PingPong;
import dev.gloom.bench.cases.Queue;
import dev.gloom.bench.cases.Ring;
import dev.gloom.bench.cases.Select;
import dev.gloom.bench.cases.Sieve;
import dev.gloom.bench.cases.Skynet;
import dev.gloom.bench.cases.Spawn;
import dev.gloom.bench.cases.Timers;
import dev.gloom.bench.cases.Work;
import dev.gloom.bench.cases.Yield;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// Every case there is. A new one is a line here, its work in `cases/`, and twins in `go/` and
/// `kotlin/`.
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
    onOneAndTwo(
        "pingpong",
        "two threads, two unbuffered channels; ns a round trip",
        MILLION / 2,
        new PingPong());
    onOneAndTwo(
        "chain",
        "10,000 threads in a row hand a number on, 50 times; ns a thread",
        MILLION / 2,
        new Chain(10_000));
    onOneAndTwo(
        "buffered",
        "one sender, one receiver, capacity 128; ns a message",
        4 * MILLION,
        new Queue(1, 128));
    onOneAndTwo(
        "mpmc",
        "4 senders, 4 receivers, capacity 128; ns a message",
        2 * MILLION,
        new Queue(4, 128));
    onOneAndTwo(
        "select2",
        "one receiver selects among 2 unbuffered channels with a sender each; ns a message",
        new Select(2));
    onOneAndTwo(
        "select8",
        "one receiver selects among 8 unbuffered channels with a sender each; ns a message",
        new Select(8));
    onOneAndTwo("ring", "a token through 1,000 threads; ns a hop", new Ring(1_000));
    onOneAndTwo("sieve", "the primes up to 8,000, a thread each; ns a message", 8_000, new Sieve());
    ALL.add(
        new BenchCase(
            "timers",
            "",
            "10,000 threads sleep 1 ms 100 times each, 2 processors; ns a sleep",
            2,
            MILLION,
            List.of(),
            new Timers(10_000)));
    for (int connections : new int[] {1, 100, 5_000}) {
      ALL.add(
          new BenchCase(
              "echo",
              Integer.toString(connections),
              "64 bytes there and back over so many connections, server on one core, client on another;"
                  + " ns a message",
              1,
              connections == 1 ? 20_000 : 100_000,
              List.of(),
              new Echo()));
    }
    for (int connections : new int[] {100, 1_000}) {
      ALL.add(
          new BenchCase(
              "http",
              Integer.toString(connections),
              "HTTP/1.1 over so many connections that are kept, server on one core, wrk on another;"
                  + " ns a request",
              1,
              1,
              List.of(),
              new Http()));
    }
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
    onOneAndTwo(name, about, MILLION, work);
  }

  private static void onOneAndTwo(String name, String about, long size, Work work) {
    for (int procs = 1; procs <= 2; procs++) {
      ALL.add(new BenchCase(name, procs + "p", about, procs, size, List.of(), work));
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
