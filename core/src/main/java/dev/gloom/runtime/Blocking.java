package dev.gloom.runtime;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/// A call that holds its thread: a system call, native code, a file. Whoever announces it lets
/// others have the P meanwhile.
///
/// A short call should cost next to nothing, so the P is not given away but left lying: its status
/// says BLOCKED, and whoever wants it takes it by a CAS. If nobody did, the M has it back by a CAS
/// of its own. Sysmon takes it when the call has lasted a round and somebody waits, or after 10 ms
/// in any case; a change of maxProcs takes it too. A call that is known to last gives the P away at
/// once.
///
/// ```
/// M                                        who takes it
/// E1 CAS HELD -> BLOCKED                   T1 CAS BLOCKED -> FREE; from here on it is its own
/// E2 m.p = null, m.left = p                T2 hands it to another M (Idle.handOff)
///    ... the call ...
/// X1 CAS BLOCKED -> HELD: m.p = p
/// X2 else an idle P, or the back of the line
/// ```
///
/// **One writer.** The rings of a P belong to its holder. From E1 to X1 the M has no P *for any
/// purpose*: what the call starts, wakes or arms goes to the global queue and to any heap, since
/// `execute`, `go` and alarms ask for `m.p`. So between T1 and X1, of which one wins, there is one
/// writer. What the M wrote before is published by E1, and between E1 and E2 it does nothing.
///
/// **An orphan.** If E1 fails, sysmon has given the P's slot to a new one ({@link Orphans}): the M
/// says good-bye to it, and makes the call without.
///
/// That the P which X1 gets back may have been somebody else's meanwhile, and is left lying by that
/// one now, does no harm: a BLOCKED P belongs to whoever takes it.
///
/// **What is called may be any Java**: it may park, yield or call this again. A goroutine that
/// suspends inside leaves the call first, on its M ({@link M#dispatch}); when it goes on it has a P
/// as any other has, and the end of the call finds nothing to do.
///
/// **Without a P.** If X2 finds none, the goroutine suspends as if it had yielded, into the global
/// queue, and its M sleeps. If it cannot suspend, since it is pinned, it goes on without a P until
/// it next can: *overcommitted*.
///
/// Go: `entersyscall`, `entersyscallblock`, `exitsyscall`, `retake`
public final class Blocking {
  private Blocking() {}

  /// Makes a call that may hold the calling thread, from a goroutine or any other thread.
  public static <T extends @Nullable Object> T call(Callable<T> body, boolean lasts)
      throws Exception {
    M m = M.current();
    P p = m == null ? null : m.p;
    if (m == null || p == null || !Thread.currentThread().isVirtual()) {
      return body.call(); // no goroutine, or one that has no P to give: inside another such call
    }
    if (lasts) {
      enterForLong(m, p);
    } else {
      enter(m, p);
    }
    try {
      return body.call();
    } finally {
      exit();
    }
  }

  /// Begins a call that holds its thread, for code that cannot be handed over; if it answers true,
  /// {@link #end} has to follow. Under the agent, calls of the JDK come here.
  public static boolean begin() {
    M m = M.current();
    P p = m == null ? null : m.p;
    if (m == null || p == null || !Thread.currentThread().isVirtual()) {
      return false;
    }
    enter(m, p);
    return true;
  }

  /// Ends it.
  public static void end() {
    exit();
  }

  private static void enter(M m, P p) {
    p.calls++;
    if (p.casStatus(P.HELD, P.BLOCKED)) { // E1; no call from here on, on a full stack
      m.left = p; // E2
      m.p = null;
    } else {
      enterAsOrphan(m, p);
    }
  }

  private static void enterAsOrphan(M m, P p) {
    Headroom.checkAhead();
    Orphans.abandon(m, p);
    m.left = p;
  }

  private static void enterForLong(M m, P p) {
    Headroom.check(); // the P must reach somebody
    p.calls++;
    if (p.free()) {
      m.left = p;
      m.p = null;
      m.sched.idle.handOff(p);
    } else {
      enterAsOrphan(m, p);
    }
  }

  private static void exit() {
    M m = M.current(); // another one, if it was suspended meanwhile
    if (m != null && m.left != null && !leave(m)) {
      resumeWithoutP(m);
    }
  }

  /// X1: takes back the P that `m` left, if nobody else has; the call is over for `m` in any case.
  static boolean leave(M m) {
    P p = m.left;
    if (p == null || p.status != P.BLOCKED || !p.casStatus(P.BLOCKED, P.HELD)) {
      m.left = null; // only after the CAS, for which a full stack may have no room
      return false;
    }
    m.left = null; // no call from here on, on a full stack
    p.holder = m;
    m.p = p;
    return true;
  }

  /// X2, on the goroutine's stack.
  private static void resumeWithoutP(M m) {
    try {
      m.sched.overcommitted.getAndIncrement();
      m.overcommitted = true; // also if there is no room for more: then the next scheduling point
      Hogs.SIGN.raise();
      Sched.getP(m);
    } catch (StackOverflowError | OutOfMemoryError e) {
      // No room to suspend: it goes on as it is, and the call has its result.
    }
  }

  /// Makes `p` the caller's, to hand it on, if its M has left it lying.
  static boolean take(P p) {
    return p.status == P.BLOCKED && p.casStatus(P.BLOCKED, P.FREE);
  }
}
