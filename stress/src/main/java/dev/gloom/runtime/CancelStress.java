package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// The end of an alarm: exactly one of those that cancel and ring it has it. {@link
/// CancelBrokenStress} is the twin.
public class CancelStress {
  static String outcome(boolean cancelled, int rang) {
    int ends = rang + (cancelled ? 1 : 0);
    return ends > 1 ? "TWICE" : ends == 0 ? "LOST" : cancelled ? "cancelled" : "rang";
  }

  private static final class Counted extends Alarm {
    int rang; // by the M, or by nobody

    @Override
    protected void ring() {
      rang++;
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("who cancels against who rings")
  @State
  public static class AgainstRing {
    private final TimerHeap heap = new TimerHeap();
    private final Counted alarm = new Counted();
    private boolean cancelled;

    public AgainstRing() {
      alarm.prepare(() -> 0, 1);
      heap.add(alarm);
    }

    @Actor
    public void canceller() {
      cancelled = alarm.cancel();
    }

    @Actor
    public void m() {
      heap.ringDue(1);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome(cancelled, alarm.rang);
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("two Ms ring the same heap")
  @State
  public static class TwoRing {
    private final TimerHeap heap = new TimerHeap();
    private final Counted alarm = new Counted();
    private int first;
    private int second;

    public TwoRing() {
      alarm.prepare(() -> 0, 1);
      heap.add(alarm);
    }

    @Actor
    public void owner() {
      first = heap.ringDue(1);
    }

    @Actor
    public void thief() {
      second = heap.ringDue(1);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome(false, first + second);
    }
  }
}
