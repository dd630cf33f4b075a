package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// The broken twins of {@link StopSignStress}.
public class StopSignBrokenStress {
  private StopSignBrokenStress() {}

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("it is raised first, and only then the P is asked")
  @State
  public static class RaisedTooEarly extends StopSignModel {
    @Actor
    public void monitor() {
      sign.raise();
      asked = true;
    }

    @Actor
    public void stopped() {
      sign.lower(() -> asked);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("looks at the Ps first, and then lowers it")
  @State
  public static class LooksFirst extends StopSignModel {
    @Actor
    public void monitor() {
      asked = true;
      sign.raise();
    }

    @Actor
    public void stopped() {
      if (!asked) {
        sign.lower(() -> false);
      }
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }
}
