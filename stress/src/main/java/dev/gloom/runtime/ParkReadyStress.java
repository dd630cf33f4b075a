package dev.gloom.runtime;

import java.util.concurrent.locks.LockSupport;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Real goroutines on a real scheduler: one that parks, and two threads that wake it. Nothing is
/// modelled, but a round takes so long that it meets a narrow race seldom: that is what the other
/// tests are for. {@link ParkReadyBrokenStress} is the twin.
public class ParkReadyStress {
  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("park against two unparks, each after its condition was set")
  @State
  public static class TwoWakers extends Sleeper {
    public TwoWakers() {
      super(1_000);
    }

    @Actor
    public void first() {
      first = true;
      LockSupport.unpark(thread());
    }

    @Actor
    public void second() {
      second = true;
      LockSupport.unpark(thread());
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("park against an unpark and a stack trace, which submits the goroutine once more")
  @State
  public static class StackTrace extends Sleeper {
    public StackTrace() {
      super(1_000);
      second = true;
    }

    @Actor
    public void waker() {
      first = true;
      LockSupport.unpark(thread());
    }

    @Actor
    public void tracer() {
      thread().getStackTrace();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }
}
