package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Twins of {@link ThreadLockStress} that lose a goroutine.
public class ThreadLockBrokenStress {
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("the locked M forgets what it was given before it slept")
  @State
  public static class ForgetsFirst extends ThreadLockStress.Model {
    @Actor
    public void locked() {
      given = null;
      look();
    }

    @Actor
    public void finder() {
      handOver();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("the locked M looks for work before its P is idle, not after")
  @State
  public static class LooksFirst extends IdleModel {
    private final G g = newG(1);

    public LooksFirst() {
      super(0, 0);
    }

    @Actor
    public void submitter() {
      global.put(g);
      wake();
    }

    @Actor
    public void locked() {
      boolean seen = hasQueuedWork();
      giveUpP();
      if (seen) {
        wake();
      }
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }
}
