package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.gloom.Gloom;
import dev.gloom.runtime.FakeRoot;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A JVM in a cgroup that this test makes, with a quota that this test changes. Where it is not
/// allowed to, it says so and counts as skipped.
@Timeout(120)
class CgroupTest {
  private static final Path V1 = Path.of("/sys/fs/cgroup/cpu");
  private static final Path V2 = Path.of("/sys/fs/cgroup");

  @TempDir Path directory;
  private Path group;
  private boolean v1;
  private Process process;

  @BeforeEach
  void makeGroup() throws Exception {
    v1 = Files.exists(V1.resolve("cpu.cfs_quota_us"));
    group = (v1 ? V1 : V2).resolve("gloom-test-" + ProcessHandle.current().pid());
    try {
      Files.createDirectory(group);
      quota(50_000);
    } catch (IOException e) {
      String message = "CgroupTest NOT RUN: cannot make a cgroup with a CPU quota here: " + e;
      removeGroup();
      System.out.println(message);
      abort(message);
    }
  }

  @AfterEach
  void removeGroup() throws Exception {
    if (process != null) {
      process.destroyForcibly().waitFor();
    }
    Lab.await(
        "the cgroup is empty and goes",
        () -> {
          try {
            return Files.deleteIfExists(group) || true;
          } catch (IOException _) {
            return false;
          }
        });
  }

  /// Of a period of 100 ms; 0 for none.
  private void quota(int micros) throws IOException {
    if (v1) {
      write("cpu.cfs_period_us", "100000");
      write("cpu.cfs_quota_us", micros == 0 ? "-1" : "" + micros);
    } else {
      write("cpu.max", (micros == 0 ? "max" : micros) + " 100000");
    }
  }

  /// Fails if there is no such file: then this is no cgroup, or one without the CPU controller.
  private void write(String name, String text) throws IOException {
    Files.writeString(group.resolve(name), text, StandardOpenOption.WRITE);
  }

  private Path out() {
    return directory.resolve("out");
  }

  /// Starts the program in the group.
  private void start(String... jvmArgs) throws Exception {
    var command =
        new ArrayList<>(List.of("/bin/sh", "-c", "echo $$ > \"$0\"/cgroup.procs && exec \"$@\""));
    command.add(group.toString());
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add(ChildJvm.OPEN);
    command.addAll(List.of(jvmArgs));
    command.add("-cp");
    command.add(place(Gloom.class) + File.pathSeparator + place(CgroupProgram.class));
    command.add(CgroupProgram.class.getName());
    command.add(directory.resolve("stop").toString());
    process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(out().toFile())
            .start();
  }

  private static Path place(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  private void says(String... lines) {
    Lab.await(
        String.join(" ", lines) + " in " + out(),
        () -> {
          try {
            return Files.readString(out()).equals(String.join("\n", lines) + "\n");
          } catch (IOException _) {
            return false;
          }
        });
  }

  private void ends() throws Exception {
    Files.createFile(directory.resolve("stop"));
    assertEquals(0, process.waitFor(), Files.readString(out()));
  }

  // The JVM makes one CPU of half of one.
  @Test
  void halfACoreIsTwoProcessorsWhereTheJvmSaysOne() throws Exception {
    int cpus = Runtime.getRuntime().availableProcessors();
    start();
    says("jvm=1", "procs=" + Math.min(cpus, 2));
    ends();
    says("jvm=1", "procs=" + Math.min(cpus, 2), "rescues=0");
  }

  @Test
  void theFlagOfTheJvmIsHonoured() throws Exception {
    start("-XX:ActiveProcessorCount=1");
    says("jvm=1", "procs=1");
    ends();
    says("jvm=1", "procs=1", "rescues=0");
  }

  // The cgroup and its files are the kernel's; only the number of CPUs is made up, for machines
  // with few.
  @Test
  void changeOfTheQuotaIsFollowed() throws Exception {
    var root = new FakeRoot(directory).cpus("0-7", "0-7");
    Path self = directory.resolve("proc/self");
    Files.createSymbolicLink(self.resolve("cgroup"), Path.of("/proc/self/cgroup"));
    Files.createSymbolicLink(self.resolve("mountinfo"), Path.of("/proc/self/mountinfo"));
    Files.createSymbolicLink(root.path.resolve("sys/fs"), Path.of("/sys/fs"));
    start("-Dgloom.cgroup=" + directory, "-XX:ActiveProcessorCount=-1");
    says("jvm=1", "procs=2");
    quota(320_000);
    says("jvm=1", "procs=2", "procs=4");
    quota(0);
    says("jvm=1", "procs=2", "procs=4", "procs=8");
    quota(150_000);
    says("jvm=1", "procs=2", "procs=4", "procs=8", "procs=2");
    ends();
    says("jvm=1", "procs=2", "procs=4", "procs=8", "procs=2", "rescues=0");
  }
}
