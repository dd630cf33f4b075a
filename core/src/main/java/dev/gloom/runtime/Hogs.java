package dev.gloom.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Goroutines that keep a processor longer than a slice while others wait, and who deals with them.
///
/// ```
/// layer 1   sysmon asks after a slice (P.PREEMPT); every scheduling point looks
/// layer 2   if it goes on all the same, a helper thread finds out which classes are at it, and arms
///           the checks in them
/// layer 3   who is asked and armed and still does not stop is known to be stuck
/// ```
///
/// Sysmon hands a P over by a flag and an unpark, and never waits: to look at a stack or to arm a
/// check takes a handshake with the thread that runs, and a loop may keep that waiting. The helper
/// is the agent's; without one, layer 2 does not exist.
///
/// The settings can be changed while the scheduler runs. `off` is the kill switch: nobody is caught
/// any more.
public final class Hogs {
  /// Enough for the helper to look, even on a busy machine.
  private static final int HELPER_SLICES = 5;

  private static final long AGAIN_NANOS = 1_000_000_000;

  /// Until it is asked again whether one that has opted out still has.
  private static final long LOOK_AGAIN_NANOS = 100_000_000;

  /// The sign that checks read. Here, and not made when it is first needed: that may be on a full
  /// stack or in a full heap, and a class that cannot be initialised then never can.
  static final StopSign SIGN = new StopSign();

  /// For {@link StopSign#lower}; no lambda, which is linked when it is first needed.
  static final BooleanSupplier ANY_ASKED = new AnyAsked();

  /// Woken when somebody has been caught; the agent's.
  private static volatile @Nullable Runnable helper;

  /// Whether the helper waits for goroutines that run without a P to stop or to end, and whether
  /// one has since it last asked.
  private static volatile boolean expected;

  private static volatile boolean left;

  private volatile long sliceNanos;
  private volatile Preemption.Mode mode;

  Hogs(Preemption settings) {
    this.sliceNanos = settings.sliceNanos();
    this.mode = settings.mode();
  }

  /// From now on `wake` is called, by a thread that must not wait, when somebody has been caught;
  /// null: there is no helper.
  public static void helper(@Nullable Runnable wake) {
    helper = wake;
  }

  /// Whether checks can be armed at all.
  static boolean hasHelper() {
    return helper != null;
  }

  // Settings.

  /// How long a goroutine may run while others wait.
  public long sliceNanos() {
    return sliceNanos;
  }

  /// Changes that, in milliseconds.
  public void slice(long millis) {
    sliceNanos = Preemption.sliceNanos(millis);
  }

  /// What is done about one that passes no scheduling point.
  public Preemption.Mode mode() {
    return mode;
  }

  /// Changes that.
  public void mode(Preemption.Mode changed) {
    mode = changed;
    wake(); // what is armed may have to be disarmed, or classes that are loaded to be changed
  }

  // Sysmon's side, and the check's.

  /// `p` has been asked to let others run, and goes on. Does not wait. One that is known not to
  /// stop is tried again only now and then: each try throws away compiled code of the classes on
  /// its stack.
  void goesOn(P p, long now) {
    if (isStuck(p) && now - p.triedNanos < AGAIN_NANOS) {
      return;
    }
    if (mode != Preemption.Mode.OFF && helper != null) {
      p.triedNanos = now;
      p.caught = true;
      wake();
    }
  }

  private static void wake() {
    Runnable h = helper;
    if (h != null) {
      h.run();
    }
  }

  /// A goroutine has left its M, which has no P: it ran without one.
  static void leaves() {
    if (expected) {
      left = true;
      wake();
    }
  }

  /// The goroutine on `p` cannot stop: no check reaches it, or it is pinned.
  static void cannotStop(P p) {
    cannotStop(p, p.tick, false);
  }

  private static void cannotStop(P p, long tick, boolean again) {
    p.stuckAgain = again;
    p.stuckAt = tick;
  }

  /// Whether it is known of the goroutine that has `p` now that it cannot be stopped: it was asked,
  /// and the classes on its stack are armed, to no avail. Without a helper nobody knows. For
  /// whoever takes the P away instead (layer 3).
  static boolean isStuck(P p) {
    return p.stuckAt == p.tick;
  }

  /// How much CPU time the goroutine on `p` may use after it was asked to stop, before its P is
  /// taken (layer 3): a slice; with a helper more, until that has given up, and then a quarter of
  /// one, or less if it stopped late the last time too.
  long patienceNanos(P p) {
    if (helper == null) {
      return sliceNanos;
    }
    return isStuck(p) ? sliceNanos / (p.stuckAgain ? 16 : 4) : HELPER_SLICES * sliceNanos;
  }

