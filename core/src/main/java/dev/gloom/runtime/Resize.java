package dev.gloom.runtime;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;

/// Changes the number of Ps while goroutines run. Go stops the world for it; here nobody stops who
/// does not have to.
///
/// **More**: new Ps join the idle list, and a searcher is woken for them.
///
/// **Fewer**: idle Ps go at once. For the rest there is a demand, not a choice: the first Ms that
/// come by, to look for work or because they have none, lose their P ({@link Idle#retires}, {@link
/// Idle#release}), so a goroutine that computes for long holds nothing up as long as enough others
/// do not. The M gives the P's goroutines to the front of the global queue and its alarms to
/// another P. A P that is gone never comes back: an M or a thief that still knows it finds it
/// empty, and its timer heap refuses what comes too late.
///
/// The change is over when the demand is met: then no more goroutines run than asked for. Whoever
/// passes no scheduling point at all would keep the caller for ever, so it waits only so long; such
/// a goroutine then loses its P when it does come by.
///
/// Go: `procresize`, `stopTheWorldGC`
final class Resize {
  /// Long enough for whoever computes between two scheduling points.
  private static final long PATIENCE_NANOS = 1_000_000_000;

  private static final long LOOK_NANOS = 100_000;
  private static final long OUT_OF_MEMORY_NANOS = 100_000_000;

  private final Sched sched;

  /// One change at a time. Never taken on the ready path.
  private final ReentrantLock lock = new ReentrantLock();

  /// Whether somebody has said how many processors there are to be; then the number stays. Written
  /// under the lock. Go: `customGOMAXPROCS`
  private volatile boolean custom;

  Resize(Sched sched, boolean custom) {
    this.sched = sched;
    this.custom = custom;
  }

  /// To the caller's own number; answers the one before.
  int to(int n) {
    Headroom.checkAhead(); // from here on nothing may stop half way
    lock.lock();
    try {
      custom = true;
      return change(n);
    } finally {
      lock.unlock();
    }
  }

  /// Back to what {@link Cpus} says, now and in future; answers it.
  int toDefault() {
    Headroom.check();
    lock.lock();
    try {
      custom = false;
      change(sched.cpus.now());
      return sched.procs().max;
    } finally {
      lock.unlock();
    }
  }

  /// To what {@link Cpus} says now, unless the number is somebody's own.
  void follow() {
    lock.lock();
    try {
      if (!custom) {
        change(sched.cpus.now());
      }
    } finally {
      lock.unlock();
    }
  }

  /// Whether the number is to be kept at what {@link Cpus} says. A hint for those without the lock.
  boolean follows() {
    return !custom && sched.cpus.updates();
  }

  private int change(int n) {
    int before = sched.procs().max;
    if (n > before) {
      grow(n);
    } else if (n < before) {
      shrink(n);
    }
    return before;
  }

  private void grow(int n) {
    int before = sched.procs().max;
    dropRetired(before);
    P[] made;
    int kept;
    do { // what is short of memory fails before anything has changed
      kept = Math.min(n - before, sched.idle.surplus());
      made = newProcs(sched.procs().all, n - before - kept);
    } while (!sched.idle.keep(kept)); // those that were to go, and have not yet, stay
    P[] more = made;
    P[] all = replace(was -> new Sched.Procs(joined(was.all, more), n, was.orphans, was.gone)).all;
    sched.idle.add(more, 0);
    if (before == 1) {
      for (P p : all) {
        p.ask(P.TELL);
      }
    }
    sched.idle.wake();
  }

  private void shrink(int n) {
    P idleOnes = sched.idle.retire(sched.procs().max - n);
    // Only now: with as many idle as there are to be, all would look idle. And a P that takes an
    // orphan's place later sees what retire has noted.
    P[] all = replace(was -> new Sched.Procs(was.all, n, was.orphans, was.gone)).all;
    if (sched.idle.surplus() > 0) {
      for (P p : all) {
        p.ask(P.RETIRE | P.PREEMPT);
        if (Blocking.take(p)) {
          sched.idle.handOff(p); // its M is in a call and does not come by
        }
      }
    }
    for (P p = idleOnes; p != null; p = p.link) {
      moveAlarms(p);
    }
    awaitRetired();
    dropRetired(n);
  }

  /// Without memory it waits for some: what Idle has counted cannot be taken back.
  private Sched.Procs replace(UnaryOperator<Sched.Procs> change) {
    for (; ; ) {
      try {
        return sched.procs(change);
      } catch (OutOfMemoryError e) {
        LockSupport.parkNanos(this, OUT_OF_MEMORY_NANOS);
      }
    }
  }

  /// The caller may be a goroutine, which lets go of its own P by waiting.
  private void awaitRetired() {
    long until = sched.clock.nanoTime() + PATIENCE_NANOS;
    boolean interrupted = false;
    while (sched.idle.surplus() > 0 && until - sched.clock.nanoTime() > 0) {
      LockSupport.parkNanos(this, LOOK_NANOS);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void dropRetired(int n) {
    Set<P> retired = new HashSet<>();
    for (P p : sched.procs().all) {
      if (p.retired) {
        retired.add(p);
      }
    }
    sched.procs(
        was -> {
          var gone = new Totals(was.gone);
          retired.forEach(gone::addSlot);
          return new Sched.Procs(without(was.all, retired), n, was.orphans, gone);
        });
  }

  static P[] without(P[] ps, Set<P> out) {
    return Arrays.stream(ps).filter(p -> !out.contains(p)).toArray(P[]::new);
  }

  private static P[] joined(P[] ps, P[] more) {
    P[] all = Arrays.copyOf(ps, ps.length + more.length);
    System.arraycopy(more, 0, all, ps.length, more.length);
    return all;
  }

  /// Gives the alarms of a P that is out of use to others. Each is told of at once if it is the
  /// first to ring there: with a million of them, moving all takes longer than some have left.
  void moveAlarms(P p) {
    for (Alarm a = p.timers.close(); a != null; ) {
      Alarm next = a.link;
      a.link = null;
      if (addToAny(a) == TimerHeap.Added.EARLIEST) {
        sched.idle.armed(a.when);
      }
      a = next;
    }
  }

  /// Without memory it waits for some: nobody else knows this alarm any more.
  private TimerHeap.Added addToAny(Alarm alarm) {
    for (; ; ) {
      try {
        return sched.addToAny(alarm);
      } catch (OutOfMemoryError e) {
        LockSupport.parkNanos(this, OUT_OF_MEMORY_NANOS);
      }
    }
  }

  /// So many Ps beside those that exist.
  P[] newProcs(P[] existing, int n) {
    P[] made = new P[n];
    var ids = new BitSet(existing.length + n);
    for (P p : existing) {
      ids.set(p.id);
    }
    for (int i = 0; i < n; i++) {
      int id = ids.nextClearBit(0); // the least that is free
      ids.set(id);
      made[i] = new P(sched, id, new TimerHeap());
    }
    return made;
  }
}
