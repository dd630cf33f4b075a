package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// The twin of {@link ParkPermitStress} that leaves a waiter asleep.
public class ParkPermitBrokenStress {
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("DONE by a release store, without a fence before the permit is read")
  @State
  public static class Release extends ParkPermitStress.Model {
    @Actor
    public void server() {
      STATE.setRelease(this, 1);
      unpark();
    }

    @Actor
    public void waiter() {
      goOn();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }
}
