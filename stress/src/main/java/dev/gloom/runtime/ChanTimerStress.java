package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// A timer whose value is due: it is received once, or it was stopped before. {@link
/// ChanTimerBrokenStress} has the twins.
public class ChanTimerStress {
  private static final long HOUR_NANOS = 3_600_000_000_000L;

  /// Of two that want the one value, one has it.
  static String oneOf(String first, boolean has, String second, boolean alsoHas) {
    return has && alsoHas ? "TWICE" : has ? first : alsoHas ? second : "LOST";
  }

  /// A timer that is due.
  abstract static class Due {
    final ChanTimer timer = new ChanTimer(0, 0);

    boolean receives() {
      return timer.channel().attemptRecv(null) != Channel.Outcome.BLOCKED;
    }
  }

  /// The same with a receiver that waits, and the alarm for it.
  abstract static class Awaited extends Due {
    private final Waiter waiter = new Waiter(Ticket.Kind.RECV, null, false);
    final ChanTimer.Ring ring = new ChanTimer.Ring(timer);

    Awaited() {
      timer.alarm = ring;
      timer.channel().queue(Ticket.Kind.RECV).push(waiter, waiter);
    }

    boolean served() {
      return waiter.state == Waiter.DONE;
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("the alarm rings for a receiver while the timer is stopped")
  @State
  public static class StopAgainstRing extends Awaited {
    private boolean stopped;

    @Actor
    public void m() {
      ring.ring();
    }

    @Actor
    public void stopper() {
      stopped = timer.stop();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = oneOf("rang", served(), "stopped", stopped);
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("the alarm rings for a receiver while another one looks")
  @State
  public static class RingAgainstReceive extends Awaited {
    private boolean received;

    @Actor
    public void m() {
      ring.ring();
    }

    @Actor
    public void receiver() {
      received = receives();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = oneOf("rang", served(), "received", received);
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("somebody receives while the timer is set to another time")
  @State
  public static class ResetAgainstReceive extends Due {
    private boolean received;
    private boolean pending;

    @Actor
    public void receiver() {
      received = receives();
    }

    @Actor
    public void resetter() {
      pending = timer.reset(HOUR_NANOS, 0);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = receives() ? "STALE" : oneOf("received", received, "reset", pending);
    }
  }
}
