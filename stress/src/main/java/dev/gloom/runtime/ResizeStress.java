package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Changes of maxProcs: what a P has that goes, or gets company, is neither lost nor had twice.
/// {@link ResizeBrokenStress} is the twin.
public class ResizeStress {
  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("an alarm is armed on a P that goes")
  @State
  public static class LateAlarm {
    private final TimerHeap goes = new TimerHeap();
    private final TimerHeap stays = new TimerHeap();
    private final Alarm alarm = IdleModel.alarm(5);

    @Actor
    public void armer() {
      if (goes.add(alarm) == TimerHeap.Added.CLOSED) {
        stays.add(alarm); // Sched.addToAny
      }
    }

    @Actor
    public void owner() {
      Alarm moved = goes.close(); // Resize.moveAlarms
      if (moved != null) {
        stays.add(moved);
      }
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = stays.ringDue(5) == 1 ? "kept" : "LOST";
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("a P goes and gives its goroutines away while an M goes idle")
  @State
  public static class Drain extends ResizeModel {
    private final G g = newG(1);
    private final G h = newG(2);

    public Drain() {
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
      wake(); // Idle.join
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
  @Description("a P gives its goroutines away while a thief that still knows it takes some")
  @State
  public static class DrainAgainstThief {
    private final G[] gs = Tally.gs(4);
    private final RunQueue queue = new RunQueue(4);
    private final RunQueue into = new RunQueue(4);
    private final GlobalQueue global = new GlobalQueue();
    private G last;

    public DrainAgainstThief() {
      for (int i = 0; i < 3; i++) {
        queue.offer(gs[i]);
      }
      queue.swapNext(gs[3]);
    }

    @Actor
    public void owner() {
      G chain = queue.takeChain(4); // P.drain
      for (G g = chain; g != null; g = chain) {
        chain = g.link;
        global.put(g);
      }
      G next = queue.takeNext();
      if (next != null) {
        global.put(next);
      }
    }

    @Actor
    public void thief() {
      last = queue.stealInto(into);
      if (queue.peekNext() == gs[3] && queue.stealNext(gs[3])) {
        into.swapNext(gs[3]);
      }
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 =
          new Tally(4)
              .tookChain(global.takeChain(4))
              .took(into.takeNext())
              .stole(last, into::poll)
              .left(queue::poll)
              .outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("maxProcs takes the idle P while work comes for it")
  @State
  public static class IdleProcGoes extends ResizeModel {
    private final G g = newG(1);

    public IdleProcGoes() {
      super(1, 0);
      otherMs = 1;
    }

    @Actor
    public void resizer() {
      retire();
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
  @JCStressMeta(Grading.Sound.class)
  @Description("the only P puts one into its ring without a word, and gets company")
  @State
  public static class Company extends ResizeModel {
    private final G g = newG(1);
    private volatile int max = 1;
    private volatile int request;

    public Company() {
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
      request = P.TELL;
      wake();
      if (!hasQueuedWork()) {
        release(true);
      }
    }

    /// FindWork.serve, at its next scheduling point.
    private String told() {
      if (request == P.TELL) {
        publishedInRing();
      }
      return outcome();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = told();
    }
  }
}
