package dev.gloom.runtime;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// How much CPU time the kernel lets this process's container have: the quota of its cgroup.
///
/// The cgroup is looked for once: `proc/self/cgroup` has its path, `proc/self/mountinfo` says where
/// that hierarchy is mounted. A version 1 hierarchy with the controller `cpu` comes first, else it
/// is the one of version 2; both can be there, and only one has the controller. A mount may show a
/// part of the hierarchy only (its *root*); the path begins with that part then, or the mount is
/// not ours. Inside a cgroup namespace both are `/`.
///
/// As in Go, only this cgroup counts, not those above it (in a container they cannot be seen), and
/// a process that is moved to another one is not followed.
///
/// The quota is read anew each time, and its files opened anew. Once a second on an idle machine,
/// with everything cold, that takes 100 us (4 if it is all warm); files that are kept open, as in
/// Go, take 15. But then a controller that is switched on later would not be seen (systemd does
/// that when it is told a quota), and nobody would close them. Whatever cannot be read or
/// understood is no limit: this is asked by the scheduler, which must go on. It is asked at every
/// start too: no `+` of strings here, its machinery costs a cold JVM milliseconds.
///
/// Go: `internal/runtime/cgroup`
final class CpuQuota {
  /// What {@link #limit()} answers if there is none.
  static final double NONE = Double.POSITIVE_INFINITY;

  /// Two numbers of 64 bits, and some.
  private static final int MOST_BYTES = 64;

  /// The file with the quota, in version 2 with the period too; null if there is no cgroup.
  private final @Nullable File quota;

  /// The file with the period in version 1.
  private final @Nullable File period;

  /// Whether the quota could not be read last time. Then it is looked for before it is opened: an
  /// exception, each second, costs more.
  private volatile boolean missing;

  /// The quota of this process, whose `proc` and mount points are found below `root`.
  CpuQuota(Path root) {
    String cgroups = read(root.resolve("proc/self/cgroup"));
    String path = path(cgroups, true);
    boolean v1 = path != null;
    if (path == null) {
      path = path(cgroups, false);
    }
    String place = path == null ? null : place(read(root.resolve("proc/self/mountinfo")), path, v1);
    File directory = place == null ? null : new File(root.toFile(), place);
    quota = directory == null ? null : new File(directory, v1 ? "cpu.cfs_quota_us" : "cpu.max");
    period = directory == null || !v1 ? null : new File(directory, "cpu.cfs_period_us");
  }

  /// How many cores' time it may use, on average; {@link #NONE} if as much as there is.
  double limit() {
    if (quota == null || (missing && !quota.exists())) {
      return NONE;
    }
    String first = line(quota);
    missing = first == null;
    if (first == null || first.isEmpty() || !Character.isDigit(first.charAt(0))) {
      return NONE; // "max" or -1 most of the time
    }
    if (period != null) {
      return cores(first, line(period));
    }
    int space = first.indexOf(' ');
    return space < 0 ? NONE : cores(first.substring(0, space), first.substring(space + 1));
  }

  private static double cores(String quota, @Nullable String period) {
    try {
      long of = period == null ? 0 : Long.parseLong(period);
      return of <= 0 ? NONE : (double) Long.parseLong(quota) / of;
    } catch (NumberFormatException _) {
      return NONE;
    }
  }

  /// The first line of a file; null if there is none.
  private static @Nullable String line(File file) {
    var bytes = new byte[MOST_BYTES];
    try (var in = new FileInputStream(file)) {
      int n = in.read(bytes);
      String text = new String(bytes, 0, Math.max(n, 0), StandardCharsets.ISO_8859_1);
      int end = text.indexOf('\n');
      return end < 0 ? null : text.substring(0, end);
    } catch (IOException | RuntimeException _) {
      return null;
    }
  }

  /// The path of this process in the hierarchy with the CPU controller, from lines such as
  /// `4:cpu,cpuacct:/a/b` (version 1) and `0::/a/b` (version 2).
  private static @Nullable String path(String cgroups, boolean v1) {
    for (String line : cgroups.split("\n")) {
      int first = line.indexOf(':');
      int second = line.indexOf(':', first + 1);
      if (first < 0 || second < 0 || !line.startsWith("/", second + 1)) {
        continue;
      }
      boolean unified = line.substring(0, first).equals("0");
      if (v1 ? !unified && hasCpu(line.substring(first + 1, second)) : unified) {
        return line.substring(second + 1);
      }
    }
    return null;
  }

  /// Where the cgroup `path` is in the file system, from lines such as
  ///
  /// ```
  /// 36 35 98:0 /root /mount/point rw,noatime shared:1 - cgroup2 cgroup2 rw,nsdelegate
  /// ```
  ///
  /// with any number of words before the dash.
  private static @Nullable String place(String mounts, String path, boolean v1) {
    for (String line : mounts.split("\n")) {
      int dash = line.indexOf(" - ");
      if (dash < 0) {
        continue;
      }
      String[] mount = line.substring(0, dash).split(" ");
      String[] system = line.substring(dash + 3).split(" ");
      if (mount.length < 6 || system.length < 3) {
        continue;
      }
      if (v1 ? !system[0].equals("cgroup") || !hasCpu(system[2]) : !system[0].equals("cgroup2")) {
        continue;
      }
      String below = below(unescape(mount[3]), path);
      if (below != null) {
        return unescape(mount[4]).concat(below);
      }
    }
    return null;
  }

  /// What of `path` lies below `root`; null if it is elsewhere.
  private static @Nullable String below(String root, String path) {
    String prefix = root.equals("/") ? "" : root;
    if (!path.startsWith(prefix)) {
      return null;
    }
    String rest = path.substring(prefix.length());
    // A step upwards leads out of the mount: a process that sees a namespace from outside has these
    // in its path and in the roots of the mounts, and another mount begins with all of them.
    boolean inside = rest.isEmpty() || rest.startsWith("/");
    return inside && !rest.contains("/../") && !rest.endsWith("/..") ? rest : null;
  }

  private static boolean hasCpu(String list) {
    for (String word : list.split(",")) {
      if (word.equals("cpu")) {
        return true;
      }
    }
    return false;
  }

  /// Replaces `\040` and the like, with which mountinfo writes blanks in paths.
  private static String unescape(String path) {
    int escape = path.indexOf('\\');
    if (escape < 0) {
      return path;
    }
    var text = new StringBuilder();
    int from = 0;
    while (escape >= 0 && escape + 4 <= path.length()) {
      text.append(path, from, escape);
      try {
        text.append((char) Integer.parseInt(path, escape + 1, escape + 4, 8));
      } catch (NumberFormatException _) {
        text.append(path, escape, escape + 4);
      }
      from = escape + 4;
      escape = path.indexOf('\\', from);
    }
    return text.append(path, from, path.length()).toString();
  }

  /// The whole file; nothing if it cannot be read.
  static String read(Path file) {
    try (var in = new FileInputStream(file.toFile())) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException | RuntimeException _) {
      return "";
    }
  }
}
