package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// A tree that is cancelled while it changes: each node is told once, and when a cancel returns all
/// below has been. {@link CancellationBrokenStress} has the twins.
public class CancellationStress {
  /// Counts how often it is told.
  static final class Node extends Cancellation {
    private int told; // once by one thread, or it is seen

    Node(Cancellation parent) {
      super(parent);
    }

    @Override
    protected void announce() {}

    @Override
    protected void cancelled() {
      told++;
    }

    boolean isCancelled() {
      return reason() != null;
    }
  }

  static String outcome(int told, int left) {
    return told > 1 ? "TWICE" : told == 0 || left != 0 ? "LOST" : "told";
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("a child comes while its parent is cancelled")
  @State
  public static class AgainstChild {
    private final Node parent = new Node(null);
    private final Node child = new Node(parent);

    @Actor
    public void canceller() {
      parent.cancel("why");
    }

    @Actor
    public void maker() {
      child.attach();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome(child.told, parent.children());
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("what is to run after the cancel is called off meanwhile")
  @State
  public static class AgainstStop {
    private final Node parent = new Node(null);
    private final Node hook = new Node(parent);
    private boolean stopped;

    public AgainstStop() {
      hook.attach();
    }

    @Actor
    public void canceller() {
      parent.cancel("why");
    }

    @Actor
    public void stopper() {
      stopped = hook.withdraw("called off");
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = ChanTimerStress.oneOf("ran", hook.told == 1, "stopped", stopped);
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("two cancel, and when either returns the child has been")
  @State
  public static class TwoCancel {
    private final Node parent = new Node(null);
    private final Node child = new Node(parent);
    private boolean first;
    private boolean second;
    private boolean tooSoon;
    private boolean tooSoonToo;

    public TwoCancel() {
      child.attach();
    }

    @Actor
    public void one() {
      first = parent.cancel("one");
      tooSoon = !child.isCancelled();
    }

    @Actor
    public void other() {
      second = parent.cancel("other");
      tooSoonToo = !child.isCancelled();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 =
          tooSoon || tooSoonToo || first == second || child.reason() != parent.reason()
              ? "TOO SOON"
              : outcome(child.told, parent.children());
    }
  }
}
