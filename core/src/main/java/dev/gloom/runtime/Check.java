package dev.gloom.runtime;

/// A preemption check: what loops and recursive methods of one application class call while that
/// class is armed. Layer 2 of preemption; the agent puts the calls there.
///
/// It may act wherever the code could park, and only
///
/// - on a goroutine: platform threads fall through, and so does an M on its own stack, or under a
///   goroutine that the JDK has put aside for a moment (then the current thread is the carrier);
/// - whose P is asked to stop ({@link P#PREEMPT}), or that runs without a P;
/// - which is not {@link Undisturbed}.
///
/// While a class is armed its loops come here each time round, and almost always for nothing: the
/// {@link StopSign} says so with one read.
///
/// gloom's own classes have no checks in them, and none of them calls the application inside a
/// section: so a check never runs in the middle of the scheduler.
///
/// **Pinned.** A native frame, a class initialiser or a pinned section of the JDK's make the yield
/// fail, harmlessly. It is then not tried again in that slice: the request is taken back. Monitors
/// and locks are no obstacle, as they are none to a kernel that preempts a thread.
///
/// **Nothing escapes.** No memory or no stack for the yield is as good as pinned. A loop knows
/// nothing of the call in it, so whatever that throws would come out of nowhere. (There must be
/// stack for the call itself: some hundred bytes.)
///
/// The one that stops goes to the tail of the global queue, as in Go, and its processor goes on
/// with its run-next; see {@link M}.
///
/// Go: `asyncPreempt`, `gopreempt_m`
public final class Check {
  /// When a goroutine was last stopped by a check of this class, by `System.nanoTime`. Written by
  /// goroutines, read by the agent, a little late.
  private volatile long stoppedNanos;

  /// Whether one ever was.
  private volatile boolean stoppedAny;

  /// A check of one class.
  public Check() {}

  /// Called at back-edges while the class is armed: answers whether anybody is to stop, and stops
  /// the caller if it is to `stop` and is the one. Small, since it becomes part of loops: all but
  /// {@link #act} is to be inlined, so that only the one that stops makes a call.
  public boolean here(boolean stop) {
    if (!stop) {
      return Hogs.SIGN.isRaised();
    }
    try {
      if (Hogs.SIGN.isRaised() && isAsked()) {
        act();
      }
    } catch (StackOverflowError | OutOfMemoryError e) {
      // At another time then.
    }
    return false;
  }

  private static boolean isAsked() {
    M m = M.current();
    if (m == null) {
      return false;
    }
    P p = m.p;
    return p == null ? m.overcommitted : (p.request & P.PREEMPT) != 0;
  }

  /// When it last stopped one, if it ever did; else `otherwise`.
  public long lastStop(long otherwise) {
    return stoppedAny ? stoppedNanos : otherwise;
  }

  private void act() {
    G g = Sched.currentG();
    M m = M.current(); // after that call: it may have been moved
    if (m == null || g == null || g.undisturbed || !isAsked()) {
      return;
    }
    P p = m.p;
    g.stopsLate = p == null || p.status == P.ORPHAN;
    stoppedNanos = System.nanoTime();
    stoppedAny = true;
    if (p == null) {
      withoutP(m);
    } else {
      stepBack(m, p);
    }
  }

  private static void stepBack(M m, P p) {
    m.stepsBack = true;
    try {
      m.sched.mount.suspendRunnable();
    } finally {
      // Its M has cleared the mark if it was suspended. If it is on this M and the mark is there,
      // nobody else has run here meanwhile: it could not.
      if (M.current() == m && m.stepsBack) {
        m.stepsBack = false;
        p.served(P.PREEMPT);
        Hogs.cannotStop(p);
      }
    }
  }

  /// It runs beyond maxProcs: it gets a P or waits for one. Tried once a slice, since it may be
  /// pinned.
  private static void withoutP(M m) {
    long now = System.nanoTime();
    if (now - m.triedNanos >= m.sched.hogs.sliceNanos()) {
      m.triedNanos = now;
      Sched.preemptionPoint();
    }
  }
}
