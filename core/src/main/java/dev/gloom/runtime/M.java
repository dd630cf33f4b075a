package dev.gloom.runtime;

import dev.gloom.jdk.Carrier;
import dev.gloom.jdk.Thrown;
import dev.gloom.jdk.Vthread;
import org.jspecify.annotations.Nullable;

/// A machine: an OS thread that, while it holds a P, finds goroutines and runs them. Without a P it
/// sleeps in Idle's list until somebody gives it one.
///
/// Go: `m`, `schedule`, `execute`, `goexit0`
final class M extends Thread {
  /// As long as the JDK waits: each try without success costs a full collection or two.
  private static final long OUT_OF_MEMORY_NANOS = 100_000_000;

  final Sched sched;
  final int mid;

  /// The kernel's number of this thread; 0 if it is not known. Written at the start, before it
  /// holds a P.
  int tid;

  /// The P this M holds; its own.
  @Nullable P p;

  /// The P that this M had when the call began in which its goroutine is now; null if it is in
  /// none. Its own. See Blocking.
  @Nullable P left;

  /// Whether its goroutine runs although this M has no P, and has been counted; its own.
  boolean overcommitted;

  /// Set by `execute` when it comes from this M, on the way out of the running G's task: it
  /// yielded, or was woken before it was quite parked.
  boolean requeue;

  /// Set by a check on the way to suspend its goroutine; its own.
  boolean stepsBack;

  /// When a goroutine without a P last tried to get one here, at a check; its own.
  long triedNanos;

  /// Whether this M counts as one that searches; its own.
  boolean spinning;

  /// The P that somebody gave this sleeping M, and whether it starts as a searcher.
  volatile @Nullable P given;

  boolean givenSpinning; // published by given

  /// Whether it is in the kernel, waiting for sockets, or about to be: waking it then takes more
  /// than an unpark. See Idle.rouse.
  volatile boolean inPoll;

  static final int NOTHING = 0;
  static final int INTO_RING = 1;
  static final int INTO_GLOBAL = 2;

  /// Whether it makes a batch of goroutines runnable that it found in the poller, and where they
  /// go; its own.
  int delivers;

  /// Set under Idle's lock: the scheduler needs this thread no more.
  volatile boolean ending;

  /// The goroutine that is locked to this thread, and how often; written by that goroutine, on this
  /// thread. Nothing else runs here then. See ThreadLock.
  @Nullable G lockedG;

  int lockCount;

  // Guarded by Idle's lock.
  @Nullable M idleNext;
  @Nullable M idlePrevious;
  boolean inIdleList;

  /// Whether this M, asleep, is one of too many; written under Idle's lock, before it sleeps.
  volatile boolean expires;

  M(Sched sched, int mid, P first, boolean spinning) {
    // No inherited thread locals: goroutines come and go here.
    super(null, null, sched.name + "-m" + mid, 0, false);
    setDaemon(true);
    this.sched = sched;
    this.mid = mid;
    this.given = first;
    this.givenSpinning = spinning;
  }

  /// The M under the calling code, mounted goroutine or not; null on any other thread.
  static @Nullable M current() {
    return Carrier.current() instanceof M m ? m : null;
  }

  @Override
  public void run() {
    tid = sched.kernel.thisThread();
    try {
      G g = next();
      while (g != null) {
        M owner = g.lastM == this ? null : g.lockedM;
        if (owner == null) {
          dispatch(g);
        } else {
          ThreadLock.handOver(this, g, owner);
        }
        g = null; // or an M that sleeps would keep its last goroutine from the collector
        g = next();
      }
    } catch (Throwable e) {
      sched.fatal.bug(getName(), e);
    }
  }

  /// The goroutine to run now; null if this thread is to end.
  private @Nullable G next() {
    G locked = lockedG;
    return locked == null ? FindWork.next(this) : ThreadLock.next(this, locked);
  }

  /// Runs `g` until it suspends, and then sees to what that leaves to do.
  private void dispatch(G g) {
    P p = this.p;
    assert p != null : "dispatch without a P";
    assert !spinning : "dispatch while searching";
    if (p.inherit) {
      p.inherited++;
    } else {
      p.tick++;
    }
    if (g.lastM != this) {
      p.moved++;
      g.lastM = this;
    }
    g.setRunning();
    requeue = false;
    boolean ran = true;
    try {
      ran = sched.mount.resume(g.thread());
    } catch (Throwable e) {
      escaped(g, e);
    }

    if (left != null) {
      Blocking.leave(this); // it suspended in the middle of a call
    }
    P now = this.p;
    if (now != null && now.status == P.ORPHAN) {
      if (stepsBack) {
        now.stoppedAtChecks++;
      }
      Orphans.abandon(this, now);
    }

    // This M alone has g until its word leaves RUNNING.
    if ((ran || requeue) && Vthread.yielded(g.thread())) {
      g.setQueued();
      yielded(g);
    } else if (requeue) {
      stillWanted(g);
    } else if (Vthread.terminated(g.thread())) {
      g.setDead();
      sched.registry.remove(g);
    } else if (!g.setIdle()) {
      stillWanted(g);
    } else if (g.reclaim()) {
      sched.ready(this, g);
    }
    if (this.p == null) {
      withoutP();
    }
  }

  /// Its P was taken while its goroutine held this thread.
  private void withoutP() {
    if (overcommitted) {
      overcommitted = false;
      sched.overcommitted.getAndDecrement();
    }
    Hogs.leaves();
    if (lockedG == null) {
      sched.idle.comeBack(this);
    }
  }

  /// Something came out of the task of `g`. If it has ended, that is what its uncaught handler
  /// threw, and ignored, as the JVM does for a platform thread. If there was no memory for the
  /// timer of a timed park, this M waits until there is, as the JDK does when it cannot queue a
  /// thread: nobody else can wake that goroutine. Anything else is a bug.
  private void escaped(G g, Throwable e) {
    Thread thread = g.thread();
    Throwable escaped = e;
    while (!Vthread.terminated(thread)) {
      if (!(escaped instanceof OutOfMemoryError && Vthread.halfParked(thread))) {
        throw Thrown.unchecked(escaped);
      }
      sched.parker.parkNanos(OUT_OF_MEMORY_NANOS);
      try {
        Vthread.finishParking(thread);
        return;
      } catch (Throwable again) {
        escaped = again;
      }
    }
  }

  /// Behind everybody else.
  private void yielded(G g) {
    P p = this.p;
    boolean atCheck = stepsBack;
    stepsBack = false;
    if (p == null) {
      sched.global.put(g);
      sched.idle.wake();
    } else if ((p.request & P.PREEMPT) != 0) {
      preempted(p, g, atCheck);
    } else {
      p.putYielded(g);
      sched.publishedInRing();
    }
  }

  /// To the tail of the global queue itself, behind those that yielded here before: it has had its
  /// slice. One that a check stopped leaves its run-next to run now, as in Go: that is somebody it
  /// woke. At a scheduling point run-next goes to the back too, there it may be a chain of
  /// goroutines that start each other; but it goes before the one that yields.
  private void preempted(P p, G g, boolean atCheck) {
    if (atCheck) {
      p.stoppedAtChecks++;
      p.served(P.PREEMPT);
    } else {
      p.stoppedAtPoints++;
      FindWork.servePreemption(sched, p); // before it: run-next was there first
    }
    p.flushYielded(Integer.MAX_VALUE);
    sched.global.put(g);
    sched.idle.wake();
  }

  /// It suspended, and is to run again at once.
  private void stillWanted(G g) {
    g.settle();
    g.setQueued();
    sched.ready(this, g);
  }
}
