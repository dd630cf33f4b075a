package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// The poller's protocol of `Idle`: never does a goroutine wait for a socket, with an idle P, and
/// nobody sleeps in the kernel for it or looks; and never does the poller sleep on when it was
/// given a P. {@link PollBrokenStress} is the twin.
public class PollStress {
  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("a goroutine whose M has no P waits for a socket while the last M goes idle")
  @State
  public static class AgainstIdle extends PollModel {
    public AgainstIdle() {
      super(0, 0, NOBODY, 0);
    }

    @Actor
    public void waiter() {
      waitForSocket();
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
  @JCStressMeta(Grading.Sound.class)
  @Description("the poller is taken for work, with the last idle P, while another M goes idle")
  @State
  public static class PollerTaken extends PollModel {
    public PollerTaken() {
      super(1, 0, ANOTHER_M, 1);
    }

    @Actor
    public void submitter() {
      wakeThePoller();
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
  @JCStressMeta(Grading.Sound.class)
  @Description("the poller is given a P while it goes to sleep in the kernel")
  @State
  public static class GivenAgainstSleep extends PollModel {
    public GivenAgainstSleep() {
      super(0, 0, OUR_M, 1);
    }

    @Actor
    public void giver() {
      give();
    }

    @Actor
    public void m() {
      block();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = told();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("a break for one poller while the next one comes")
  @State
  public static class BreakAgainstNextPoller extends PollModel {
    @Actor
    public void last() {
      leave();
    }

    @Actor
    public void next() {
      enter();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = told();
    }
  }
}
