package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// A read that gets all there is, while more comes.
public class DrainedStress {
  private DrainedStress() {}

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("R1 to R3 against an edge: NetPoll")
  @State
  public static class ReadAgainstEdge extends DrainedModel {
    @Actor
    public void reader() {
      readers.reading(FD);
      read();
      readers.drained(FD);
    }

    @Actor
    public void poller() {
      more();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }
}
