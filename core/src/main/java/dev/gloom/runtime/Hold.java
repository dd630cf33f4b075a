package dev.gloom.runtime;

import org.jspecify.annotations.Nullable;

/// What sysmon knows about the thread that holds a P: whether it sleeps there, or computes on and
/// on.
///
/// **Asleep**: the kernel says so at two looks at least 100 us apart, and in between the thread has
/// neither been put on a core nor taken another goroutine. One look would also catch a short wait
/// inside the JVM, or a loop of calls of 50 us. To ask costs more than all the rest of sysmon's
/// round, so one that computes is looked at when it has done so for 1, 3 and 8 ms, and then every
/// 5: it may sleep for as long until somebody notices.
///
/// **Burning**: it was asked to let others run, and has used a slice of CPU time since, on the same
/// goroutine; less if it is known that no check stops it ({@link Hogs#patienceNanos}). By the clock
/// on the wall, 8 Ps on 2 cores would lose their Ps merely for waiting for a core; then more
/// threads would run, and more would lose theirs.
final class Hold {
  private static final long LOOKS_APART_NANOS = 100_000;
  private static final long AWAKE_LOOKS_APART_NANOS = 5_000_000;
  private static final long RARE_LOOK_NANOS = 1_000_000_000;

  private long lookEveryNanos;
  private long nextLookNanos;

  private long dispatches = -1;
  private @Nullable M holder; // two threads can have been started equally often
  private long sinceNanos;

  /// How often the thread had been put on a core when it was first seen asleep.
  private long starts = Kernel.UNKNOWN;

  private long asleepSinceNanos;

  /// It was awake: no look before this time.
  private long awakeUntilNanos;

  private long askedDispatches = -1;
  private @Nullable M askedHolder;
  private long askedSinceNanos;
  private long askedCpuNanos;

  /// Whether the holder of `p` is asleep in the kernel. Nobody is asked before the same goroutine
  /// has been there for a while. Without patience the kernel is asked in any case.
  boolean isAsleep(P p, Kernel kernel, long now, long patienceNanos) {
    long d = p.dispatches();
    M m = p.holder;
    if (d != dispatches || m != holder) {
      dispatches = d;
      holder = m;
      sinceNanos = now;
      awakeUntilNanos = now;
      starts = Kernel.UNKNOWN;
    }
    if (now - sinceNanos < patienceNanos) {
      return false;
    }
    if (patienceNanos > 0 && !suspected() && now - awakeUntilNanos < 0) {
      return false;
    }
    if (m == null || !kernel.asleep(m.tid)) {
      starts = Kernel.UNKNOWN;
      awakeUntilNanos = now + Math.min(2 * (now - sinceNanos), AWAKE_LOOKS_APART_NANOS);
      return false;
    }
    long s = kernel.starts(m.tid);
    if (s != starts || s == Kernel.UNKNOWN) {
      starts = s;
      asleepSinceNanos = now;
      return false;
    }
    return now - asleepSinceNanos >= LOOKS_APART_NANOS;
  }

  /// Whether it was asleep at the last look, so that the next should come soon.
  boolean suspected() {
    return starts != Kernel.UNKNOWN;
  }

  /// The goroutine there has been asked to let others run.
  void asked(P p, Kernel kernel, long now) {
    M m = p.holder;
    if (askedDispatches != p.dispatches()
        || askedHolder != m
        || askedCpuNanos == Kernel.UNKNOWN) { // it could not be read then
      askedDispatches = p.dispatches();
      askedHolder = m;
      askedSinceNanos = now;
      askedCpuNanos = cpu(m, kernel);
    }
  }

  /// Whether it has used so much CPU time since.
  boolean burns(P p, Kernel kernel, long now, long nanos) {
    M m = p.holder;
    if (askedDispatches != p.dispatches() || askedHolder != m || now - askedSinceNanos < nanos) {
      return false;
    }
    long cpu = cpu(m, kernel);
    return askedCpuNanos != Kernel.UNKNOWN && cpu - askedCpuNanos >= nanos;
  }

  /// Whether the M of `p`, an orphan, runs at this moment. Looks once a slice, and ever more rarely
  /// at one that sleeps: there may be thousands.
  boolean isAwakeAgain(P p, Kernel kernel, long now, long sliceNanos) {
    if (lookEveryNanos == 0) {
      lookEveryNanos = sliceNanos;
      nextLookNanos = now + sliceNanos;
    }
    if (now - nextLookNanos < 0) {
      return false;
    }
    M m = p.holder;
    boolean awake = m != null && !kernel.asleep(m.tid);
    lookEveryNanos = awake ? sliceNanos : Math.min(2 * lookEveryNanos, RARE_LOOK_NANOS);
    nextLookNanos = now + lookEveryNanos;
    return awake;
  }

  /// Everything stood still: who was seen asleep has to be seen so twice again. (CPU time stands
  /// still too.)
  void forgetSleep() {
    dispatches = -1;
    starts = Kernel.UNKNOWN;
    holder = null;
  }

  private static long cpu(@Nullable M m, Kernel kernel) {
    return m == null ? Kernel.UNKNOWN : kernel.cpuNanos(m.tid);
  }
}
