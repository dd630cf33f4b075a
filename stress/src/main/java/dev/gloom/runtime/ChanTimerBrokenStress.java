package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Twins of {@link ChanTimerStress}: the time is read and written without the channel's lock, and,
/// as in Go before 1.23, a value that is due goes into a buffer.
public class ChanTimerBrokenStress {
  private static final long NEVER = Alarm.NEVER;

  /// What is due is taken by a look and a store.
  abstract static class Unlocked {
    private volatile long when;

    /// Whether there was a value to take.
    boolean take() {
      boolean due = when == 0;
      when = NEVER;
      return due;
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("the alarm rings for a receiver while the timer is stopped")
  @State
  public static class StopAgainstRing extends Unlocked {
    private boolean served;
    private boolean stopped;

    @Actor
    public void m() {
      served = take();
    }

    @Actor
    public void stopper() {
      stopped = take();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = ChanTimerStress.oneOf("rang", served, "stopped", stopped);
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("the alarm puts the value into a buffer while the timer is set to another time")
  @State
  public static class ResetAgainstRing {
    private final Channel channel = new Channel(1);
    private volatile long when;

    @Actor
    public void m() {
      if (when == 0) {
        channel.attemptSend("value", null);
      }
    }

    @Actor
    public void resetter() {
      when = NEVER - 1;
      channel.attemptRecv(null); // "drained", as the books said
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = channel.attemptRecv(null) == Channel.Outcome.BLOCKED ? "reset" : "STALE";
    }
  }
}
