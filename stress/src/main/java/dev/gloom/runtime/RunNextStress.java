package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// The real run-next slot of {@link RunQueue}. {@link RunNextBrokenStress} is the twin.
public class RunNextStress {
  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("pushed from run-next into the ring, and run-next taken, against a look")
  @State
  public static class IsEmpty {
    private static final G FIRST = IdleModel.newG(1);
    private static final G SECOND = IdleModel.newG(2);
    private static final int ROUNDS = 10;

    private final RunQueue ring = new RunQueue(4);
    private boolean empty;

    public IsEmpty() {
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
        empty |= ring.isEmpty();
      }
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = empty ? "LOST" : "seen";
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("the owner and a thief take the same goroutine")
  @State
  public static class OneTaker {
    private static final G FIRST = IdleModel.newG(1);

    private final RunQueue ring = new RunQueue(4);
    private boolean own;
    private boolean stolen;

    public OneTaker() {
      ring.swapNext(FIRST);
    }

    @Actor
    public void owner() {
      own = ring.takeNext() != null;
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
