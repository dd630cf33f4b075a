package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Twins of {@link CancellationStress}: looks outside the lock, and a second caller that leaves the
/// rest to the first.
public class CancellationBrokenStress {
  /// A parent and its one child.
  abstract static class Pair {
    volatile Object reason;
    volatile Object childReason;
    volatile boolean linked;

    void cancelChild() {
      if (linked) {
        childReason = reason;
      }
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("a child looks whether its parent is cancelled, and links itself later")
  @State
  public static class AgainstChild extends Pair {
    @Actor
    public void canceller() {
      reason = "why";
      cancelChild();
    }

    @Actor
    public void maker() {
      if (reason == null) {
        linked = true;
      } else {
        childReason = reason;
      }
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = CancellationStress.outcome(childReason == null ? 0 : 1, 0);
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("both look whether there is a reason before they write one")
  @State
  public static class AgainstStop extends Pair {
    private boolean ran;
    private boolean stopped;

    private boolean set(Object why) {
      boolean first = reason == null;
      reason = why;
      return first;
    }

    @Actor
    public void canceller() {
      ran = set("why");
    }

    @Actor
    public void stopper() {
      stopped = set("called off");
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = ChanTimerStress.oneOf("ran", ran, "stopped", stopped);
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("the second to cancel returns at once")
  @State
  public static class TwoCancel extends Pair {
    private final SpinLock lock = new SpinLock();
    private boolean tooSoon;
    private boolean tooSoonToo;

    public TwoCancel() {
      linked = true;
    }

    private boolean cancel(Object why) {
      lock.acquire();
      boolean first = reason == null;
      if (first) {
        reason = why;
      }
      lock.held = 0;
      if (first) {
        cancelChild();
      }
      return childReason != null;
    }

    @Actor
    public void one() {
      tooSoon = !cancel("one");
    }

    @Actor
    public void other() {
      tooSoonToo = !cancel("other");
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = tooSoon || tooSoonToo ? "TOO SOON" : "told";
    }
  }
}
