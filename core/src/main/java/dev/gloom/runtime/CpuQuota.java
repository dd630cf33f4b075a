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
/// The quota is read anew each time, and its files opened anew: 10 us. Keeping them open would save
/// half of that, once a second; but a controller that is switched on later, as systemd does when it
/// is told a quota, would not be seen, and files that nobody closes would stay open. Whatever
/// cannot be read or understood is no limit: this is asked by the scheduler, which must go on.
///
/// Go: `internal/runtime/cgroup`
final class CpuQuota {
  /// What {@link #limit()} answers if there is none.
  static final double NONE = Double.POSITIVE_INFINITY;

  /// Two numbers of 64 bits, and some.
  private static final int MOST_BYTES = 64;

  private static final String V1_QUOTA = "cpu.cfs_quota_us";
  private static final String V1_PERIOD = "cpu.cfs_period_us";
  private static final String V2_QUOTA = "cpu.max";

  /// The cgroup's directory; null if there is none.
  private final @Nullable File directory;

  private final boolean v1;

  /// The quota of this process, whose `proc` and mount points are found below `root`.
  CpuQuota(Path root) {
    String cgroups = read(root.resolve("proc/self/cgroup"));
    String path = path(cgroups, true);
    v1 = path != null;
    if (path == null) {
      path = path(cgroups, false);
    }
    String place = path == null ? null : place(read(root.resolve("proc/self/mountinfo")), path, v1);
    directory = place == null ? null : new File(root.toFile(), place);
  }

  /// How many cores' time it may use, on average; {@link #NONE} if as much as there is.
  double limit() {
    if (directory == null) {
      return NONE;
    }
    if (!v1) {
      return parse(start(V2_QUOTA));
    }
    String quota = start(V1_QUOTA);
    return quota == null || quota.startsWith("-") ? NONE : parse(quota + " " + start(V1_PERIOD));
  }

  /// Quota and period, with a space between. "max" and everything else that is no number: none.
  private static double parse(@Nullable String text) {
    int space = text == null ? -1 : text.indexOf(' ');
    if (text == null || space < 0) {
      return NONE;
    }
    try {
      long quota = Long.parseLong(text.substring(0, space));
      long period = Long.parseLong(text.substring(space + 1));
      return quota < 0 || period <= 0 ? NONE : (double) quota / period;
    } catch (NumberFormatException _) {
      return NONE;
    }
  }

  /// The first line of one of the cgroup's files; null if there is none.
  private @Nullable String start(String name) {
    var bytes = new byte[MOST_BYTES];
    try (var in = new FileInputStream(new File(directory, name))) {
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
        return unescape(mount[4]) + below;
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
    return inside && !(rest + "/").contains("/../") ? rest : null;
  }

  private static boolean hasCpu(String list) {
    return ("," + list + ",").contains(",cpu,");
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
