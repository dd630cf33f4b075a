package dev.gloom.bench.micro;

import dev.gloom.bench.cases.ContinuationThreads;
import dev.gloom.bench.cases.ExecutorThreads;
import dev.gloom.bench.cases.GloomThreads;
import dev.gloom.bench.cases.JdkThreads;
import dev.gloom.bench.cases.ParkPingPong;
import dev.gloom.bench.cases.Threads;
import dev.gloom.bench.cases.Work;
import dev.gloom.bench.cases.Yield;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/// What each step adds above a bare switch: continuation, virtual thread, scheduler. `yield` is one
/// switch, `park` a round trip of two.
///
/// The same steps as `./gloom bench switch`, which interleaves them; here each has a JVM of its own
/// after the other, for JMH's profilers (`-prof perfasm`, `-prof gc`).
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(SwitchCost.OPS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 10, time = 1)
@Fork(
    value = 1,
    jvmArgsAppend = {
      "--add-opens=java.base/java.lang=ALL-UNNAMED",
      "--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED",
      "-Dgloom.maxprocs=1",
      "-Djdk.virtualThreadScheduler.parallelism=1",
      "-Djdk.virtualThreadScheduler.maxPoolSize=1"
    })
public class SwitchCost {
  /// So many that starting two threads for them does not show.
  static final int OPS = 100_000;

  private static final Work YIELD = new Yield(2);
  private static final Work PARK = new ParkPingPong();

  @Benchmark
  public void yieldContinuation() throws Exception {
    run(new ContinuationThreads(), YIELD);
  }

  @Benchmark
  public void yieldExecutor() throws Exception {
    run(new ExecutorThreads(), YIELD);
  }

  @Benchmark
  public void yieldGloom() throws Exception {
    run(new GloomThreads(), YIELD);
  }

  @Benchmark
  public void yieldJdk() throws Exception {
    run(new JdkThreads(), YIELD);
  }

  @Benchmark
  public void parkExecutor() throws Exception {
    run(new ExecutorThreads(), PARK);
  }

  @Benchmark
  public void parkGloom() throws Exception {
    run(new GloomThreads(), PARK);
  }

  @Benchmark
  public void parkJdk() throws Exception {
    run(new JdkThreads(), PARK);
  }

  private static void run(Threads threads, Work work) throws Exception {
    threads.run(() -> work.run(threads, OPS));
  }

  /// Takes JMH's own options: `java -cp … dev.gloom.bench.micro.SwitchCost -f 3 yield`.
  public static void main(String[] args) throws RunnerException, CommandLineOptionException {
    var given = new CommandLineOptions(args);
    var options = new OptionsBuilder().parent(given);
    if (given.getIncludes().isEmpty()) {
      options.include(SwitchCost.class.getName());
    }
    new Runner(options.build()).run();
  }
}
