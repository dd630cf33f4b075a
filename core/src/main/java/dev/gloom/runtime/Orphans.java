package dev.gloom.runtime;

import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Takes a P from an M that does not let go of it: the goroutine there blocks in native code, waits
/// while it is pinned, or computes and passes no scheduling point. Nobody announced it, and nothing
/// can be asked of that M now.
///
/// Only the holder of a P writes into its rings, and this holder may be doing so at any moment: it
/// comes back from its call and makes a goroutine ready. So nobody fights over the P. Its **slot**
/// gets a new P, with the same number and the same timer heap, and the old one becomes an orphan
/// that its M fills and empties alone.
///
/// ```
/// sysmon                                     the M
/// O1 CAS status HELD -> ORPHAN               puts into the orphan's ring, as ever
/// O2 new P in the slot, orphan in the list   A1 notices: at its next dispatch, scheduling point,
/// O3 asks the goroutine to stop                 announced call, or when it would let go of the P
/// O4 takes what is there, as a thief         A2 empties the orphan into the global queue
/// O5 hands the new P to another M            A3 status = ABANDONED, then wakes somebody for it
///    each round: O4 again                    A4 takes an idle P, or waits for one
/// U  ABANDONED? out of the list
/// ```
///
/// **Nothing is lost.** There is no last look by others: what the M puts into the ring after O4
/// would be seen by nobody. The orphan can be seen by thieves and by whoever looks around before it
/// sleeps from before its slot has another P (O2 replaces both lists at once) until A3, and after
/// A2 nobody puts anything there. `OrphanStress` shows it; its twin, which looks once and forgets
/// the orphan, loses goroutines. Nobody steals while there is other work, so sysmon empties orphans
/// each round.
///
/// **One P a slot.** O1 and every other way out of HELD are a CAS: what its M gives away, leaves
/// for a call or lets retire cannot become an orphan, and of an orphan the M cannot do any of that.
/// So a slot has one P that can be held. An orphan is never used again.
///
/// **How many run.** The goroutine of an orphan may run on, without a P: *overcommitted*. That is
/// seen from outside only, when somebody asks ({@link #awake}). It has been asked to stop at O3, so
/// at its next scheduling point it takes an idle P or waits its turn. How many are made so because
/// they compute is bounded; one that sleeps in the kernel takes nothing from anybody.
///
/// **Alarms** belong to the slot, under a lock of their own. If the slot goes (maxProcs went down),
/// its heap is closed, and what the orphan's M arms goes to any other.
///
/// Go: `retake`, `handoffp`. Go itself cannot do this: there a P is taken only in announced calls.
final class Orphans {
  private static final long OUT_OF_MEMORY_NANOS = 100_000_000;

  private final Sched sched;

  // Sysmon only.
  private final RunQueue scratch = new RunQueue();
  private volatile long takenBlocked;
  private volatile long takenBurning;

  Orphans(Sched sched) {
    this.sched = sched;
  }

  /// O1 to O5; false if its M let go of `p` meanwhile. For sysmon.
  boolean take(P p, boolean burning) {
    P fresh = new P(sched, p.id, p.timers); // without memory nothing has happened
    fresh.status = P.FREE;
    fresh.globalAt = Math.max(0, p.globalAt - p.tick); // it does not begin with the global queue
    if (!p.casStatus(P.HELD, P.ORPHAN)) {
      return false;
    }
    replace(p, fresh, burning);
    return true;
  }

  /// O2 to O5.
  @SuppressWarnings("NonAtomicVolatileUpdate") // sysmon is the only writer
  void replace(P p, P fresh, boolean burning) {
    putIntoSlot(p, fresh);
    if (sched.idle.surplus() > 0) {
      fresh.ask(P.RETIRE | P.PREEMPT); // as its predecessor may have been before
    }
    if (burning) {
      takenBurning++;
    } else {
      takenBlocked++;
    }
    p.keepNothing();
    p.ask(P.PREEMPT);
    VarHandle.fullFence();
    collect(p);
    sched.idle.handOff(fresh);
  }

  /// O2. Without memory it waits for some: O1 cannot be taken back, since its M may have noticed.
  private void putIntoSlot(P p, P fresh) {
    for (; ; ) {
      try {
        sched.procs(
            was -> new Sched.Procs(replaced(was.all, p, fresh), was.max, with(was, p), was.gone));
        return;
      } catch (OutOfMemoryError e) {
        sched.parker.parkNanos(OUT_OF_MEMORY_NANOS);
      }
    }
  }

  private static P[] replaced(P[] all, P old, P fresh) {
    P[] changed = all.clone();
    for (int i = 0; i < changed.length; i++) {
      if (changed[i] == old) {
        changed[i] = fresh;
      }
    }
    return changed;
  }

