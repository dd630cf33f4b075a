package dev.gloom.bench;

import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Measures one case: a child a peer, warmed up one after the other, then one round each in turn,
/// again and again.
///
/// Peers measured one after the other would each see another machine: on a shared one the speed
/// drifts by more than the differences looked for. Here the rounds of a turn lie side by side, and
/// every other child sleeps meanwhile.
final class Interleaved {
  private final Settings settings;
  private final PrintStream messages;

  Interleaved(Settings settings, PrintStream messages) {
    this.settings = settings;
    this.messages = messages;
  }

  /// One outcome a peer, in their order.
  List<Outcome> run(BenchCase benchCase, List<Peer> peers) {
    var runs = new ArrayList<Run>();
    try {
      for (Peer peer : peers) {
        var run = new Run(benchCase, peer);
        runs.add(run);
        run.start();
      }
      var live = new ArrayList<>(runs.stream().filter(Run::isLive).toList());
      for (int round = 0; round < settings.rounds(); round++) {
        for (int i : order(live.size(), round)) {
          live.get(i).round();
        }
        live.removeIf(run -> !run.isLive());
      }
    } finally {
      runs.forEach(Run::close);
    }
    return runs.stream().map(Run::outcome).toList();
  }

  /// Who comes when in a round: everybody once, another one first each time, and every second cycle
  /// backwards, so that nobody always works in the caches and the heat that the same neighbour
  /// leaves behind.
  static int[] order(int count, int round) {
    int[] order = new int[count];
    for (int i = 0; i < count; i++) {
      int place = round / count % 2 == 0 ? i : count - 1 - i;
      order[place] = (i + round) % count;
    }
    return order;
  }

  /// One peer on its way through the case.
  private final class Run {
    private final BenchCase benchCase;
    private final Peer peer;
    private final double[] rounds = new double[settings.rounds()];
    private final Map<String, Long> counters = new LinkedHashMap<>();
    private int done;
    private long ops;
    private String version = "";
    private @Nullable Child child;
    private @Nullable Outcome early;

    private Duration cpuAtAnswer = Duration.ZERO;
    private long nanosAtAnswer;
    private long idleCpuNanos;
    private long idleNanos;

    Run(BenchCase benchCase, Peer peer) {
      this.benchCase = benchCase;
      this.peer = peer;
    }

    void start() {
      try {
        switch (TwoCores.pinned(peer.launch(benchCase, settings), benchCase)) {
          case Peer.Launch.Absent(var word, var why) -> absent(word, why);
          case Peer.Launch.Command command -> {
            child = Child.start(label(), command, settings.timeout(), messages);
            version = child.awaitReady();
            nowIdle(child);
          }
        }
      } catch (Child.UnsupportedException e) {
        absent("n/a", String.valueOf(e.getMessage()));
      } catch (ChildException e) {
        failed(e);
      }
    }

    boolean isLive() {
      return early == null;
    }

    void round() {
      if (child == null) {
        throw new IllegalStateException(label() + " was not started");
      }
      addIdleTime(child);
      try {
        var answer = child.round();
        rounds[done++] = answer.nanosPerOp();
        ops += answer.ops();
        answer.counters().forEach((name, count) -> counters.merge(name, count, Long::sum));
        nowIdle(child);
      } catch (ChildException e) {
        failed(e);
      }
    }

    Outcome outcome() {
      if (early != null) {
        return early;
      }
      var perOp = new LinkedHashMap<String, Double>();
      counters.forEach((name, count) -> perOp.put(name, (double) count / ops));
      double idleCpu = idleNanos == 0 ? 0 : (double) idleCpuNanos / idleNanos;
      return new Outcome.Measured(
          benchCase.fullName(), peer.name(), version, rounds, perOp, idleCpu);
    }

    void close() {
      if (child != null) {
        child.close();
      }
    }

    private void nowIdle(Child idle) {
      cpuAtAnswer = idle.cpu();
      nanosAtAnswer = System.nanoTime();
    }

    private void addIdleTime(Child idle) {
      idleCpuNanos += idle.cpu().minus(cpuAtAnswer).toNanos();
      idleNanos += System.nanoTime() - nanosAtAnswer;
    }

    private void absent(String word, String why) {
      early = new Outcome.Absent(benchCase.fullName(), peer.name(), word, why);
    }

    private void failed(ChildException e) {
      // Out of the way at once: whatever it still does would disturb the others.
      close();
      early = new Outcome.Failed(benchCase.fullName(), peer.name(), String.valueOf(e.getMessage()));
    }

    private String label() {
      return peer.name() + " " + benchCase.fullName();
    }
  }
}
