package dev.gloom.dropin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.ChildJvm;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// No goroutine keeps a processor, in programs whose code has no scheduling point.
@Timeout(300)
class PreemptTest {
  private static final long SLICE_MICROS = 10_000;

  /// On a machine that is busy with other things a quarter of the tries tells more than the worst.
  private static final long SOON = 2 * SLICE_MICROS;

  private static ChildJvm run(String options, String... scenario) throws Exception {
    return run(options, List.of(), scenario);
  }

  private static ChildJvm run(String options, List<String> jvmArgs, String... scenario)
      throws Exception {
    var all = new ArrayList<>(jvmArgs);
    all.add(AgentJvm.agent(options));
    ChildJvm child = AgentJvm.run(all, PreemptProgram.class, scenario).succeeded();
    assertEquals(0, child.figure("rescues"));
    return child;
  }

  // Spec item 68, each kind of loop.

  @ParameterizedTest
  @ValueSource(
      strings = {"empty", "arithmetic", "calls", "fib", "switch", "monitor", "51", "54", "55"})
  void eagerStopsALoopThatRuns(String kind) throws Exception {
    var child = run("preempt=eager,maxprocs=1", "stop", kind);
    assertEquals("", child.err());
    assertTrue(child.figure("stopped") >= 30, child.out()); // of 40; its start may be seen too
    assertTrue(child.figure("quarter") <= SOON, child.out());
    assertTrue(child.figure("checks") >= 30, child.out());
  }

  @Test
  void adaptiveStopsTheSecondActivation() throws Exception {
    var child = run("preempt=adaptive,maxprocs=1", "second");
    assertEquals("", child.err());
    assertTrue(child.figure("stopped") >= 30, child.out());
    assertTrue(child.figure("quarter") <= SOON, child.out());
  }

  /// Nobody may run without a processor: the class does not wait for the one inside to end.
  @Test
  void adaptiveChangesAClassUnderTheOneInsideIfOthersWouldNotRunOtherwise() throws Exception {
    var child = run("preempt=adaptive,maxprocs=1", List.of("-Dgloom.maxovercommit=0"), "crowded");
    assertTrue(child.figure("stopped") >= 30, child.out());
  }

  @Test
  void adaptiveDoesNotSlowDownTheOneThatIsCaught() throws Exception {
    var child = run("preempt=adaptive,maxprocs=1", "request", "0");
    assertEquals("", child.err());
    assertTrue(child.figure("first") <= 5 * child.figure("median"), child.out());
  }

  @Test
  void norOneThatComputesForSeconds() throws Exception {
    var child = run("preempt=adaptive,maxprocs=1", "request", "12");
    assertEquals("", child.err());
    assertTrue(child.figure("long") <= 3 * child.figure("median"), child.out());
  }

  /// It is between two jobs when its class could be changed.
  @Test
  void norOneThatWaitsInItsClassForMoreToDo() throws Exception {
    var child = run("preempt=adaptive,maxprocs=1", "worker");
    assertEquals("", child.err());
    assertTrue(child.figure("stuck") > 0, "it was caught: " + child.out());
    assertTrue(child.figure("median") <= 3 * child.figure("first"), child.out());
  }

  /// C2 drops the safepoint of a counted loop with a call in it.
  @Test
  void aLoopThatIsArmedDoesNotKeepTheCollectorWaiting() throws Exception {
    var child = run("maxprocs=1,preempt=eager", List.of("-XX:+UseG1GC"), "safepoints");
    assertTrue(child.figure("stopped") >= 30, child.out());
    assertTrue(child.figure("gc") <= 500, child.out());
  }

  @Test
  void aShorterSliceIsKept() throws Exception {
    var child = run("preempt=eager,maxprocs=1,slice=2", "stop", "arithmetic");
    assertTrue(child.figure("quarter") <= 8_000, child.out());
  }

  @Test
  void severalShareOneProcessorEvenly() throws Exception {
    var child = run("preempt=eager,maxprocs=1", "share");
    assertTrue(child.figure("least") > 0, child.out());
    assertTrue(child.figure("most") <= 2 * child.figure("least"), child.out());
    assertTrue(
        child.figure("percent") <= 130, "by preemption, not by more threads: " + child.out());
  }

