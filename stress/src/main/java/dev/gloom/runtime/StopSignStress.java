package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// One goroutine has stopped and lowers the sign, while another P is asked.
public class StopSignStress {
  private StopSignStress() {}

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("lower against raise: StopSign")
  @State
  public static class LowerAgainstRaise extends StopSignModel {
    @Actor
    public void monitor() {
      asked = true; // A1
      sign.raise(); // A2
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
}
