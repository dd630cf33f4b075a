package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// How a goroutine gets off its M and onto it by `LeanMount`: no wake-up is lost though the permit
/// is looked for late, it is in one queue at most, and an interrupt reaches its carrier while it is
/// mounted and never after that. {@link LeanMountBrokenStress} is the twin.
public class LeanMountStress {
  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("unpark against a goroutine that parks")
  @State
  public static class Unpark extends LeanMountModel {
    public Unpark() {
      super(false);
    }

    @Actor
    public void waker() {
      unpark();
    }

    @Actor
    public void m() {
      suspended();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("wake against a goroutine that parks")
  @State
  public static class Wake extends LeanMountModel {
    public Wake() {
      super(false);
    }

    @Actor
    public void waker() {
      wake();
    }

    @Actor
    public void m() {
      suspended();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("wake of a goroutine whose stack is taken")
  @State
  public static class WakeAndTrace extends LeanMountModel {
    public WakeAndTrace() {
      super(true);
    }

    @Actor
    public void waker() {
      wake();
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
  @JCStressMeta(Grading.Sound.class)
  @Description("interrupt against mount")
  @State
  public static class InterruptedAtMount extends InterruptModel {
    public InterruptedAtMount() {
      super(false);
    }

    @Actor
    public void interrupter() {
      interrupt();
    }

    @Actor
    public void m() {
      mount();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = mounted();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("interrupt against unmount")
  @State
  public static class InterruptedAtUnmount extends InterruptModel {
    public InterruptedAtUnmount() {
      super(true);
    }

    @Actor
    public void interrupter() {
      interrupt();
    }

    @Actor
    public void m() {
      unmount();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = unmounted();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("interrupt against a goroutine that parks, and takes note of it on another M")
  @State
  public static class InterruptedAtPark extends InterruptModel {
    public InterruptedAtPark() {
      super(true);
    }

    @Actor
    public void interrupterAndNextM() {
      interrupt();
      takeNote();
    }

    @Actor
    public void m() {
      unmountParked();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = unmounted();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("unpark against a goroutine that takes a permit from before")
  @State
  public static class TakesPermit extends LeanMountModel {
    public TakesPermit() {
      super(true, true);
    }

    @Actor
    public void waker() {
      serveAndUnpark();
    }

    @Actor
    public void m() {
      goOn();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = seenOrWoken();
    }
  }
}
