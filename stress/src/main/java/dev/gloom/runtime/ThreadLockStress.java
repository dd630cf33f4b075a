package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// A thread that is locked to a goroutine gives its P away and sleeps: against the one that hands
/// the goroutine over to it, and against work that comes at that moment. {@link
/// ThreadLockBrokenStress} is the twin.
public class ThreadLockStress {
  /// `M.given`, and the queue that the goroutine is in: somebody has made it ready while its M is
  /// still on the way out of it. The end looks at what a thread that sleeps would find when it
  /// wakes.
  static class Model {
    private final GlobalQueue queue = new GlobalQueue();
    private Object got; // written by the locked M
    volatile Object given;

    Model() {
      queue.put(IdleModel.newG(1));
    }

    /// L2 and L3, once.
    final void look() {
      got = given;
      if (got != null) {
        given = null;
      }
    }

    /// H3, with the goroutine for the P.
    final void handOver() {
      given = queue.take();
    }

    final String outcome() {
      return got != null ? "at once" : given != null ? "after a sleep" : "LOST";
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("the hand-over comes before the sleep, or after")
  @State
  public static class HandOver extends Model {
    @Actor
    public void locked() {
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
  @JCStressMeta(Grading.Sound.class)
  @Description("work is published while the P of a locked M becomes idle")
  @State
  public static class HandOff extends IdleModel {
    private final G g = newG(1);

    public HandOff() {
      super(0, 0);
    }

    @Actor
    public void submitter() {
      global.put(g);
      wake();
    }

    @Actor
    public void locked() {
      handOff();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("the same, into run-next of another P")
  @State
  public static class HandOffRunNext extends IdleModel {
    private final G g = newG(1);

    public HandOffRunNext() {
      super(0, 0);
    }

    @Actor
    public void submitter() {
      queue.swapNext(g);
      wake();
    }

    @Actor
    public void locked() {
      handOff();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }
}
