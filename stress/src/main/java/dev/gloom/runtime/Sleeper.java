package dev.gloom.runtime;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// A goroutine that parks until two conditions hold.
class Sleeper {
  private static final Sched SCHED = new Sched(2, Knobs.ofProcess());

  volatile boolean first;
  volatile boolean second;

  private final Duration patience;
  private final G g;

  /// If it still sleeps after so many milliseconds, nobody will wake it.
  Sleeper(long patienceMillis) {
    patience = Duration.ofMillis(patienceMillis);
    g = Spawn.go(SCHED, "", this::body);
  }

  private Object body() {
    while (!first || !second) {
      LockSupport.park();
    }
    return this;
  }

  final Thread thread() {
    return g.thread();
  }

  final String outcome() {
    try {
      if (!g.join(patience)
          && (g.status() == G.Status.WAITING || !g.join(patience.multipliedBy(20)))) {
        return "LOST";
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return SCHED.counters().rescues() == 0 ? "ended" : "RESCUED";
  }
}
