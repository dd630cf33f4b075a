package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Goroutines on their way from one queue to another, in neither for a moment, against the last
/// look around of an M that goes to sleep. Whoever moved them calls `wake` afterwards, so none is
/// left behind. {@link FlushBrokenStress} is the twin.
public class FlushStress {
  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("those that yielded go to the global queue")
  @State
  public static class Yielded extends IdleModel {
    private final G g = newG(1);
    private final G h = newG(2);

    public Yielded() {
      super(0, 0);
      yielded.offer(g);
      yielded.offer(h);
    }

    @Actor
    public void owner() {
      G chain = yielded.takeChain(2); // P.flushYielded
      global.putChain(chain, h, 2);
      wake();
    }

    @Actor
    public void m() {
      release(false);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("a batch goes from the global queue to the ring")
  @State
  public static class Batch extends IdleModel {
    private final G g = newG(1);
    private final G h = newG(2);

    public Batch() {
      super(0, 0);
      global.put(g);
      global.put(h);
    }

    @Actor
    public void owner() {
      G chain = global.takeChain(2); // FindWork.fromGlobal
      queue.offerChain(chain.link);
      chain.link = null;
      publishedInRing();
    }

    @Actor
    public void m() {
      release(false);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("a searcher steals two and runs one of them")
  @State
  public static class Steal extends IdleModel {
    private final RunQueue victim = new RunQueue(4);

    public Steal() {
      super(0, 1);
      for (int i = 1; i <= 3; i++) {
        victim.offer(newG(i));
      }
    }

    @Actor
    public void thief() {
      victim.stealInto(queue);
      victim.poll(); // its owner, who takes the last one
      foundWork();
    }

    @Actor
    public void m() {
      release(false);
    }

    /// The thief's queue comes before the victim's.
    @Override
    boolean hasWorkForOthers() {
      return !queue.isEmpty() || !victim.isEmpty();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }
}
