package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// How many processors there are if nobody says.
@Timeout(20)
class CpusTest {
  @TempDir Path directory;

  private final Properties properties = new Properties();
  private String godebug = "";

  /// A JVM that counts so many CPUs, whose mask and quota are those of the directory.
  private Cpus cpus(int says, String... arguments) {
    properties.setProperty("gloom.cgroup", directory.toString());
    return Cpus.of(properties, Map.of("GODEBUG", godebug), new Jvm(says, arguments));
  }

  private record Jvm(int says, String[] arguments) implements Cpus.Jvm {}

  // Spec 12.8: min(CPUs, max(2, ceil(quota / period))). The JVM rounds otherwise: to 1.
  @ParameterizedTest
  @CsvSource({
    "8, max 100000, 8",
    "8, 50000 100000, 2",
    "8, 100000 100000, 2",
    "8, 150000 100000, 2",
    "8, 200000 100000, 2",
    "8, 200001 100000, 3",
    "8, 320000 100000, 4",
    "8, 800000 100000, 8",
    "8, 1600000 100000, 8",
    "8, 17592186044416 1, 8",
    "8, 0 100000, 2",
    "2, 320000 100000, 2",
    "1, 50000 100000, 1",
    "1, max 100000, 1",
    "8, garbage, 8"
  })
  void quotaBoundsTheCpusButNotBelowTwo(int mask, String quota, int expected) {
    FakeRoot.container(directory, mask).quota(quota);
    assertEquals(expected, cpus(1).now());
  }

  @Test
  void quotaIsReadAnewEachTime() {
    var root = FakeRoot.container(directory, 8).quota("300000 100000");
    var cpus = cpus(1);
    assertEquals(3, cpus.now());
    root.quota("500000 100000");
    assertEquals(5, cpus.now());
    root.delete("sys/fs/cgroup/cpu.max");
    assertEquals(8, cpus.now());
  }

  @Test
  void maskIsReadAnewEachTime() {
    var root = FakeRoot.container(directory, 8).quota("max 100000");
    var cpus = cpus(1);
    assertEquals(8, cpus.now());
    root.cpus("0-1,4", "0-7");
    assertEquals(3, cpus.now());
  }

  @Test
  void glanceSeesTheQuotaEachTimeAndTheMaskEveryTenth() {
    var root = FakeRoot.container(directory, 8).quota("300000 100000");
    var cpus = cpus(1);
    assertEquals(3, cpus.glance());
    root.quota("max 100000");
    assertEquals(8, cpus.glance());
    root.cpus("0-4", "0-7");
    for (int i = 0; i < 8; i++) {
      assertEquals(8, cpus.glance(), "glance " + i);
    }
    assertEquals(5, cpus.glance());
    root.cpus("0-5", "0-7");
    assertEquals(5, cpus.glance());
    assertEquals(6, cpus.now(), "whoever really wants to know");
    assertEquals(6, cpus.glance());
  }

  @Test
  void glanceSeesTheMaskWhenTheJvmSaysSomethingElse() {
    var root = FakeRoot.container(directory, 8);
    var says = new int[] {8};
    properties.setProperty("gloom.cgroup", directory.toString());
    var cpus =
        Cpus.of(
            properties,
            Map.of(),
            new Cpus.Jvm() {
              @Override
              public int says() {
                return says[0];
              }

              @Override
              public String[] arguments() {
                return new String[0];
              }
            });
    assertEquals(8, cpus.glance());
    root.cpus("0-3", "0-7");
    assertEquals(8, cpus.glance());
    says[0] = 4;
    assertEquals(4, cpus.glance());
  }

  @ParameterizedTest
  @CsvSource({
    "0-7, 0-7, 8",
    "3, 0-7, 1",
    "'0,2,4-6', 0-7, 5",
    "0-127, 0-3, 4", // the rest could be plugged in
    "'0-3,8-11', '0-1,8', 3"
  })
  void cpusThatCountAreInTheMaskAndOnLine(String allowed, String online, int expected) {
    FakeRoot.container(directory, 1).cpus(allowed, online);
    assertEquals(expected, cpus(1).now());
  }

