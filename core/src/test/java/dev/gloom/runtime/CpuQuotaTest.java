package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The quota is found wherever the system keeps it. Layouts as in Go's `TestParseCPUMount` and
/// `TestParseCPUCgroup`.
@Timeout(20)
class CpuQuotaTest {
  private static final String V2 =
      "25 21 0:22 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
  private static final String V1 =
      """
      49 22 0:37 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
      55 22 0:39 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
      56 22 0:40 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 master:1 - cgroup cgroup rw,cpu,cpuacct
      """;

  @TempDir Path directory;
  private FakeRoot root;

  @BeforeEach
  void empty() {
    root =
        new FakeRoot(directory)
            .file("decoy/cpu.max", "100000 100000\n")
            .file("sys/fs/cgroup/cpuset/cpu.cfs_quota_us", "100000\n")
            .file("sys/fs/cgroup/cpuset/cpu.cfs_period_us", "100000\n");
  }

  private CpuQuota quota(String cgroups, String mounts) {
    root.file("proc/self/cgroup", cgroups)
        .file("proc/self/mountinfo", "22 1 8:1 / / rw,relatime - ext4 /dev/root rw\n" + mounts);
    return new CpuQuota(directory);
  }

  private void v1(String group, String quota, String period) {
    root.file(group + "/cpu.cfs_quota_us", quota + "\n");
    root.file(group + "/cpu.cfs_period_us", period + "\n");
  }

  // Where it is.

  @Test
  void version2InANamespaceOfItsOwn() {
    root.file("sys/fs/cgroup/cpu.max", "320000 100000\n");
    assertEquals(3.2, quota("0::/\n", V2).limit());
  }

  @Test
  void version2Nested() {
    root.file("sys/fs/cgroup/a.slice/b c.scope/cpu.max", "50000 100000\n");
    root.file("sys/fs/cgroup/a.slice/cpu.max", "10000 100000\n");
    assertEquals(0.5, quota("0::/a.slice/b c.scope\n", V2).limit(), "only the leaf, as in Go");
  }

  @Test
  void version1() {
    v1("sys/fs/cgroup/cpu,cpuacct", "150000", "100000");
    assertEquals(1.5, quota("7:cpuset:/\n4:cpu,cpuacct:/\n", V1).limit());
  }

  @Test
  void version1Nested() {
    v1("sys/fs/cgroup/cpu,cpuacct/docker/abc", "400000", "200000");
    assertEquals(2, quota("4:cpuacct,cpu:/docker/abc\n", V1).limit());
  }

  // A container without a namespace: its own part of the hierarchy is mounted at the usual place.
  @Test
  void version1WithAMountOfOnlyOnePart() {
    v1("sys/fs/cgroup/cpu", "250000", "100000");
    String mounts =
        """
        56 22 0:40 /docker/ab /decoy rw - cgroup cgroup rw,cpu
        56 22 0:40 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu
        """;
    assertEquals(2.5, quota("4:cpu:/docker/abc\n", mounts).limit());
  }

  @Test
  void hybridWithTheControllerInVersion1() {
    v1("sys/fs/cgroup/cpu,cpuacct/pod", "300000", "100000");
    root.file("sys/fs/cgroup/unified/pod/cpu.max", "100000 100000\n");
    String unified = "57 22 0:41 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    assertEquals(3, quota("0::/pod\n4:cpu,cpuacct:/pod\n", unified + V1).limit());
    assertEquals(3, quota("4:cpu,cpuacct:/pod\n0::/pod\n", V1 + unified).limit());
  }

  @Test
  void hybridWithTheControllerInVersion2() {
    root.file("sys/fs/cgroup/unified/pod/cpu.max", "700000 100000\n");
    String mounts =
        "49 22 0:37 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
            + "57 22 0:41 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    assertEquals(7, quota("7:cpuset:/pod\n1:name=systemd:/x\n0::/pod\n", mounts).limit());
  }

  @Test
  void firstMountThatHasTheGroupCounts() {
    root.file("sys/fs/cgroup/container/cpu.max", "200000 100000\n");
    String mounts =
        """
        25 21 0:22 /sand /decoy rw - cgroup2 cgroup2 rw
        25 21 0:22 /sandbox/container/group /decoy rw - cgroup2 cgroup2 rw
        25 21 0:22 /sandbox /sys/fs/cgroup rw - cgroup2 cgroup2 rw
        25 21 0:22 / /decoy rw - cgroup2 cgroup2 rw
        """;
    assertEquals(2, quota("0::/sandbox/container\n", mounts).limit());
  }

  // What a process sees that joined a namespace from outside.
  @Test
  void pathThatLeadsOutOfTheNamespace() {
    root.file("sys/fs/cgroup/init.scope/cpu.max", "200000 100000\n");
    root.file("mnt/init.scope/cpu.max", "900000 100000\n");
    String mounts =
        """
        29 61 0:26 /../.. /mnt rw - cgroup2 cgroup2 rw
        29 22 0:26 /../../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw
        """;
    assertEquals(2, quota("0::/../../../init.scope\n", mounts).limit());
    assertEquals(CpuQuota.NONE, quota("0::/../../../../init.scope\n", mounts).limit());
  }

