package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.api.ChildJvm;
import dev.gloom.api.Lab;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Item 133: schedtrace and scheddetail, to the letter of the spec, 13.1 and 13.2.
@Timeout(120)
class SchedtraceTest {
  private static final String UP_TO_RUNQUEUE =
      "SCHED (\\d+)ms: gomaxprocs=(\\d+) idleprocs=\\d+ threads=(\\d+) spinningthreads=\\d+"
          + " needspinning=[01] idlethreads=\\d+ runqueue=\\d+";
  private static final Pattern LINE =
      Pattern.compile(UP_TO_RUNQUEUE + " \\[ (\\d+ )+] schedticks=\\[ (\\d+ )+]");
  private static final Pattern DETAILED =
      Pattern.compile(
          UP_TO_RUNQUEUE
              + " gcwaiting=(true|false) nmidlelocked=\\d+ stopwait=\\d+ sysmonwait=(true|false)");
  private static final Pattern P_LINE =
      Pattern.compile(
          "  P\\d+: status=[0-4] schedtick=\\d+ syscalltick=\\d+ m=(\\d+|nil) runqsize=\\d+"
              + " gfreecnt=\\d+ timerslen=\\d+");
  private static final Pattern M_LINE =
      Pattern.compile(
          "  M(\\d+): p=(\\d+|nil) curg=(\\d+|nil) mallocing=\\d+ throwing=\\d+ preemptoff=\\S*"
              + " locks=\\d+ dying=\\d+ spinning=(true|false) blocked=(true|false)"
              + " lockedg=(\\d+|nil)");
  private static final Pattern G_LINE =
      Pattern.compile("  G\\d+: status=[0-9](\\([^)]*\\)) m=(\\d+|nil) lockedm=(\\d+|nil)");

  // A scheduler that stands still.

  @Test
  void lineTellsTheLengthsOfAllQueues() {
    var still = new Still(3);
    still.idle(still.p(2));
    still.p(0).put(still.g());
    still.p(0).put(still.g());
    still.p(0).putNext(still.g()); // run-next does not count
    still.p(1).putYielded(still.g());
    still.sched.global.put(still.g());
    for (int i = 0; i < 41; i++) {
      Still.dispatched(still.p(1));
    }
    String ticks = still.p(0).tick + " " + still.p(1).tick + " " + still.p(2).tick;
    String line = still.sched.trace.text(1_234, false);
    assertEquals(
        "SCHED 1234ms: gomaxprocs=3 idleprocs=1 threads=1 spinningthreads=0 needspinning=0"
            + " idlethreads=1 runqueue=1 [ 2 1 0 ] schedticks=[ "
            + ticks
            + " ]\n",
        line);
    assertTrue(ticks.matches("\\d+ 42 \\d+"), ticks);
  }

  // A scheduler that runs.

  @Test
  void detailsTellWhoRunsWhatAndWhatEachWaitsFor() throws Exception {
    var sched = new Sched(2, new Knobs(2, false, true));
    var lock = new ReentrantLock();
    lock.lock();
    var stop = new AtomicBoolean();
    var runs = new CountDownLatch(1);
    G running =
        Spawn.go(
            sched,
            "",
            () -> {
              runs.countDown();
              while (!stop.get()) {
                Thread.onSpinWait();
              }
              return null;
            });
    runs.await(); // so that the other one needs an M of its own
    G waits =
        Spawn.go(
            sched,
            "",
            () -> {
              lock.lock();
              lock.unlock();
              return null;
            });
    Lab.await("waits", () -> waits.status() == G.Status.WAITING);
    Lab.await("the other M sleeps", () -> sched.idle.idleProcs() == 1);

    List<String> lines = sched.trace.text(0, true).lines().toList();
    stop.set(true);
    lock.unlock();
    running.join();
    waits.join();
    sched.close();

    String all = String.join("\n", lines);
    assertTrue(DETAILED.matcher(lines.get(0)).matches(), all);
    List<String> ps = lines.stream().filter(l -> P_LINE.matcher(l).matches()).toList();
    List<String> ms = lines.stream().filter(l -> M_LINE.matcher(l).matches()).toList();
    List<String> gs = lines.stream().filter(l -> G_LINE.matcher(l).matches()).toList();
    assertEquals(2, ps.size(), all);
    assertEquals(2, gs.size(), all);
    assertEquals(lines.size(), 1 + ps.size() + ms.size() + gs.size(), all);
    assertEquals(1, ps.stream().filter(l -> l.contains("status=1")).count(), all);
    assertEquals(1, ps.stream().filter(l -> l.contains("status=0") && l.contains("m=nil")).count());

    var head = DETAILED.matcher(lines.get(0));
    assertTrue(head.matches());
    assertEquals(Integer.parseInt(head.group(3)), ms.size(), "threads, sysmon included: " + all);
    List<Integer> ids = ms.stream().map(SchedtraceTest::mid).toList();
    assertEquals(ids.stream().sorted((a, b) -> b - a).toList(), ids, "newest first");

    assertTrue(gs.contains("  G" + waits.id + ": status=4(lock) m=nil lockedm=nil"), all);
    assertTrue(
        gs.stream().anyMatch(l -> l.matches("  G" + running.id + ": status=2\\(\\) m=\\d+ .*")),
        all);
    assertEquals(1, ms.stream().filter(l -> l.contains("curg=" + running.id + " ")).count(), all);
    assertTrue(ms.stream().anyMatch(l -> l.contains("blocked=true")), all);
  }