  /// Whether the P may be taken from the goroutine that has it: not if it has opted out, nor if
  /// nobody is to be preempted. Looks for that goroutine among all, if any has ever opted out, and
  /// for one that has only now and then.
  boolean mayBeTakenFrom(Sched sched, P p, long now) {
    if (mode == Preemption.Mode.OFF) {
      return false;
    }
    M m = p.holder;
    if (m == null || !Undisturbed.used()) {
      return true;
    }
    if (p.undisturbedAt == p.dispatches() && now - p.undisturbedSinceNanos < LOOK_AGAIN_NANOS) {
      return false;
    }
    G g = sched.registry.runningOn(m);
    if (g == null || !g.undisturbed) {
      return true;
    }
    p.undisturbedAt = p.dispatches();
    p.undisturbedSinceNanos = now;
    return false;
  }

  /// Whether any P is asked to let others run, or anybody runs without one, in any scheduler. Not
  /// orphans: they are asked for ever, and most of their threads sleep. Sysmon raises the sign each
  /// slice for one that does not.
  static boolean anyAsked() {
    for (Sched s : Sched.LIVE) {
      if (s.overcommitted.get() > 0 || anyAsked(s.procs().all)) {
        return true;
      }
    }
    return false;
  }

  private static final class AnyAsked implements BooleanSupplier {
    @Override
    public boolean getAsBoolean() {
      return anyAsked();
    }
  }

  private static boolean anyAsked(P[] ps) {
    for (P p : ps) {
      if ((p.request & P.PREEMPT) != 0 && !p.retired) {
        return true;
      }
    }
    return false;
  }

  // The helper's side.

  /// Those that were caught since the last call, in all schedulers.
  public static List<Hog> caught() {
    var found = new ArrayList<Hog>();
    for (Sched s : Sched.LIVE) {
      if (s.hogs.mode == Preemption.Mode.OFF) {
        continue;
      }
      Sched.Procs procs = s.procs();
      add(found, s, procs.all);
      add(found, s, procs.orphans);
    }
    return found;
  }

  /// The virtual threads that run at this moment, of all schedulers. Takes time in proportion to
  /// how many goroutines there are.
  public static List<Thread> running() {
    var found = new ArrayList<Thread>();
    for (Sched s : Sched.LIVE) {
      for (G g : s.registry.snapshot()) {
        if (g.runsOn() != null) {
          found.add(g.thread());
        }
      }
    }
    return found;
  }

  /// Whether the helper is to be woken when one that runs without a P leaves its thread.
  public static void expectLeaving(boolean yes) {
    expected = yes;
  }

  /// Whether one has, since the last call.
  public static boolean anyLeft() {
    if (!left) {
      return false;
    }
    left = false; // before the helper looks who is left: who leaves after that sets it again
    return true;
  }

  /// Whether in some scheduler no more goroutines may run without a P: whoever cannot be stopped
  /// keeps the one that it has.
  public static boolean anyCrowded() {
    for (Sched s : Sched.LIVE) {
      if (!s.mayOvercommit()) {
        return true;
      }
    }
    return false;
  }

  private static void add(List<Hog> found, Sched s, P[] ps) {
    for (P p : ps) {
      if (p.caught) {
        p.caught = false; // before the look: who is caught again sets it again
        found.add(new Hog(s, p, p.tick));
      }
    }
  }

  /// One that was caught: whichever goroutine has this P in this slice.
  public static final class Hog {
    private final Sched sched;
    private final P p;
    private final long tick;
    private @Nullable G found;

    private Hog(Sched sched, P p, long tick) {
      this.sched = sched;
      this.p = p;
      this.tick = tick;
    }

    /// Whether it still has its P, and is still asked to stop.
    public boolean goesOn() {
      return p.tick == tick && (p.request & P.PREEMPT) != 0;
    }

    /// Its virtual thread; null if it cannot be found any more. Takes time in proportion to how
    /// many goroutines there are: an M keeps no reference to the one that it runs, since that store
    /// would cost a fence at each switch.
    public @Nullable Thread thread() {
      M m = p.status == P.HELD || p.status == P.ORPHAN ? p.holder : null;
      G g = m == null ? null : sched.registry.runningOn(m);
      found = g == null || g.undisturbed ? null : g;
      return found == null ? null : found.thread();
    }

    /// Whether the one that {@link #thread} found had lost its P when it last came to a check: its
    /// checks are too far apart. (Or it was asleep then. It still has some CPU time to show that it
    /// stops.)
    public boolean stopsLate() {
      G g = found;
      return g != null && g.stopsLate;
    }

    /// Gives it up, for layer 3, whose patience is shorter then: sysmon looks anew.
    public void cannotStop() {
      if (goesOn()) {
        Hogs.cannotStop(p, tick, stopsLate());
        if (p.status == P.HELD) {
          sched.sysmon.lookNow();
        }
      }
    }
  }
}
