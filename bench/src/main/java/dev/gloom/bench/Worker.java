package dev.gloom.bench;

import dev.gloom.bench.cases.ContinuationThreads;
import dev.gloom.bench.cases.ExecutorThreads;
import dev.gloom.bench.cases.GloomThreads;
import dev.gloom.bench.cases.JdkThreads;
import dev.gloom.bench.cases.Threads;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/// The child process of every peer that runs Java: `Worker PEER CASE/VARIANT SIZE WARMUP_MILLIS`.
public final class Worker {
  /// Fewer would leave the JIT compiler at work in the first measured rounds.
  private static final int MIN_WARMUP_ROUNDS = 5;

  private static final int STATUS_FAILED = 3;

  private final Threads threads;
  private final BenchCase benchCase;
  private final long size;

  private Worker(Threads threads, BenchCase benchCase, long size) {
    this.threads = threads;
    this.benchCase = benchCase;
    this.size = size;
  }

  public static void main(String[] args) {
    work(threads(args[0]), args);
  }

  /// The same, for a peer whose threads are not among those known here.
  public static void work(Threads threads, String[] args) {
    // A thread that dies of an exception would leave the others waiting, and the harness with a
    // time-out.
    Thread.setDefaultUncaughtExceptionHandler((_, e) -> fail(e));
    try {
      var worker = new Worker(threads, Cases.named(args[1]).getFirst(), Long.parseLong(args[2]));
      worker.checkLimit();
      worker.warmUp(Long.parseLong(args[3]));
      worker.answer();
      // Whatever a scheduler has left running does not hold the process up.
      System.exit(0);
    } catch (Exception e) {
      fail(e);
    }
  }

  private static Threads threads(String peer) {
    return switch (peer) {
      case Peers.GLOOM -> new GloomThreads();
      case Peers.JDK -> new JdkThreads();
      case Peers.EXECUTOR -> new ExecutorThreads();
      case Peers.CONTINUATION -> new ContinuationThreads();
      default -> throw new IllegalArgumentException("not a peer in Java: " + peer);
    };
  }

  /// A peer on more processors than it says would win by that.
  private void checkLimit() {
    if (threads.procs() != benchCase.procs()) {
      throw new IllegalStateException(
          "runs on " + threads.procs() + " processors, not on " + benchCase.procs());
    }
  }

  private void warmUp(long millis) throws Exception {
    long start = System.nanoTime();
    for (int n = 0; n < MIN_WARMUP_ROUNDS || System.nanoTime() - start < millis * 1_000_000; n++) {
      round();
      say("warm");
    }
    say("ready " + threads.version());
  }

  private void answer() throws Exception {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    while (in.readLine() != null) {
      say("round " + round());
    }
  }

  private String round() throws Exception {
    Map<String, Long> before = threads.counters();
    var clock = new Clock();
    threads.run(
        () -> {
          // Timed inside, as Go's twin is: entering the scheduler from a platform thread is not the
          // question.
          long start = System.nanoTime();
          clock.ops = benchCase.work().run(threads, size);
          clock.nanos = System.nanoTime() - start;
        });
    var answer = new StringBuilder().append(clock.ops).append(' ').append(clock.nanos);
    threads
        .counters()
        .forEach(
            (name, count) ->
                answer
                    .append(' ')
                    .append(name)
                    .append('=')
                    .append(count - before.getOrDefault(name, 0L)));
    benchCase
        .work()
        .figures()
        .forEach((name, figure) -> answer.append(' ').append(name).append('=').append(figure));
    return answer.toString();
  }

  /// Plain fields: `run` returns after the root has ended, and says so to the thread that reads
  /// them.
  private static final class Clock {
    long ops;
    long nanos;
  }

  private static void say(String line) {
    System.out.println(Child.PREFIX + line);
    System.out.flush();
  }

  private static void fail(Throwable e) {
    e.printStackTrace();
    say("fail " + e);
    // Not exit: a scheduler in disorder may hold up a shutdown hook.
    Runtime.getRuntime().halt(STATUS_FAILED);
  }
}
