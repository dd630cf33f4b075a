package dev.gloom.bench.micro;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/// What preemption checks that nobody has armed cost in loops: one that the JIT vectorises, one
/// with branches, one of calls. `main` runs each without an agent, with `preempt=adaptive` and with
/// `preempt=eager`, in turn and several times, and prints the ratios.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class CheckCost {
  private static final int SIZE = 1 << 14;

  private final int[] numbers = new int[SIZE];
  private final int[] others = new int[SIZE];

  /// Numbers without a pattern.
  @Setup
  public void fill() {
    int n = 1;
    for (int i = 0; i < SIZE; i++) {
      n ^= n << 13;
      n ^= n >>> 17;
      n ^= n << 5;
      numbers[i] = n;
    }
  }

  @Benchmark
  public int[] vectorised() {
    for (int i = 0; i < SIZE; i++) {
      others[i] = numbers[i] * 31 + i;
    }
    return others;
  }

  @Benchmark
  public int branchy() {
    int up = 0;
    int down = 0;
    for (int n : numbers) {
      if ((n & 3) == 0) {
        up += n >>> 3;
      } else if (n < 0) {
        down++;
      } else {
        up ^= n;
      }
    }
    return up - down;
  }

  @Benchmark
  public int calls() {
    int sum = 0;
    for (int n : numbers) {
      sum += steps(n & 0xff);
    }
    return sum;
  }

  /// A loop of its own: short, and often called.
  private static int steps(int n) {
    int steps = 0;
    for (int rest = n; rest != 0; rest &= rest - 1) {
      steps++;
    }
    return steps;
  }

  /// `-Drounds=N` interleaved rounds (5); else takes JMH's own options.
  public static void main(String[] args) throws RunnerException, CommandLineOptionException {
    String jar = System.getProperty("gloom.jar", Path.of("core/target/gloom.jar").toString());
    Map<String, List<String>> peers = new LinkedHashMap<>();
    peers.put("none", List.of());
    peers.put("adaptive", List.of("-javaagent:" + jar + "=preempt=adaptive"));
    peers.put("eager", List.of("-javaagent:" + jar + "=preempt=eager"));
    Map<String, Map<String, List<Double>>> scores = new LinkedHashMap<>();
    for (int round = 0; round < Integer.getInteger("rounds", 5); round++) {
      for (Map.Entry<String, List<String>> peer : peers.entrySet()) {
        var options =
            new OptionsBuilder()
                .parent(new CommandLineOptions(args))
                .include(CheckCost.class.getName())
                .jvmArgsAppend(peer.getValue().toArray(new String[0]))
                .build();
        Collection<RunResult> results = new Runner(options).run();
        for (RunResult r : results) {
          scores
              .computeIfAbsent(r.getPrimaryResult().getLabel(), _ -> new LinkedHashMap<>())
              .computeIfAbsent(peer.getKey(), _ -> new ArrayList<>())
              .add(r.getPrimaryResult().getScore());
        }
      }
    }
    scores.forEach(
        (name, byPeer) -> {
          double none = median(byPeer.getOrDefault("none", List.of(Double.NaN)));
          byPeer.forEach(
              (peer, all) ->
                  System.out.printf(
                      "%-12s %-9s %8.2f us  %.3f of none  %s%n",
                      name, peer, median(all), median(all) / none, all));
        });
  }

  private static double median(List<Double> all) {
    double[] sorted = all.stream().mapToDouble(d -> d).toArray();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
