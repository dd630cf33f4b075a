package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// The word protocol of `G`: a wake-up against an M that has taken an entry of that G which is of
/// no use. The G is in one queue at most, and the wake-up is not lost. {@link WordBrokenStress} is
/// the twin.
public class WordStress {
  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("unpark against the dispatch of a stray entry")
  @State
  public static class Unpark extends WordModel {
    public Unpark() {
      super(PARKED);
    }

    @Actor
    public void waker() {
      unpark();
    }

    @Actor
    public void m() {
      dispatch();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("a stack trace, which suspends and resubmits, against the dispatch of the G")
  @State
  public static class StackTrace extends WordModel {
    public StackTrace() {
      super(UNPARKED);
    }

    @Actor
    public void tracer() {
      stackTrace();
    }

    @Actor
    public void m() {
      dispatch();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }
}
