package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Twins of {@link FlushStress} in which whoever moved goroutines tells nobody.
public class FlushBrokenStress {
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("those that yielded go to the global queue, silently")
  @State
  public static class SilentYielded extends IdleModel {
    private final G g = newG(1);
    private final G h = newG(2);

    public SilentYielded() {
      super(0, 0);
      yielded.offer(g);
      yielded.offer(h);
    }

    @Actor
    public void owner() {
      G chain = yielded.takeChain(2); // P.flushYielded
      global.putChain(chain, h, 2);
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
  @JCStressMeta(Grading.Broken.class)
  @Description("a batch goes from the global queue to the ring, silently")
  @State
  public static class SilentBatch extends IdleModel {
    private final G g = newG(1);
    private final G h = newG(2);

    public SilentBatch() {
      super(0, 0);
      global.put(g);
      global.put(h);
    }

    @Actor
    public void owner() {
      G chain = global.takeChain(2); // FindWork.fromGlobal
      queue.offerChain(chain.link);
      chain.link = null;
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
  @JCStressMeta(Grading.Broken.class)
  @Description("a searcher steals two and runs one of them, silently")
  @State
  public static class SilentSteal extends IdleModel {
    private final RunQueue victim = new RunQueue(4);

    public SilentSteal() {
      super(0, 1);
      for (int i = 1; i <= 3; i++) {
        victim.offer(newG(i));
      }
    }

    @Actor
    public void thief() {
      victim.stealInto(queue);
      victim.poll(); // its owner, who takes the last one
      stopSearching();
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
