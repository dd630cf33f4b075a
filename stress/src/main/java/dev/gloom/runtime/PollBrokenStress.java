package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Twins of {@link PollStress} in which nobody polls, or the poller is not woken.
public class PollBrokenStress {
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("no I7: an M goes idle and does not ask whether somebody waits for a socket")
  @State
  public static class NoLook extends PollModel {
    public NoLook() {
      super(0, 0, NOBODY, 0);
    }

    @Actor
    public void waiter() {
      waitForSocket();
    }

    @Actor
    public void m() {
      giveUpP();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = polled();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("N1 by a release store")
  @State
  public static class Unfenced extends PollModel {
    public Unfenced() {
      super(0, 0, NOBODY, 0);
    }

    @Actor
    public void waiter() {
      waitForSocketUnfenced();
    }

    @Actor
    public void m() {
      giveUpP();
      takePost();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = polled();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("asks for a poller before it counts as idle")
  @State
  public static class AskedTooEarly extends PollModel {
    public AskedTooEarly() {
      super(1, 0, ANOTHER_M, 1);
    }

    @Actor
    public void submitter() {
      wakeThePoller();
    }

    @Actor
    public void m() {
      boolean wanted = wantsPoller();
      giveUpP();
      takePost(wanted);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = polled();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("B1 by a release store")
  @State
  public static class SleepsUnfenced extends PollModel {
    public SleepsUnfenced() {
      super(0, 0, OUR_M, 1);
    }

    @Actor
    public void giver() {
      give();
    }

    @Actor
    public void m() {
      blockUnfenced();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = told();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("B2 before B1: looks at what it was given, then says that it sleeps")
  @State
  public static class LooksFirst extends PollModel {
    public LooksFirst() {
      super(0, 0, OUR_M, 1);
    }

    @Actor
    public void giver() {
      give();
    }

    @Actor
    public void m() {
      blockLookingFirst();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = told();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("no B0: two sleep in the kernel, and the wrong one takes the break")
  @State
  public static class TwoInTheKernel extends PollModel {
    @Actor
    public void last() {
      leave();
    }

    @Actor
    public void next() {
      enterAnyway();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = told();
    }
  }
}