  /// Spec item 67.
  @Test
  void aPairThatSharesASliceDoesNotOutweighAnother() throws Exception {
    var child = run("preempt=eager,maxprocs=1", "pairs");
    long hog = child.figure("hog");
    long light = child.figure("light");
    assertTrue(hog > 0 && light > 0, child.out());
    assertTrue(hog <= 20 * light && light <= 20 * hog, child.out());
  }

  /// Spec item 111.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void timersFireAlthoughAllProcessorsCompute(int procs) throws Exception {
    var child = run("preempt=eager,maxprocs=" + procs, "timers");
    assertTrue(child.figure("median") <= most(procs), child.out());
  }

  /// Spec item 132.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void socketsAreNoticedAlthoughAllProcessorsCompute(int procs) throws Exception {
    var child = run("preempt=eager,maxprocs=" + procs, "socket");
    // It comes to the tail of the global queue: behind one turn of the hogs that wait there.
    assertTrue(child.figure("median") <= SLICE_MICROS + most(procs), child.out());
  }

  /// Two slices; more processors than cores wait for a core besides.
  private static long most(int procs) {
    int cores = Math.max(1, Runtime.getRuntime().availableProcessors() / 2); // others compute too
    return SOON * Math.max(1, procs / cores);
  }

  // Opting out.

  @ParameterizedTest
  @ValueSource(strings = {"undisturbed", "factory"})
  void whatOptsOutIsLeftAlone(String scenario) throws Exception {
    var child = run("preempt=eager,maxprocs=1", scenario);
    // One that sleeps in the kernel, for a lock inside the JVM for instance, leaves its processor.
    assertTrue(child.figure("ran") == 0 || child.figure("asleep") > 0, child.out());
    assertEquals(0, child.figure("checks"));
  }

  @Test
  void theKillSwitchIsInJmx() throws Exception {
    var child = run("preempt=eager,maxprocs=1,slice=7", "switch");
    assertEquals(7, child.figure("slice"));
    assertEquals(1, child.figure("eager"));
    assertEquals(1, child.figure("before"));
    assertEquals(0, child.figure("during"));
    assertEquals(1, child.figure("after"));
    assertEquals(3, child.figure("changed"));
    assertEquals(1, child.figure("refused"));
    assertEquals(1, child.figure("checks"));
    assertEquals("", child.err());
  }

  @Test
  void theBridgeIsClosedToTheProgram() throws Exception {
    assertEquals(1, run("preempt=eager", "closed").figure("closed"));
  }

  // Bad times.

  @Test
  void noMemoryForTheYieldIsNothingToTheLoop() throws Exception {
    var child = run("preempt=eager,maxprocs=1", List.of("-Xmx48m"), "memory");
    assertEquals(8, child.figure("errors"));
    assertEquals(0, child.figure("failed"));
  }

  // With others.

  @ParameterizedTest
  @CsvSource({
    "jacoco, eager, true",
    "jacoco, eager, false",
    "jacoco, adaptive, true",
    "opentelemetry, eager, true",
    "opentelemetry, adaptive, false"
  })
  void otherAgentsMayChangeTheSameClasses(String other, String mode, boolean first)
      throws Exception {
    Path jar = AgentJvm.jar().resolveSibling("agents").resolve(other + ".jar");
    var args = new ArrayList<String>();
    if (other.equals("opentelemetry")) {
      args.add("-Dotel.traces.exporter=none");
      args.add("-Dotel.metrics.exporter=none");
      args.add("-Dotel.logs.exporter=none");
    }
    String option = "-javaagent:" + jar + (other.equals("jacoco") ? "=output=none" : "");
    String gloom = AgentJvm.agent("maxprocs=1,preempt=" + mode);
    args.add(first ? option : gloom);
    args.add(first ? gloom : option);
    String[] scenario =
        mode.equals("eager") ? new String[] {"stop", "arithmetic"} : new String[] {"second"};
    var child = AgentJvm.run(args, PreemptProgram.class, scenario).succeeded();
    assertTrue(child.figure("stopped") >= 30, child.out() + child.err());
    assertTrue(!child.err().contains("gloom: "), child.err());
  }
}
