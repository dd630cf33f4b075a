package dev.gloom.runtime;

import dev.gloom.jdk.Vm;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/// How many processors a scheduler has that was told nothing.
///
/// 1. `-XX:ActiveProcessorCount=N`: N. It is the user's word, and the JVM itself then looks at
///    nothing else.
/// 2. Else the CPUs that this process may run on (its affinity mask, without those that are off
///    line), but not more than max(2, ceil(quota / period)) of its container ({@link CpuQuota}).
/// 3. On a system that does not tell: what the JVM says.
///
/// The JVM's own figure is not enough: it knows the quota, but rounds one of half a core to 1,
/// where Go says 2 (with one processor, a goroutine that computes holds up all others); and if
/// there was no quota when the JVM started, it may never look for one. But without a flag it is
/// never more than the mask has, so a mask that counts less has been misread, as under a file
/// system that shows a container CPU numbers of its own; then the JVM's figure stands in for it.
///
/// `GODEBUG=containermaxprocs=0` leaves out the quota, `updatemaxprocs=0` stops following it; both
/// can be said in the property `gloom.debug` too, which counts first. `gloom.cgroup` names a
/// directory to take for the root of the file system, for tests.
///
/// Go: `defaultGOMAXPROCS`, `getCPUCount`
final class Cpus {
  private static final int LEAST_BY_QUOTA = 2;
  private static final int GLANCES = 9;
  private static final String TOLD = "ActiveProcessorCount=";

  private final Path root;
  private final boolean heedsQuota;
  private final boolean updates;
  private final Jvm jvm;

  /// Made at the first question: a scheduler with a number of its own never asks.
  private volatile @Nullable Found found;

  /// What does not change, once it is found. Two threads that race find the same.
  private record Found(boolean told, @Nullable CpuQuota quota) {}

  /// The mask as it was read last. Two threads that race may lose the count of a glance.
  private volatile @Nullable Mask mask;

  /// A mask of so many CPUs, what the JVM said then, and how often it has been relied on.
  private record Mask(int says, int cpus, int glances) {}

  /// What the JVM knows.
  interface Jvm {
    /// The running one.
    Jvm THIS =
        new Jvm() {
          @Override
          public int says() {
            return Runtime.getRuntime().availableProcessors();
          }

          @Override
          public String[] arguments() {
            return Vm.arguments();
          }
        };

    /// How many CPUs it counts.
    int says();

    /// The options it was started with.
    String[] arguments();
  }

  /// CPUs as the files below `root` tell.
  Cpus(Path root, boolean heedsQuota, boolean updates, Jvm jvm) {
    this.root = root;
    this.heedsQuota = heedsQuota;
    this.updates = updates;
    this.jvm = jvm;
  }

  /// Those of this process.
  static Cpus ofProcess() {
    return of(System.getProperties(), System.getenv(), Jvm.THIS);
  }

  static Cpus of(Properties properties, Map<String, String> environment, Jvm jvm) {
    return new Cpus(
        Path.of(properties.getProperty("gloom.cgroup", "/")),
        isOn(properties, environment, "containermaxprocs"),
        isOn(properties, environment, "updatemaxprocs"),
        jvm);
  }

  /// Off only if it is said to be 0; a word that is no number says nothing, as in Go.
  private static boolean isOn(Properties properties, Map<String, String> environment, String key) {
    String value = Debug.value(properties.getProperty("gloom.debug", ""), key);
    if (value == null) {
      value = Debug.value(environment.getOrDefault("GODEBUG", ""), key);
    }
    try {
      return value == null || Integer.parseInt(value) != 0;
    } catch (NumberFormatException _) {
      return true;
    }
  }

  /// Whether a scheduler is to look again from time to time.
  boolean updates() {
    return updates;
  }

  /// The number now. Throws nothing but what the JVM itself throws when it has no memory.
  int now() {
    int says = jvm.says();
    return number(says, mask(says));
  }

  /// The same, for somebody who asks once a second for ever: takes the mask for unchanged while the
  /// JVM's figure is, nine times out of ten (a quota can hide a change of the mask from the JVM).
  /// Reading it costs a JVM that is idle, and so cold, half a millisecond; the rest a third of
  /// that.
  int glance() {
    int says = jvm.says();
    Mask last = mask;
    if (last == null || last.says != says || last.glances == GLANCES) {
      return number(says, mask(says));
    }
    mask = new Mask(says, last.cpus, last.glances + 1);
    return number(says, last.cpus);
  }

  private int number(int says, int cpus) {
    Found known = found;
    if (known == null) {
      known = new Found(told(jvm.arguments()), heedsQuota ? new CpuQuota(root) : null);
      found = known;
    }
    int procs = says;
    if (!known.told) {
      procs = Math.max(says, cpus);
      if (known.quota != null) {
        double limit = Math.max(Math.ceil(known.quota.limit()), LEAST_BY_QUOTA);
        procs = (int) Math.min(procs, limit);
      }
    }
    return Math.clamp(procs, 1, Knobs.MAX_PROCS_LIMIT);
  }

  /// Whether the last `-XX:ActiveProcessorCount` says a number; a file of flags has it without the
  /// first characters. The JVM takes 0 and less for "not told".
  private static boolean told(String[] arguments) {
    boolean told = false;
    for (String argument : arguments) {
      int at = argument.startsWith("-XX:") ? "-XX:".length() : 0;
      if (argument.startsWith(TOLD, at)) {
        String value = argument.substring(at + TOLD.length());
        told = !value.equals("0") && !value.startsWith("-");
      }
    }
    return told;
  }

  private int mask(int says) {
    int cpus = mask();
    mask = new Mask(says, cpus, 0);
    return cpus;
  }

  /// How many CPUs that are on line this process may run on; 0 if the system does not tell. Those
  /// that could be plugged in are in the mask too.
  private int mask() {
    String status = CpuQuota.read(root.resolve("proc/self/status"));
    String key = "\nCpus_allowed_list:";
    int start = status.indexOf(key);
    int end = status.indexOf('\n', start + 1);
    if (start < 0 || end < 0) {
      return 0;
    }
    BitSet cpus = list(status.substring(start + key.length(), end));
    cpus.and(list(CpuQuota.read(root.resolve("sys/devices/system/cpu/online"))));
    return cpus.cardinality();
  }

  /// A list such as `0-3,8`; nothing if it is malformed.
  private static BitSet list(String text) {
    var cpus = new BitSet();
    try {
      for (String part : text.strip().split(",")) {
        int dash = part.indexOf('-');
        int first = Integer.parseInt(dash < 0 ? part : part.substring(0, dash));
        int last = Integer.parseInt(part.substring(dash + 1));
        cpus.set(first, Math.min(last, Knobs.MAX_PROCS_LIMIT) + 1);
      }
      return cpus;
    } catch (IllegalArgumentException | IndexOutOfBoundsException _) {
      return new BitSet();
    }
  }
}
