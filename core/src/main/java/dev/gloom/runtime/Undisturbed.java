package dev.gloom.runtime;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/// Code that is not to be preempted: it keeps its processor, however long it runs, until it waits,
/// yields or ends. For what relies on running undisturbed, or measures itself.
///
/// Only the goroutine itself writes its mark, so there is nothing to race with.
public final class Undisturbed {
  /// Whether any goroutine ever was; then sysmon has to look.
  private static volatile boolean used;

  private Undisturbed() {}

  static boolean used() {
    return used;
  }

  /// Makes a call that is not preempted. On a thread that is no goroutine it is just a call.
  public static <T extends @Nullable Object> T call(Callable<T> body) throws Exception {
    G g = Sched.currentG();
    if (g == null || g.undisturbed) {
      return body.call();
    }
    used = true;
    g.undisturbed = true;
    try {
      return body.call();
    } finally {
      g.undisturbed = false;
      Sched.preemptionPoint(); // its slice may be long over
    }
  }

  /// Marks a goroutine that has not started: it is never preempted.
  public static G always(G g) {
    used = true;
    g.undisturbed = true;
    return g;
  }
}
