package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Twins of {@link RunNextStress}, at {@link BrokenRing}.
public class RunNextBrokenStress {
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("isEmpty does not read tail again")
  @State
  public static class IsEmptyWithoutSecondTail {
    private static final G FIRST = IdleModel.newG(1);
    private static final G SECOND = IdleModel.newG(2);
    private static final int ROUNDS = 10;

    private final BrokenRing ring = new BrokenRing(4);
    private boolean empty;

    public IsEmptyWithoutSecondTail() {
      ring.swapNext(FIRST);
    }

    @Actor
    public void owner() {
      for (int i = 0; i < ROUNDS; i++) {
        G kicked = ring.swapNext(SECOND);
        ring.offer(kicked);
        ring.takeNext();
        ring.swapNext(SECOND);
        ring.poll();
      }
    }

    @Actor
    public void observer() {
      for (int i = 0; i < ROUNDS; i++) {
        empty |= ring.isEmptyWithoutSecondTail();
      }
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = empty ? "LOST" : "seen";
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("the owner takes by a plain store")
  @State
  public static class TwoTakers {
    private static final G FIRST = IdleModel.newG(1);

    private final BrokenRing ring = new BrokenRing(4);
    private boolean own;
    private boolean stolen;

    public TwoTakers() {
      ring.swapNext(FIRST);
    }

    @Actor
    public void owner() {
      own = ring.takeNextByPlainStore() != null;
    }

    @Actor
    public void thief() {
      G g = ring.peekNext();
      stolen = g != null && ring.stealNext(g);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = own ? stolen ? "TWICE" : "owner" : stolen ? "thief" : "LOST";
    }
  }
}
