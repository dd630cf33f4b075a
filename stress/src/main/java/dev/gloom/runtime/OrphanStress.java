package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// A P is taken from its M, which knows nothing of it and goes on putting goroutines there. {@link
/// OrphanBrokenStress} is the twin.
public class OrphanStress {
  /// One P with one goroutine, in use, in a scheduler of its own; two more goroutines for its M to
  /// put. No thread ever runs: the P is out of the idle list, so nobody is woken.
  static class Model {
    private static final Knobs KNOBS = new Knobs(1, false, true);

    final Sched sched = new Sched(1, KNOBS, 1, () -> 0, Parker.SYSTEM);
    final P p = sched.procs().all[0];
    final M m = new M(sched, 0, p, false);
    final G[] gs = Tally.gs(4);
    final RunQueue into = new RunQueue(8);
    G stolen;

    Model() {
      sched.idle.acquire();
      m.given = null;
      p.heldBy(m);
      p.queue.offer(gs[0]);
    }

    /// What the M does meanwhile: it makes goroutines ready, and one yields.
    final void put() {
      p.queue.offer(gs[1]);
      p.queue.swapNext(gs[2]);
      p.yielded.offer(gs[3]);
    }

    /// O1 to O4; without O5, which would start a thread.
    final boolean take() {
      if (!p.casStatus(P.HELD, P.ORPHAN)) {
        return false;
      }
      var fresh = new P(sched, p.id, p.timers);
      sched.procs(was -> new Sched.Procs(new P[] {fresh}, 1, new P[] {p}, was.gone));
      sched.orphans.look(0, false);
      return true;
    }

    /// A thief or the last look around of an M that goes to sleep: all that can be seen.
    final void steal() {
      Sched.Procs now = sched.procs();
      for (P victim : now.all) {
        stealFrom(victim);
      }
      for (P victim : now.orphans) {
        stealFrom(victim);
      }
    }

    private void stealFrom(P victim) {
      if (stolen == null) {
        stolen = victim.queue.stealInto(into);
      }
    }

    /// What is in the global queue and where others look.
    final String outcome() {
      var tally = new Tally(4).stole(stolen, into::poll).left(sched.global::take);
      Sched.Procs now = sched.procs();
      for (P q : now.all) {
        tally.left(q.queue::poll).left(q.yielded::poll).took(q.queue.takeNext());
      }
      for (P q : now.orphans) {
        tally.left(q.queue::poll).left(q.yielded::poll).took(q.queue.takeNext());
      }
      return tally.outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("its M puts goroutines into a P that sysmon takes and empties")
  @State
  public static class PutAgainstTake extends Model {
    @Actor
    public void itsThread() {
      put();
    }

    @Actor
    public void sysmon() {
      take();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("the same, and a thief comes; then its M notices and empties it too")
  @State
  public static class PutAndAbandonAgainstTakeAndThief extends Model {
    @Actor
    public void itsThread() {
      put();
      if (p.status == P.ORPHAN) {
        Orphans.abandon(m, p);
      }
    }

    @Actor
    public void sysmonAndAThief() {
      take();
      steal();
      sched.orphans.look(0, false);
    }

    @Arbiter
    public void end(L_Result r) {
      sched.orphans.look(0, false);
      r.r1 = outcome();
    }
  }

  /// How many Ps can be used for one slot.
  static class Slot {
    private static final Sched SCHED = new Sched(1, Knobs.ofProcess());

    final P p = new P(SCHED, 0, new TimerHeap());
    boolean taken;
    boolean given;

    Slot() {
      p.status = P.HELD;
    }

    final String fate() {
      int n = (given ? 1 : 0) + (taken ? 1 : 0);
      return n == 2 ? "TWICE" : n == 0 ? "LOST" : taken ? "taken" : "given";
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("its M gives the P away when sysmon takes it")
  @State
  public static class GiveAgainstTake extends Slot {
    @Actor
    public void itsThread() {
      given = p.free();
    }

    @Actor
    public void sysmon() {
      taken = p.casStatus(P.HELD, P.ORPHAN);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = fate();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("its M leaves the P for a call, and sysmon hands it on, when sysmon takes it")
  @State
  public static class CallAgainstTake extends Slot {
    @Actor
    public void itsThread() {
      p.casStatus(P.HELD, P.BLOCKED);
    }

    @Actor
    public void sysmon() {
      taken = p.casStatus(P.HELD, P.ORPHAN);
    }

    @Arbiter
    public void end(L_Result r) {
      given = Blocking.take(p);
      r.r1 = fate();
    }
  }
}