  private static P[] with(Sched.Procs procs, P orphan) {
    P[] more = Arrays.copyOf(procs.orphans, procs.orphans.length + 1);
    more[more.length - 1] = orphan;
    return more;
  }

  /// A2 and A3: the calling M has noticed that its P is an orphan, and has none from now on.
  static void abandon(M m, P p) {
    Idle idle = m.sched.idle;
    idle.decides();
    if (empty(m, p)) {
      idle.wake();
    }
    idle.decided();
  }

  /// A2 to A4, for an M without a goroutine. It wakes nobody for what was in the orphan: if a P is
  /// idle, it searches with that one itself. If none is, and one becomes so after it has looked,
  /// that one's M sees what is in the global queue now (I3 in {@link Idle}).
  static void exchange(M m, P p) {
    Idle idle = m.sched.idle;
    idle.decides();
    empty(m, p);
    idle.comeBack(m);
    idle.decided();
  }

  private static boolean empty(M m, P p) {
    boolean some = !p.isEmpty();
    p.drain();
    m.p = null;
    if (p.newEarliest) {
      p.newEarliest = false;
      m.sched.idle.armed(p.timers.earliest());
    }
    p.status = P.ABANDONED;
    return some;
  }

  /// Empties orphans and forgets those that their M has abandoned. Answers whether there was
  /// anything to do. For sysmon, each round; if `frugal`, only what takes no memory.
  boolean look(long now, boolean frugal) {
    P[] orphans = sched.procs().orphans;
    if (orphans.length == 0) {
      return false;
    }
    boolean found = false;
    boolean someAbandoned = false;
    for (P p : orphans) {
      if (p.status == P.ABANDONED) {
        someAbandoned = true;
      } else {
        askAgain(p, now, frugal);
        if (collect(p)) {
          found = true;
          sched.idle.wake();
        }
      }
    }
    if (someAbandoned && !frugal) {
      forget(orphans);
    }
    return found;
  }

  /// The M may have served what O3 asked just before it could know what that meant; and it may have
  /// counted while O3 told it to keep nothing.
  private void askAgain(P p, long now, boolean frugal) {
    p.keepNothing();
    if ((p.request & P.PREEMPT) == 0) {
      p.ask(P.PREEMPT);
    }
    long slice = sched.hogs.sliceNanos();
    if (Hogs.hasHelper() && !frugal && p.hold.isAwakeAgain(p, sched.kernel, now, slice)) {
      Hogs.SIGN.raise(); // others that have stopped meanwhile do not see it
      sched.hogs.goesOn(p, now); // it computes without a P: checks can stop it
    }
  }

  /// U
  private void forget(P[] orphans) {
    Set<P> abandoned = abandoned(orphans);
    sched.procs(
        was -> {
          var gone = new Totals(was.gone);
          abandoned.forEach(gone::add);
          return new Sched.Procs(was.all, was.max, Resize.without(was.orphans, abandoned), gone);
        });
  }

  private static Set<P> abandoned(P[] orphans) {
    Set<P> abandoned = new HashSet<>();
    for (P p : orphans) {
      if (p.status == P.ABANDONED) {
        abandoned.add(p);
      }
    }
    return abandoned;
  }

  /// O4: moves what is in an orphan to the global queue, as a thief.
  private boolean collect(P orphan) {
    G next = orphan.queue.peekNext();
    if (next != null && orphan.queue.stealNext(next)) {
      next.link = null;
    } else {
      next = null;
    }
    G ring = stealAll(orphan.queue);
    if (next != null) {
      next.link = ring;
      ring = next;
    }
    G yielded = stealAll(orphan.yielded);
    orphan.putGlobally(ring, true);
    orphan.putGlobally(yielded, false);
    scratch.forgetTaken();
    return ring != null || yielded != null;
  }

  /// Oldest first.
  private @Nullable G stealAll(RunQueue from) {
    G first = null;
    G last = null;
    for (G g = from.stealInto(scratch); g != null; g = from.stealInto(scratch)) {
      g.link = null;
      G chain = scratch.takeChain(Integer.MAX_VALUE);
      if (chain == null) {
        chain = g;
      } else {
        end(chain).link = g;
      }
      if (last == null) {
        first = chain;
      } else {
        last.link = chain;
      }
      last = g;
    }
    return first;
  }

  private static G end(G chain) {
    G last = chain;
    while (last.link != null) {
      last = last.link;
    }
    return last;
  }

  /// How many goroutines run without a P at this moment, on an orphan's M.
  int awake() {
    int n = 0;
    for (P p : sched.procs().orphans) {
      M m = p.holder;
      if (p.status == P.ORPHAN && m != null && !sched.kernel.asleep(m.tid)) {
        n++;
      }
    }
    return n;
  }

  long takenBlocked() {
    return takenBlocked;
  }

  long takenBurning() {
    return takenBurning;
  }
}
