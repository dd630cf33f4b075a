package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// The broken twin of {@link DrainedStress}.
public class DrainedBrokenStress {
  private DrainedBrokenStress() {}

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("R1 after R2: what came during the read is taken for what was read")
  @State
  public static class ClearsAfterRead extends DrainedModel {
    @Actor
    public void reader() {
      read();
      readers.reading(FD);
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