  @Test
  void pathsWithBlanks() {
    root.file("sys/a tab\there/back\\slash/cpu.max", "200000 100000\n");
    String mounts = "25 21 0:22 / /sys/a\\040tab\\011here rw - cgroup2 cgroup2 rw\n";
    assertEquals(2, quota("0::/back\\slash\n", mounts).limit());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "\n", "0\n", "0:\n", "0::\n", "0::relative\n", "4:cpuset:/\n", "x:y:z\n"})
  void noGroupOfCpus(String cgroups) {
    root.file("sys/fs/cgroup/cpu.max", "100000 100000\n");
    root.file("sys/fs/cgroup/relative/cpu.max", "100000 100000\n");
    assertEquals(CpuQuota.NONE, quota(cgroups, V2 + V1).limit());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "\n",
        "garbage\n",
        " - \n",
        "25 21 - cgroup2\n",
        "25 21 0:22 / /sys/fs/cgroup rw - ext4 cgroup2 rw\n",
        "25 21 0:22 / /sys/fs/cgroup/\\1 rw - cgroup2 cgroup2 rw\n",
        "25 21 0:22 / /sys/fs/cgroup/\\9zz rw - cgroup2 cgroup2 rw\n"
      })
  void noMountOfIt(String mounts) {
    root.file("sys/fs/cgroup/cpu.max", "100000 100000\n");
    assertEquals(CpuQuota.NONE, quota("0::/\n", mounts).limit());
  }

  @Test
  void garbageBetweenTheLinesIsPassedOver() {
    root.file("sys/fs/cgroup/cpu.max", "200000 100000\n");
    assertEquals(2, quota("??\n0::/\n", "garbage\n - \n" + V2).limit());
  }

  @Test
  void otherSystemsHaveNoneOfTheseFiles() {
    assertEquals(CpuQuota.NONE, new CpuQuota(directory.resolve("nothing")).limit());
  }

  // What it says.

  @ParameterizedTest
  @CsvSource({
    "max 100000",
    "max",
    "''",
    "100000",
    "-1 100000",
    "100000 0",
    "100000 -100000",
    "100000  100000",
    "1e5 100000",
    "many 100000",
    "100000 100000 1",
    "99999999999999999999 100000",
    "'100000 100000                                                         '"
  })
  void textThatIsNoLimit(String max) {
    root.file("sys/fs/cgroup/cpu.max", max + "\n");
    assertEquals(CpuQuota.NONE, quota("0::/\n", V2).limit());
  }

  @Test
  void textWithoutAnEndIsNoLimit() {
    root.file("sys/fs/cgroup/cpu.max", "100000 100000");
    assertEquals(CpuQuota.NONE, quota("0::/\n", V2).limit());
  }

  @ParameterizedTest
  @CsvSource({"-1, 100000", "100000, 0", "x, 100000", "100000, x", "'', ''", "100000, -1"})
  void numbersOfVersion1ThatAreNoLimit(String quota, String period) {
    v1("sys/fs/cgroup/cpu,cpuacct", quota, period);
    assertEquals(CpuQuota.NONE, quota("4:cpu,cpuacct:/\n", V1).limit());
  }

  // While it runs.

  @Test
  void changeIsSeenAtTheNextRead() {
    var quota = quota("0::/\n", V2);
    assertEquals(CpuQuota.NONE, quota.limit(), "no controller yet");
    root.file("sys/fs/cgroup/cpu.max", "200000 100000\n");
    assertEquals(2, quota.limit());
    root.file("sys/fs/cgroup/cpu.max", "800000 100000\n");
    assertEquals(8, quota.limit());
    root.file("sys/fs/cgroup/cpu.max", "max 100000\n");
    assertEquals(CpuQuota.NONE, quota.limit());
    root.file("sys/fs/cgroup/cpu.max", "50000 100000\n");
    assertEquals(0.5, quota.limit());
    root.delete("sys/fs/cgroup/cpu.max");
    assertEquals(CpuQuota.NONE, quota.limit(), "vanished");
  }

  @Test
  void fileOfVersion1MayVanish() {
    v1("sys/fs/cgroup/cpu,cpuacct", "200000", "100000");
    var quota = quota("4:cpu,cpuacct:/\n", V1);
    assertEquals(2, quota.limit());
    root.delete("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us");
    assertEquals(CpuQuota.NONE, quota.limit());
    root.delete("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us");
    assertEquals(CpuQuota.NONE, quota.limit());
  }

  @Test
  void directoryInPlaceOfTheFileIsNoLimit() {
    root.file("sys/fs/cgroup/cpu.max/inside", "x");
    assertEquals(CpuQuota.NONE, quota("0::/\n", V2).limit());
  }
}
