package dev.gloom.runtime;

import org.jspecify.annotations.Nullable;

/// A goroutine that is locked to its thread: only that M runs it, and that M runs nothing else. For
/// native libraries that keep state in the OS thread, a window system or a graphics context.
///
/// The lock is two plain fields, {@link G#lockedM} and {@link M#lockedG}, and a count in the M. The
/// goroutine alone writes them, on its M. Whoever else reads `lockedM` has taken the goroutine from
/// a queue, and so sees what it wrote before it suspended.
///
/// ```
/// its M, after each suspension            whichever M takes the goroutine from a queue
/// L1 hands its P off (Idle.handOff)       H1 stops searching, if it did (FindWork)
/// L2 sleeps until `given` is not null     H2 joins the idle Ms; no P any more
/// L3 takes that P, runs the goroutine     H3 given = the P it had; unpark      (Idle.give)
/// ```
///
/// **Where it is asked.** A goroutine that is locked was last run by the M it is locked to. So only
/// an M that finds a goroutine whose last M is another one asks for `lockedM`: no cost to those
/// that stay where they are. The locked M itself asks `lockedG` after each run.
///
/// **One giver at a time.** A locked M is in no idle list, so nobody gives it a P except by H3. The
/// goroutine is in one queue at most, so one M comes to H3 with it; and it stays QUEUED until its
/// own M, at L3, has taken what was given, so there is no second H3 before that.
///
/// **H3 before L2, even before L1.** The goroutine can be queued, found and handed over while its M
/// is still on the way out of it. That M then has a P and is given another one. It hands its own
/// off and finds `given` set: it is volatile, and nobody but L3 clears it. An unpark that comes
/// before the park makes the park return.
///
/// **No lost wake-up.** At H3, and at L1 if the P goes to another M, the P is never in the idle
/// list: for everybody else it is busy all the while, as if one M had held it. Who relied on that
/// relies on the new holder, which looks at all queues before it lets the P go idle. The M that
/// gave it away need not look again: without a P it could run nothing. If at L1 there is nothing to
/// run, the P goes to the idle list, and its M looks around afterwards as every M does (I1 and I3
/// in {@link Idle}); but it cannot take the P back, so it wakes another. For sysmon too a P that is
/// handed on is a busy one: it does not sleep deeply, and what is in the P's queue is watched.
///
/// **A P that retires** meanwhile (maxProcs went down) runs the goroutine once more at most: L1
/// sees the request and empties it, or the next holder does, or it is not put into the idle list.
///
/// **The end.** When the goroutine ends locked, its thread is in a state that nobody knows: the M
/// hands its P off and ends. New threads come from the {@link Starter}, never from a locked one.
///
/// Go: `LockOSThread`, `stoplockedm`, `startlockedm`
public final class ThreadLock {
  private ThreadLock() {}

  /// Locks the calling goroutine to its thread, once more if it is. Nothing on any other thread.
  public static void lock() {
    G g = Sched.currentG();
    M m = M.current();
    if (g == null || m == null) {
      return;
    }
    if (m.lockCount == Integer.MAX_VALUE) {
      throw new IllegalStateException(
          "LockOSThread nesting overflow: locked "
              + m.lockCount
              + " times; unlock as often as you lock");
    }
    // No call from here on: all of it or, on a full stack, nothing.
    m.lockCount++;
    m.lockedG = g;
    g.lockedM = m;
  }

  /// Takes one lock back; the last one frees the goroutine and the thread. Nothing if there is
  /// none.
  public static void unlock() {
    G g = Sched.currentG();
    if (g == null) {
      return;
    }
    M m = g.lockedM;
    if (m != null && --m.lockCount == 0) {
      m.lockedG = null;
      g.lockedM = null;
    }
  }

  /// What `m`, which is locked to `g`, runs next: `g`, once it has its turn. Null if `g` has ended,
  /// and `m` with it.
  static @Nullable G next(M m, G g) {
    P p = m.p; // null if it was taken during a call
    assert !m.spinning : "locked and searching";
    if (g.ended()) {
      end(m, g, p);
      return null;
    }
    if (p != null) {
      if (p.queue.peekNext() == g && p.request == 0 && p.takeNext() == g) {
        p.inherit = true; // made ready before it was quite off its M, and it is its turn already
        return g;
      }
      letGo(m, p);
    }
    await(m);
    return g;
  }

  private static void end(M m, G g, @Nullable P p) {
    m.lockedG = null;
    g.lockedM = null;
    if (p != null) {
      letGo(m, p);
    }
    m.sched.threadEnds(); // after the P has gone: until then a closed scheduler is not at its end
  }

  private static void letGo(M m, P p) {
    if (p.free()) {
      m.p = null;
      m.sched.idle.handOff(p);
    } else {
      Orphans.abandon(m, p);
    }
  }

  private static void await(M m) {
    P p;
    while ((p = m.given) == null) {
      m.sched.parker.park();
      Thread.interrupted(); // an outsider's; pending, it would turn this loop into a spin
    }
    m.given = null;
    p.heldBy(m);
  }

  /// `m` has taken from a queue `g`, which `owner` has to run, and gives that one its P.
  static void handOver(M m, G g, M owner) {
    P p = m.p;
    assert p != null : "gives a P that it has not";
    assert !m.spinning : "gives its P while searching";
    if (p.free()) {
      m.sched.idle.give(m, p, owner);
    } else { // it has none to give
      m.sched.global.put(g);
      Orphans.exchange(m, p);
    }
  }
}
