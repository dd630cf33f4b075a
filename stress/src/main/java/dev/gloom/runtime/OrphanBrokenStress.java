package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Twins of {@link OrphanStress} that lose goroutines, or use two Ps for one slot.
public class OrphanBrokenStress {
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("sysmon empties it once, and then nobody knows it any more")
  @State
  public static class EmptiedOnceAndForgotten extends OrphanStress.Model {
    @Actor
    public void itsThread() {
      put();
    }

    @Actor
    public void sysmon() {
      take();
      sched.procs(was -> new Sched.Procs(was.all, 1, new P[0], was.gone));
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("its M says that it has abandoned it, and then puts one more there")
  @State
  public static class AbandonedTooEarly extends OrphanStress.Model {
    @Actor
    public void itsThread() {
      if (p.status == P.ORPHAN) {
        Orphans.abandon(m, p);
      }
      put();
    }

    @Actor
    public void sysmon() {
      take();
      sched.orphans.look(0, false);
    }

    @Arbiter
    public void end(L_Result r) {
      sched.orphans.look(0, false);
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("its M gives it away by a look and a store")
  @State
  public static class GivesWithoutCas extends OrphanStress.Slot {
    @Actor
    public void itsThread() {
      if (p.status == P.HELD) {
        p.status = P.FREE;
        given = true;
      }
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
  @JCStressMeta(Grading.Broken.class)
  @Description("its M leaves it for a call by a store")
  @State
  public static class LeavesWithoutCas extends OrphanStress.Slot {
    @Actor
    public void itsThread() {
      p.status = P.BLOCKED;
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
