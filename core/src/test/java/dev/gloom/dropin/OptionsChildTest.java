package dev.gloom.dropin;

import static dev.gloom.dropin.AgentJvm.agent;
import static dev.gloom.dropin.AgentJvm.isOnGloom;
import static dev.gloom.dropin.AgentJvm.isOnJdk;
import static dev.gloom.dropin.AgentJvm.where;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.ChildJvm;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Every option, in a JVM of its own.
@Tag("waits")
@Timeout(300)
class OptionsChildTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "mode=on",
        "onbug=log",
        "unsupported=stop",
        "debug=schedtrace=0",
        "maxprocs=1"
      })
  void on(String options) throws Exception {
    isOnGloom(where(options));
  }

  @Test
  void off() throws Exception {
    isOnJdk("", where("mode=off,maxprocs=3"));
  }

  @Test
  void observeLeavesTheJdksScheduler() throws Exception {
    isOnJdk("", where("mode=observe"));
  }

  @Test
  void optionsInAProperty() throws Exception {
    isOnJdk("", AgentJvm.run(List.of(agent(""), "-Dgloom.options=mode=off"), WhereProgram.class));
  }

  @Test
  void help() throws Exception {
    ChildJvm child = where("help");
    assertEquals("gloom\n", child.succeeded().out());
    assertTrue(child.err().startsWith("gloom: options of the agent, "), child.err());
    assertTrue(child.err().contains("onbug=halt|log"), child.err());
  }

  // A wrong option: one line, and the program runs.

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\'',
      value = {
        "maxprocs=x | the option maxprocs is \"x\" but must be a whole number from 1 to 65536",
        "onbug=explode | the option onbug is \"explode\" but must be halt or log",
        "modes=on | there is no option \"modes\": -javaagent:gloom.jar=help lists them",
      })
  void aWrongOptionIsSaidOnceAndTheProgramRuns(String options, String why) throws Exception {
    isOnJdk("gloom: " + why + ": going on without gloom\n", where(options));
  }

  @Test
  void soIsAWrongProperty() throws Exception {
    isOnJdk(
        "gloom: the system property gloom.maxprocs is \"many\" but must be a whole number from 1 to 65536: correct or remove -Dgloom.maxprocs=many: going on without gloom\n",
        AgentJvm.run(List.of(agent(""), "-Dgloom.maxprocs=many"), WhereProgram.class));
  }

  // How many run at once.

  static final class ProcsProgram {
    public static void main(String[] args) {
      System.out.println(
          "parallelism="
              + java.lang.management.ManagementFactory.getPlatformMXBean(
                      jdk.management.VirtualThreadSchedulerMXBean.class)
                  .getParallelism());
    }
  }

  @Test
  void maxprocs() throws Exception {
    assertEquals(7, procs(agent("maxprocs=7")));
    assertEquals(5, procs(agent("maxprocs=7"), "-Dgloom.maxprocs=5"), "the property wins");
    assertEquals(3, procs(agent(""), "-Djdk.virtualThreadScheduler.parallelism=3"));
    assertEquals(7, procs(agent("maxprocs=7"), "-Djdk.virtualThreadScheduler.parallelism=3"));
  }

  private static long procs(String... jvmArgs) throws Exception {
    return AgentJvm.run(List.of(jvmArgs), ProcsProgram.class).succeeded().figure("parallelism");
  }

  // What it prints about itself.

  static final class SleepingProgram {
    public static void main(String[] args) throws Exception {
      Thread.startVirtualThread(
              () -> {
                try {
                  Thread.sleep(2_000);
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              })
          .join();
    }
  }

  @Test
  void schedtrace() throws Exception {
    var child =
        AgentJvm.run(List.of(agent("debug=schedtrace=100,maxprocs=2")), SleepingProgram.class);
    List<String> lines = child.succeeded().err().lines().toList();
    assertTrue(lines.size() > 2, child.err());
    for (String line : lines) {
      assertTrue(line.matches("SCHED \\d+ms: gomaxprocs=2 idleprocs=.*"), child.err());
    }
    assertEquals("", child.out());
  }

  @Test
  void scheddetail() throws Exception {
    var child =
        AgentJvm.run(
            List.of(agent("maxprocs=2,debug=schedtrace=100;scheddetail=1")), SleepingProgram.class);
    assertTrue(child.succeeded().err().lines().anyMatch(l -> l.startsWith("  P1: ")), child.err());
    assertTrue(
        child.err().lines().anyMatch(l -> l.matches("  G\\d+: status=4\\(park\\).*")), child.err());
  }

  // Packages. What is started here comes from dev.gloom.dropin, and from its package `other`.

  static final class PackagesProgram {
    public static void main(String[] args) throws Exception {
      System.out.println("from main: " + dev.gloom.dropin.other.Starter.start(() -> {}));
      Thread.startVirtualThread(
              () -> {
                System.out.println("own: " + WhereProgram.here());
                try {
                  System.out.println(
                      "from a virtual thread: " + dev.gloom.dropin.other.Starter.start(() -> {}));
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              })
          .join();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "exclude=dev.gloom.dropin.other, jdk, gloom, jdk",
    "include=dev.gloom.dropin, gloom, gloom, gloom",
    "include=dev.gloom.dropin.other, gloom, jdk, jdk", // what a left-out thread starts is left out
    "include=com.example, jdk, jdk, jdk",
    "'include=dev.gloom,exclude=dev.gloom.dropin.other', jdk, gloom, jdk",
  })
  void packages(String options, String fromMain, String own, String fromVirtual) throws Exception {
    var child = AgentJvm.run(List.of(agent(options)), PackagesProgram.class).succeeded();
    assertEquals(
        "from main: %s\nown: %s\nfrom a virtual thread: %s\n".formatted(fromMain, own, fromVirtual),
        child.out());
    assertEquals("", child.err());
  }

  // Observe.

  static final class HogProgram {
    public static void main(String[] args) throws Exception {
      int carriers = Integer.parseInt(args[0]);
      var stop = new CountDownLatch(1);
      for (int i = 0; i < carriers; i++) {
        Thread.ofVirtual().name("hog-" + i).start(() -> compute(stop));
      }
      for (int i = 0; i < 5; i++) {
        Thread.ofVirtual().name("victim").start(stop::countDown);
      }
      stop.await(Long.parseLong(args[1]), java.util.concurrent.TimeUnit.SECONDS);
      System.out.println("stopped=" + (1 - stop.getCount()));
    }

    private static void compute(CountDownLatch stop) {
      while (stop.getCount() != 0) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void observeTellsWhoHoldsTheCarriers() throws Exception {
    var child =
        AgentJvm.run(
            List.of(agent("mode=observe"), "-Djdk.virtualThreadScheduler.parallelism=2"),
            HogProgram.class,
            "2",
            "5");
    assertEquals("stopped=0\n", child.succeeded().out());
    List<String> lines = child.err().lines().toList();
    assertEquals(
        "gloom: observe: 5 virtual threads wait while all 2 carriers are held for 10 ms or more by",
        lines.get(0));
    assertTrue(
        lines.get(1).matches(" {2}#\\d+ \"hog-[01]\" on ForkJoinPool-1-worker-[12]"), child.err());
    assertTrue(child.err().contains("HogProgram.compute("), child.err());
    long reports = lines.stream().filter(l -> l.startsWith("gloom: observe")).count();
    assertTrue(reports >= 1 && reports <= 6, () -> reports + " reports in 5 s");
  }

  static final class BusyProgram {
    /// Short tasks without end, more than the carriers can do at once: nobody holds one.
    public static void main(String[] args) throws Exception {
      try (var executor = java.util.concurrent.Executors.newVirtualThreadPerTaskExecutor()) {
        for (int i = 0; i < 20; i++) {
          executor.execute(
              () -> {
                long end = System.nanoTime() + 3_000_000_000L;
                while (System.nanoTime() < end) {
                  Thread.yield();
                }
              });
        }
      }
    }
  }

  @Test
  void observeIsSilentWhileCarriersAreShared() throws Exception {
    var child =
        AgentJvm.run(
            List.of(agent("mode=observe"), "-Djdk.virtualThreadScheduler.parallelism=1"),
            BusyProgram.class);
    assertEquals("", child.succeeded().err());
  }
}
