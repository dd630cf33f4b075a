package dev.gloom.runtime;

import java.util.Arrays;
import java.util.Comparator;

/// All goroutines of a scheduler in text, in the shape of Go's dump:
///
/// ```
/// goroutine 7 [chan receive, 3 minutes]:
/// Main.consume(...)
/// 	Main.java:12
/// created by Main.main in goroutine 1
/// 	Main.java:5
/// ```
///
/// The one that asks comes first, then the others as they were started. The stack of one that runs
/// is shown too, which Go cannot do. The world is not stopped: each goroutine is seen at a moment
/// of its own. Whoever asks may have to wait for those that run to reach a safepoint, so sysmon
/// never does.
///
/// Go: `tracebackothers`, `goroutineheader`
public final class Dump {
  private static final long MINUTE_NANOS = 60_000_000_000L;

  /// Where Go cuts a dump too.
  private static final int MAX_CHARS = 64 << 20;

  private Dump() {}

  /// The dump of `sched`.
  public static String of(Sched sched) {
    G current = Sched.currentG();
    G[] all = sched.registry.snapshot();
    Arrays.sort(
        all,
        Comparator.comparing((G g) -> g != current).thenComparing((G a, G b) -> compareIds(a, b)));
    var text = new StringBuilder();
    int left = all.length;
    for (G g : all) {
      if (text.length() > MAX_CHARS) {
        text.append("\n...").append(left).append(" goroutines elided...\n");
        break;
      }
      int before = text.length();
      if (before > 0) {
        text.append('\n');
      }
      if (!append(text, g)) {
        text.setLength(before);
      }
      left--;
    }
    return text.toString();
  }

  /// Of everything that gloom runs in this process.
  static String ofAll() {
    var text = new StringBuilder();
    for (Sched sched : Sched.LIVE) {
      String some = of(sched);
      if (!some.isEmpty()) {
        text.append(text.isEmpty() ? "" : "\n").append(some);
      }
    }
    return text.toString();
  }

  private static int compareIds(G a, G b) {
    return Long.compare(a.id, b.id);
  }

  /// False if it has ended meanwhile.
  private static boolean append(StringBuilder text, G g) {
    StackTraceElement[] stack = g.thread().getStackTrace();
    G.Status status = g.status();
    if (status == G.Status.DEAD) {
      return false;
    }
    text.append("goroutine ").append(g.id).append(" [");
    appendState(text, g, status, stack);
    text.append("]:\n");
    Frames.append(text, stack);
    Frames.appendCreatedBy(text, g);
    return true;
  }

  private static void appendState(
      StringBuilder text, G g, G.Status status, StackTraceElement[] stack) {
    String word = status == G.Status.WAITING ? Waits.of(g, stack) : "";
    text.append(word.isEmpty() ? status.text() : word);
    if (status == G.Status.WAITING || status == G.Status.SYSCALL) {
      long minutes = g.waitedNanos() / MINUTE_NANOS;
      if (minutes >= 1) {
        text.append(", ").append(minutes).append(" minutes");
      }
    }
    if (g.lockedM != null) {
      text.append(", locked to thread");
    }
  }
}