  private static int mid(String line) {
    var matcher = M_LINE.matcher(line);
    assertTrue(matcher.matches());
    return Integer.parseInt(matcher.group(1));
  }

  // What a program prints.

  static final class Program {
    public static void main(String[] args) throws Exception {
      Gloom.run(
          () -> {
            Gloom.go(LockSupport::park);
            Gloom.sleep(Duration.ofMillis(Integer.parseInt(args[0])));
          });
    }
  }

  private static List<String> lines(Map<String, String> environment, String... jvmArgs)
      throws Exception {
    var args = new java.util.ArrayList<>(List.of(ChildJvm.OPEN, "-ea", "-Dgloom.maxprocs=3"));
    args.addAll(List.of(jvmArgs));
    var child = ChildJvm.run(60, environment, args, Program.class, "700");
    child.succeeded();
    return child.err().lines().toList();
  }

  @Test
  void programPrintsALineAtOnceAndThenEveryNMilliseconds() throws Exception {
    List<String> lines = lines(Map.of(), "-Dgloom.debug=schedtrace=100");
    assertTrue(lines.size() >= 3 && lines.size() <= 20, lines.toString());
    long before = -100;
    for (String line : lines) {
      var matcher = LINE.matcher(line);
      assertTrue(matcher.matches(), line);
      assertEquals("3", matcher.group(2), "gomaxprocs");
      long at = Long.parseLong(matcher.group(1));
      assertTrue(at >= before + 99, "too early: " + lines);
      before = at;
    }
    assertTrue(lines.getFirst().startsWith("SCHED 0ms: "), lines.getFirst());
  }

  @Test
  void environmentMeansTheSameAsInGo() throws Exception {
    List<String> lines = lines(Map.of("GODEBUG", "gctrace=0,schedtrace=200,scheddetail=1"));
    assertTrue(lines.getFirst().startsWith("SCHED 0ms: "), lines.getFirst());
    assertTrue(DETAILED.matcher(lines.getFirst()).matches(), lines.getFirst());
    assertEquals("  P0: status=", lines.get(1).substring(0, 13));
    for (String line : lines) {
      assertTrue(
          DETAILED.matcher(line).matches()
              || P_LINE.matcher(line).matches()
              || M_LINE.matcher(line).matches()
              || G_LINE.matcher(line).matches(),
          line);
    }
    assertTrue(lines.contains("  G1: status=4(sleep) m=nil lockedm=nil"), lines.toString());
  }

  @Test
  void nothingIsPrintedUnlessAskedFor() throws Exception {
    assertEquals(List.of(), lines(Map.of("GODEBUG", "schedtrace=x,scheddetail=1")));
  }

  @Test
  void malformedPropertyIsAnErrorThatSaysWhatIsRight() throws Exception {
    var child =
        ChildJvm.run(
            60, List.of(ChildJvm.OPEN, "-Dgloom.debug=schedtrace=often"), Program.class, "1");
    assertEquals(1, child.status());
    assertTrue(
        child
            .err()
            .contains(
                "gloom: the system property gloom.debug is \"schedtrace=often\" but must be"
                    + " schedtrace=MILLISECONDS, scheddetail=0 or 1, containermaxprocs=0,"
                    + " updatemaxprocs=0, separated by commas"),
        child.err());
    assertFalse(child.err().contains("SCHED "));
  }
}
