package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Twin of {@link CancelStress}.
public class CancelBrokenStress {
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("looks whether it is armed, and then says that it is not")
  @State
  public static class LooksFirst {
    private volatile boolean armed = true;
    private boolean cancelled;
    private boolean rang;

    private boolean claim() {
      boolean mine = armed;
      armed = false;
      return mine;
    }

    @Actor
    public void canceller() {
      cancelled = claim();
    }

    @Actor
    public void m() {
      rang = claim();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = CancelStress.outcome(cancelled, rang ? 1 : 0);
    }
  }
}
