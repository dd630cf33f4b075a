package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// The broken twins of {@link BriskStress}.
public class BriskBrokenStress {
  private BriskBrokenStress() {}

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("it says so first, and only then keeps nothing")
  @State
  public static class ToldTooEarly extends BriskModel {
    @Actor
    public void owner() {
      publishedInRing();
      p.keepNothing();
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

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("it keeps nothing from now on, and wakes without a fence")
  @State
  public static class Unfenced extends BriskModel {
    @Actor
    public void owner() {
      p.keepNothing();
      wake();
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
