package dev.gloom.runtime;

import java.util.concurrent.locks.LockSupport;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// The twin of {@link ParkReadyStress}: here the program is broken, not the scheduler, which shows
/// that a goroutine left asleep is noticed.
public class ParkReadyBrokenStress {
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("park against two unparks, one of them before its condition is set")
  @State
  public static class UnparkFirst extends Sleeper {
    public UnparkFirst() {
      super(20);
    }

    @Actor
    public void first() {
      first = true;
      LockSupport.unpark(thread());
    }

    @Actor
    public void second() {
      LockSupport.unpark(thread());
      second = true;
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }
}
