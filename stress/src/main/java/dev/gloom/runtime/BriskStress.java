package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// What a brisk P kept to itself is submitted when it keeps it no longer, against an M that looks
/// around for the last time.
public class BriskStress {
  private BriskStress() {}

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("it keeps nothing from now on, then says so: P.takePace, Sysmon.giveUpKept")
  @State
  public static class KeptNoLonger extends BriskModel {
    @Actor
    public void owner() {
      p.keepNothing();
      publishedInRing();
    }

    @Actor
    public void m() {
      release(false);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }
}
