package dev.gloom.runtime;

import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The state of the scheduler on standard error every few milliseconds, in Go's own format, so that
/// what people know, and the tools they have, work here:
///
/// ```
/// SCHED 1009ms: gomaxprocs=2 idleprocs=0 threads=4 spinningthreads=0 needspinning=0 idlethreads=1 runqueue=3 [ 0 12 ] schedticks=[ 120 87 ]
/// ```
///
/// With `scheddetail=1` a line for each P, M and G instead of the two lists. Sysmon prints it, and
/// does not sleep deeply meanwhile. It never waits for a goroutine, so what one waits for is told
/// without a look at its stack. Nothing is stopped: the numbers need not fit each other, as in Go.
///
/// What differs: of the goroutines only those that live are listed; Go lists the dead ones that it
/// keeps for reuse. The length of a local queue includes those that yielded on that P, which Go
/// sends to the global queue at once. There is no collector to wait for and no needspinning, so
/// these fields are constant, as are those of mechanisms that gloom does not have.
///
/// Go: `schedtrace`
final class Schedtrace {
  private static final long MILLI_NANOS = 1_000_000;

  private final Sched sched;
  private final Debug debug;

  // Sysmon only.
  private boolean started;
  private long startNanos;
  private long lastNanos;

  Schedtrace(Sched sched, Debug debug) {
    this.sched = sched;
    this.debug = debug;
  }

  /// Whether it prints at all.
  boolean on() {
    return debug.traces();
  }

  /// Prints if it is time to. For sysmon, each round.
  void look(long now) {
    if (on() && (!started || now - lastNanos >= debug.schedtraceMillis() * MILLI_NANOS)) {
      lastNanos = now;
      print(now, debug.scheddetail());
    }
  }

  /// Prints everything, at the end of a program that fails.
  void printAtTheEnd() {
    if (on()) {
      print(sched.clock.nanoTime(), true);
    }
  }

  private void print(long now, boolean detailed) {
    if (!started) {
      started = true;
      startNanos = now;
    }
    // One write, so that it is not torn apart by what others print.
    System.err.print(text((now - startNanos) / MILLI_NANOS, detailed));
  }

  String text(long millis, boolean detailed) {
    P[] ps = inUse(sched.procs().all);
    M[] ms = sched.ms();
    var text = new StringBuilder();
    text.append("SCHED ").append(millis).append("ms: gomaxprocs=").append(sched.maxProcs());
    text.append(" idleprocs=").append(sched.idle.idleProcs());
    text.append(" threads=").append(ms.length + 1); // and sysmon
    text.append(" spinningthreads=").append(sched.idle.searching()).append(" needspinning=0");
    text.append(" idlethreads=").append(sched.idle.idleMs());
    text.append(" runqueue=").append(sched.global.size());
    if (detailed) {
      text.append(" gcwaiting=false nmidlelocked=0 stopwait=0 sysmonwait=false\n");
      appendDetails(text, ps, ms);
    } else {
      text.append(" [ ");
      for (P p : ps) {
        text.append(queued(p)).append(' ');
      }
      text.append("] schedticks=[ ");
      for (P p : ps) {
        text.append(p.tick).append(' ');
      }
      text.append("]\n");
    }
    return text.toString();
  }

  private void appendDetails(StringBuilder text, P[] ps, M[] ms) {
    G[] gs = sched.registry.snapshot();
    Arrays.sort(gs, Comparator.comparingLong(g -> g.id));
    Map<P, M> holders = new HashMap<>();
    for (M m : ms) {
      P p = m.p;
      if (p != null) {
        holders.put(p, m);
      }
    }
    Map<M, G> running = new HashMap<>();
    for (G g : gs) {
      M m = g.runsOn();
      if (m != null) {
        running.put(m, g);
      }
    }
    for (P p : ps) {
      append(text, p, holders.get(p));
    }
    boolean sysmonToCome = true;
    for (int i = ms.length - 1; i >= 0; i--) { // newest first
      if (sysmonToCome && ms[i].mid < sched.sysmon.mid()) {
        sysmonToCome = false;
        appendSysmon(text);
      }
      append(text, ms[i], running.get(ms[i]));
    }
    if (sysmonToCome) {
      appendSysmon(text);
    }
    for (G g : gs) {
      append(text, g);
    }
  }

  private static void append(StringBuilder text, P p, @Nullable M m) {
    text.append("  P").append(p.id).append(": status=").append(m == null ? 0 : 1);
    text.append(" schedtick=").append(p.tick).append(" syscalltick=0");
    text.append(" m=").append(m == null ? "nil" : String.valueOf(m.mid));
    text.append(" runqsize=").append(queued(p)).append(" gfreecnt=0");
    text.append(" timerslen=").append(p.timers.size()).append('\n');
  }

  private static void append(StringBuilder text, M m, @Nullable G running) {
    P p = m.p;
    text.append("  M").append(m.mid).append(": p=").append(p == null ? "nil" : p.id);
    text.append(" curg=").append(running == null ? "nil" : String.valueOf(running.id));
    text.append(" mallocing=0 throwing=0 preemptoff= locks=0 dying=0 spinning=").append(m.spinning);
    G locked = m.lockedG;
    text.append(" blocked=").append(m.inIdleList).append(" lockedg=");
    text.append(locked == null ? "nil" : String.valueOf(locked.id)).append('\n');
  }

  private void appendSysmon(StringBuilder text) {
    text.append("  M").append(sched.sysmon.mid());
    text.append(": p=nil curg=nil mallocing=0 throwing=0 preemptoff= locks=0 dying=0");
    text.append(" spinning=false blocked=false lockedg=nil\n");
  }

  private static void append(StringBuilder text, G g) {
    G.Status status = g.status();
    M m = g.runsOn();
    text.append("  G").append(g.id).append(": status=").append(number(status)).append('(');
    text.append(status == G.Status.WAITING ? Waits.quick(g) : "").append(") m=");
    M locked = g.lockedM;
    text.append(m == null ? "nil" : String.valueOf(m.mid)).append(" lockedm=");
    text.append(locked == null ? "nil" : String.valueOf(locked.mid)).append('\n');
  }

  /// Go's numbers.
  private static int number(G.Status status) {
    return switch (status) {
      case IDLE -> 0;
      case RUNNABLE -> 1;
      case RUNNING -> 2;
      case SYSCALL -> 3;
      case WAITING -> 4;
      case DEAD -> 6;
    };
  }

  private static P[] inUse(P[] all) {
    return Arrays.stream(all)
        .filter(p -> !p.retired)
        .sorted(Comparator.comparingInt(p -> p.id))
        .toArray(P[]::new);
  }

  private static int queued(P p) {
    return p.queue.size() + p.yielded.size();
  }
}
