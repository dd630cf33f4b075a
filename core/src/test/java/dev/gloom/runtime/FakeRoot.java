package dev.gloom.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/// A directory laid out like the root of a Linux system, as far as CPUs and cgroups go.
public final class FakeRoot {
  public final Path path;

  public FakeRoot(Path path) {
    this.path = path;
  }

  /// A container with cgroup version 2, in a namespace of its own, with this many CPUs.
  public static FakeRoot container(Path path, int cpus) {
    return new FakeRoot(path)
        .cpus("0-" + (cpus - 1), "0-" + (cpus - 1))
        .file("proc/self/cgroup", "0::/\n")
        .file(
            "proc/self/mountinfo",
            """
            22 1 8:1 / / rw,relatime - ext4 /dev/root rw
            25 21 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate
            """);
  }

  /// The affinity mask, and which CPUs are on line.
  public FakeRoot cpus(String allowed, String online) {
    return file(
            "proc/self/status",
            "Name:\tjava\nCpus_allowed:\tff\nCpus_allowed_list:\t%s\nMems_allowed:\t1\n"
                .formatted(allowed))
        .file("sys/devices/system/cpu/online", online + "\n");
  }

  /// The container's cpu.max.
  public FakeRoot quota(String max) {
    return file("sys/fs/cgroup/cpu.max", max + "\n");
  }

  /// Writes a file; whoever reads it meanwhile gets the old text or the new one.
  public FakeRoot file(String name, String text) {
    try {
      Path file = path.resolve(name);
      Files.createDirectories(file.getParent());
      Path draft = Files.writeString(file.resolveSibling("." + file.getFileName()), text);
      Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public void delete(String name) {
    try {
      Files.delete(path.resolve(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
