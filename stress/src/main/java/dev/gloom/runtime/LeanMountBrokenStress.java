package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Twins of {@link LeanMountStress}, each without one of the steps that its argument needs.
public class LeanMountBrokenStress {
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("the M looks for a permit without a fence after PARKED")
  @State
  public static class UnparkWithoutFence extends LeanMountModel {
    public UnparkWithoutFence() {
      super(false);
    }

    @Actor
    public void waker() {
      unpark();
    }

    @Actor
    public void m() {
      suspendedWithoutFence();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("the M does not look for a permit")
  @State
  public static class UnparkWithoutReclaim extends LeanMountModel {
    public UnparkWithoutReclaim() {
      super(false);
    }

    @Actor
    public void waker() {
      unpark();
    }

    @Actor
    public void m() {
      suspendedWithoutReclaim();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("whoever wakes gives up if somebody takes its stack")
  @State
  public static class WakeIfParked extends LeanMountModel {
    public WakeIfParked() {
      super(true);
    }

    @Actor
    public void waker() {
      var _ = wakeIfParked();
    }

    @Actor
    public void tracer() {
      stackTrace();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("interrupt against a mount that looks for it without a fence")
  @State
  public static class MountWithoutFence extends InterruptModel {
    public MountWithoutFence() {
      super(false);
    }

    @Actor
    public void interrupter() {
      interrupt();
    }

    @Actor
    public void m() {
      mountWithoutFence();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = mounted();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("interrupt against an unmount that looks for it without a fence")
  @State
  public static class UnmountWithoutFence extends InterruptModel {
    public UnmountWithoutFence() {
      super(true);
    }

    @Actor
    public void interrupter() {
      interrupt();
    }

    @Actor
    public void m() {
      unmountWithoutFence();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = unmounted();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("a carrier keeps the interrupt that the thread took note of on another M")
  @State
  public static class ParkOnlyIfInterrupted extends InterruptModel {
    public ParkOnlyIfInterrupted() {
      super(true);
    }

    @Actor
    public void interrupterAndNextM() {
      interrupt();
      takeNote();
    }

    @Actor
    public void m() {
      unmountOnlyIfInterrupted();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = unmounted();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("the permit is taken without a fence before the thread goes on")
  @State
  public static class TakesPermitWithoutFence extends LeanMountModel {
    public TakesPermitWithoutFence() {
      super(true, true);
    }

    @Actor
    public void waker() {
      serveAndUnpark();
    }

    @Actor
    public void m() {
      goOnWithoutFence();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = seenOrWoken();
    }
  }
}
