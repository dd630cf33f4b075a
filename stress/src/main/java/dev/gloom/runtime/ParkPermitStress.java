package dev.gloom.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// A waiter is served while it has a permit that was meant for something else, an interrupt for
/// instance. {@link ParkPermitBrokenStress} is the twin.
public class ParkPermitStress {
  /// `Waiter.state`, and the permit as the JDK's virtual threads keep it: an unpark that finds it
  /// set only reads it.
  static class Model {
    static final VarHandle STATE;

    static {
      try {
        STATE = MethodHandles.lookup().findVarHandle(Model.class, "state", int.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    volatile int state;
    private volatile boolean permit = true;
    private boolean unparked;
    private boolean parked;

    final void unpark() {
      if (!permit) {
        permit = true;
        unparked = true;
      }
    }

    /// Goes on after a park, which takes the permit, and looks; parks again if it was not served.
    final void goOn() {
      permit = false;
      parked = state == 0;
    }

    final String outcome() {
      return !parked ? "seen" : unparked ? "woken" : "LOST";
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("served with a permit there already")
  @State
  public static class Served extends Model {
    @Actor
    public void server() {
      STATE.setRelease(this, 1);
      VarHandle.fullFence();
      unpark();
    }

    @Actor
    public void waiter() {
      goOn();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }
}