  // Nothing to be learnt, or CPU numbers that do not fit: the JVM's figure is never too high.
  @ParameterizedTest
  @CsvSource({"'', 0-7", "x, 0-7", "7-, 0-7", "5-3, 0-7", "-3, 0-7", "4-5, 0-1", "0-7, ''"})
  void jvmStandsInForAMaskThatCannotBeRead(String allowed, String online) {
    FakeRoot.container(directory, 1).cpus(allowed, online);
    assertEquals(6, cpus(6).now());
  }

  @Test
  void otherSystemsHaveWhatTheJvmSays() {
    assertEquals(6, cpus(6).now());
    assertEquals(1, cpus(1).now());
  }

  @Test
  void statusThatIsCutOffIsNotRead() {
    FakeRoot.container(directory, 8).file("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-");
    assertEquals(3, cpus(3).now());
  }

  @Test
  void numberIsOneThatASchedulerTakes() {
    FakeRoot.container(directory, 1).cpus("0-2000000000", "0-2000000000");
    assertEquals(Knobs.MAX_PROCS_LIMIT, cpus(1).now());
  }

  // The user's word, above quota and mask, as in the JVM itself.
  @ParameterizedTest
  @CsvSource({
    "-XX:ActiveProcessorCount=5, 5",
    "-XX:ActiveProcessorCount=1, 1",
    "-XX:ActiveProcessorCount=20, 20",
    "-XX:ActiveProcessorCount=0x5, 5",
    "ActiveProcessorCount=5, 5" // from a file of flags
  })
  void activeProcessorCountIsTheNumber(String argument, int says) {
    FakeRoot.container(directory, 8).quota("300000 100000");
    assertEquals(says, cpus(says, "-Xmx1g", argument, "-ea").now());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-XX:ActiveProcessorCount=-1",
        "-XX:ActiveProcessorCount=0",
        "-Dx=-XX:ActiveProcessorCount=5",
        "-XX:+UseSerialGC"
      })
  void otherArgumentsSayNothing(String argument) {
    FakeRoot.container(directory, 8).quota("300000 100000");
    assertEquals(3, cpus(2, argument).now());
  }

  @Test
  void lastOfTwoFlagsCounts() {
    FakeRoot.container(directory, 8).quota("300000 100000");
    String flag = "-XX:ActiveProcessorCount=";
    assertEquals(6, cpus(6, flag + "-1", flag + "6").now());
    assertEquals(3, cpus(2, flag + "6", flag + "-1").now());
  }

  // GODEBUG.

  @ParameterizedTest
  @CsvSource({
    "'', '', 3, true",
    "containermaxprocs=0, '', 8, true",
    "updatemaxprocs=0, '', 3, false",
    "'x=1,containermaxprocs=0,updatemaxprocs=0', '', 8, false",
    "'containermaxprocs=1,updatemaxprocs=1', '', 3, true",
    "'containermaxprocs=off,updatemaxprocs', '', 3, true",
    "'', containermaxprocs=0, 8, true",
    "'', updatemaxprocs=0, 3, false",
    "containermaxprocs=0, containermaxprocs=1, 3, true", // the property counts first
    "containermaxprocs=0, updatemaxprocs=0, 8, false"
  })
  void godebugSwitchesTheQuotaAndItsUpdatesOff(
      String environment, String property, int expected, boolean updates) {
    FakeRoot.container(directory, 8).quota("300000 100000");
    godebug = environment;
    properties.setProperty("gloom.debug", property);
    var cpus = cpus(1);
    assertEquals(expected, cpus.now());
    assertEquals(updates, cpus.updates());
  }

  @Test
  void thisJvmAndMachine() {
    var cpus = Cpus.ofProcess();
    int jvm = Runtime.getRuntime().availableProcessors();
    int now = cpus.now();
    assertTrue(now >= Math.min(jvm, 2), () -> now + " of " + jvm);
    assertTrue(cpus.updates());
    assertFalse(now > Knobs.MAX_PROCS_LIMIT);
  }
}
