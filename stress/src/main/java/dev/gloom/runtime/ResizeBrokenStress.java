package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Twins of {@link ResizeStress} that lose goroutines, alarms or Ps.
public class ResizeBrokenStress {
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("an alarm is armed on a P that goes, and the heap is asked before its lock is held")
  @State
  public static class LateAlarmUnchecked {
    private final SpinLock lock = new SpinLock();
    private volatile boolean closed;
    private int inTheHeap; // guarded by lock
    private int elsewhere;

    @Actor
    public void armer() {
      if (closed) {
        elsewhere++;
      } else {
        lock.acquire();
        inTheHeap++;
        lock.held = 0;
      }
    }

    @Actor
    public void owner() {
      lock.acquire();
      closed = true;
      int moved = inTheHeap;
      inTheHeap = 0;
      lock.held = 0;
      elsewhere += moved;
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = inTheHeap == 0 ? "kept" : "LOST";
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("nobody is told of the goroutines of a P that went")
  @State
  public static class SilentDrain extends ResizeModel {
    private final G g = newG(1);
    private final G h = newG(2);

    public SilentDrain() {
      super(0, 0);
      queue.offer(g);
      yielded.offer(h);
    }

    @Actor
    public void owner() {
      noMoreInProcs(); // retired
      G first = yielded.takeChain(4); // P.drain
      global.putChainFirst(first, first, 1);
      G second = queue.takeChain(4);
      global.putChainFirst(second, second, 1);
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
  @Description("a P counts its goroutines first and then gives away as many, by a plain store")
  @State
  public static class DrainByPlainStore {
    private final G[] gs = Tally.gs(2);
    private final BrokenRing ring = new BrokenRing(4);
    private final BrokenRing into = new BrokenRing(4);
    private G first;
    private G second;
    private G last;

    public DrainByPlainStore() {
      ring.offer(gs[0]);
      ring.offer(gs[1]);
    }

    @Actor
    public void owner() {
      first = ring.pollByPlainStore();
      second = ring.pollByPlainStore();
    }

    @Actor
    public void thief() {
      last = ring.stealInto(into);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 =
          new Tally(2).took(first).took(second).stole(last, into::poll).left(ring::poll).outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("maxProcs looks for an idle P before it has the lock")
  @State
  public static class IdleProcTakenTwice extends ResizeModel {
    private final G g = newG(1);

    public IdleProcTakenTwice() {
      super(1, 0);
      otherMs = 1;
    }

    @Actor
    public void resizer() {
      retireAfterALook();
    }

    @Actor
    public void submitter() {
      global.put(g);
      wake();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = fate();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("the only P is not asked to speak up when it gets company")
  @State
  public static class CompanyUntold extends ResizeModel {
    private final G g = newG(1);
    private volatile int max = 1;

    public CompanyUntold() {
      super(0, 0);
      otherMs = 1;
    }

    @Actor
    public void owner() {
      delayStores();
      yielded.offer(g); // of the only P, which goes on computing
      if (max > 1) {
        publishedInRing();
      }
    }

    @Actor
    public void others() {
      max = 2;
      addP(); // Resize.grow, and the M that it wakes, which searches
      wake();
      if (!hasQueuedWork()) {
        release(true);
      }
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }
}
