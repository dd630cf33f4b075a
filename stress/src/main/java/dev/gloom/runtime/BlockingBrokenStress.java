package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Twins of {@link BlockingStress} in which a P has two holders, or two writers.
public class BlockingBrokenStress {
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("the P is taken by a look and a store, not by a CAS")
  @State
  public static class TakesWithoutCas extends BlockingStress.Model {
    private boolean take() {
      if (p.status != P.BLOCKED) {
        return false;
      }
      p.status = P.HELD;
      return true;
    }

    @Actor
    public void backFromTheCall() {
      isMine = take();
      put(mine, isMine);
    }

    @Actor
    public void taker() {
      isTheirs = take();
      put(theirs, isTheirs);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("what a call makes ready goes into the ring of the P that it has left")
  @State
  public static class ReadyIntoTheRingThatItLeft extends BlockingStress.Model {
    @Actor
    public void insideTheCall() {
      put(mine, true);
    }

    @Actor
    public void taker() {
      isTheirs = Blocking.take(p);
      put(theirs, isTheirs);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }
}
