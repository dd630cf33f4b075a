package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Twins of {@link WakeupStress} that lose wake-ups.
public class WakeupBrokenStress {
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("I3 before I2: looks at the queues while it still counts as a searcher")
  @State
  public static class RescanFirst extends IdleModel {
    private final G g = newG(1);

    public RescanFirst() {
      super(0, 1);
    }

    @Actor
    public void submitter() {
      global.put(g);
      wake();
    }

    @Actor
    public void m() {
      giveUpP();
      boolean seen = hasQueuedWork();
      stopSearching();
      if (seen) {
        takeBack();
      }
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("no I3 for an M that did not search")
  @State
  public static class NoRescan extends IdleModel {
    private final G g = newG(1);

    public NoRescan() {
      super(0, 0);
    }

    @Actor
    public void submitter() {
      global.put(g);
      wake();
    }

    @Actor
    public void m() {
      giveUpP();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("into the ring by a release store, and no fence")
  @State
  public static class NoFence extends IdleModel {
    private final G g = newG(1);

    public NoFence() {
      super(0, 0);
    }

    @Actor
    public void submitter() {
      g.setQueued();
      yielded.offer(g);
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
  @JCStressMeta(Grading.Broken.class)
  @Description("into the global queue, whose lock is released by a release store, no fence")
  @State
  public static class GlobalWithoutFence extends IdleModel {
    private final SpinLock globalLock = new SpinLock();
    private int globalSize;

    public GlobalWithoutFence() {
      super(0, 0);
    }

    @Actor
    public void submitter() {
      globalLock.acquire();
      globalSize++;
      HELD.setRelease(globalLock, 0);
      wake();
    }

    @Actor
    public void m() {
      release(false);
    }

    /// GlobalQueue.isEmpty.
    @Override
    boolean hasWorkForOthers() {
      return globalLock.held >= 0 && globalSize != 0;
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }

    private static final VarHandle HELD =
        ConstantBootstraps.fieldVarHandle(
            MethodHandles.lookup(), "held", VarHandle.class, SpinLock.class, int.class);
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("run-next pushes one out, no fence, and others look at the ring only")
  @State
  public static class KickOutUnfenced extends IdleModel {
    private final G g = newG(1);

    public KickOutUnfenced() {
      super(0, 0);
      queue.swapNext(newG(2));
    }

    @Actor
    public void submitter() {
      queue.offer(queue.swapNext(g));
      wake();
    }

    @Actor
    public void m() {
      release(false);
    }

    /// P.hasWorkForOthers of a P that keeps its run-next.
    @Override
    boolean hasWorkForOthers() {
      return queue.size() != 0;
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("the searcher that a submitter relied on does not look again")
  @State
  public static class FoundWorkAndLeft extends IdleModel {
    private final G g = newG(1);

    public FoundWorkAndLeft() {
      super(1, 1);
    }

    @Actor
    public void submitter() {
      global.put(g);
      wake();
    }

    @Actor
    public void searcher() {
      stopSearching();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("whoever counted itself as searcher and found no P does not start over")
  @State
  public static class NoStartOver extends IdleModel {
    private final G g = newG(1);

    public NoStartOver() {
      super(1, 0);
    }

    @Actor
    public void waker() {
      wakeWithoutStartingOver();
    }

    @Actor
    public void others() {
      leaveIdleList();
      release(false);
      queue.swapNext(g);
      wake();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }
}
