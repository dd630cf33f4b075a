package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// The wake-up protocol of `Idle`: whoever makes a goroutine runnable against an M that goes to
/// sleep. Never is there work, an idle P, and nobody who looks or has been woken. {@link
/// WakeupBrokenStress} is the twin.
public class WakeupStress {
  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("into the global queue, against an M that searched")
  @State
  public static class GlobalAgainstSearcher extends IdleModel {
    private final G g = newG(1);

    public GlobalAgainstSearcher() {
      super(0, 1);
    }

    @Actor
    public void submitter() {
      global.put(g);
      wake();
    }

    @Actor
    public void m() {
      release(true);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("into the global queue, against an M that may not search")
  @State
  public static class GlobalAgainstBusy extends IdleModel {
    private final G g = newG(1);

    public GlobalAgainstBusy() {
      super(0, 0);
    }

    @Actor
    public void submitter() {
      global.put(g);
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
  @Description("from a thread that is no M, against an M that searched; one waits already")
  @State
  public static class OutsideAgainstSearcher extends IdleModel {
    private final G g = newG(2);

    public OutsideAgainstSearcher() {
      super(1, 1);
      global.put(newG(1));
    }

    @Actor
    public void submitter() {
      global.put(g);
      wakeFromOutside();
    }

    @Actor
    public void m() {
      global.take();
      foundWork();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("into run-next, by a swap")
  @State
  public static class RunNext extends IdleModel {
    private final G g = newG(1);

    public RunNext() {
      super(0, 0);
    }

    @Actor
    public void submitter() {
      queue.swapNext(g);
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
  @Description("into the ring, by a release store and a fence: M.dispatch of one that yielded")
  @State
  public static class Ring extends IdleModel {
    private final G g = newG(1);

    public Ring() {
      super(0, 0);
    }

    @Actor
    public void submitter() {
      g.setQueued();
      yielded.offer(g);
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
  @Description("run-next pushes one out into the ring, without a fence, and is run")
  @State
  public static class KickOut extends KickOutModel {
    public KickOut() {
      super(false);
    }

    @Actor
    public void submitter() {
      if (p.putNext(second)) {
        wake();
      }
      p.takeNext();
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
  @Description("the same on a P that keeps its run-next, where others look at the ring only")
  @State
  public static class KeptKickOut extends KickOutModel {
    public KeptKickOut() {
      super(true);
    }

    @Actor
    public void submitter() {
      if (p.putNext(second)) {
        wake();
      }
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
  @Description("the searcher that a submitter relied on finds something and stops")
  @State
  public static class FoundWork extends IdleModel {
    private final G g = newG(1);

    public FoundWork() {
      super(1, 1);
    }

    @Actor
    public void submitter() {
      global.put(g);
      wake();
    }

    @Actor
    public void searcher() {
      foundWork();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  /// A waker whose own work is gone already, and everybody else, one after the other: the idle P is
  /// taken, falls idle again, and a submitter relies on the waker, which counts as a searcher.
  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("whoever counted itself as searcher finds that the idle P is gone")
  @State
  public static class LostProc extends IdleModel {
    private final G g = newG(1);

    public LostProc() {
      super(1, 0);
    }

    @Actor
    public void waker() {
      wake();
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
