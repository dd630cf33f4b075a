package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// The end of a blocking call against the one that takes its P: the rings of a P have one writer.
/// {@link BlockingBrokenStress} is the twin.
public class BlockingStress {
  /// A P that its M has left, with one goroutine in its ring. Each side puts one more: into the
  /// ring if it holds the P, else into the global queue.
  static class Model {
    private static final Sched SCHED = new Sched(1, Knobs.ofProcess());

    final P p = new P(SCHED, 0, new TimerHeap());
    final GlobalQueue global = new GlobalQueue();
    final G mine = IdleModel.newG(2);
    final G theirs = IdleModel.newG(3);
    boolean isMine;
    boolean isTheirs;

    Model() {
      p.queue.offer(IdleModel.newG(1));
      p.status = P.BLOCKED;
    }

    final void put(G g, boolean holds) {
      if (holds) {
        p.queue.offer(g);
      } else {
        global.put(g);
      }
    }

    final String outcome() {
      int n = 0;
      while (p.queue.poll() != null) {
        n++;
      }
      while (global.take() != null) {
        n++;
      }
      return n < 3 ? "LOST" : isMine && isTheirs ? "TWICE" : isMine ? "back" : "taken";
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("the call ends when sysmon takes its P")
  @State
  public static class EndAgainstRetake extends Model {
    @Actor
    public void backFromTheCall() {
      isMine = Blocking.take(p);
      put(mine, isMine);
    }

    @Actor
    public void taker() {
      isTheirs = Blocking.take(p);
      put(theirs, isTheirs);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("the call makes a goroutine ready when sysmon takes its P")
  @State
  public static class ReadyInsideAgainstRetake extends Model {
    @Actor
    public void insideTheCall() {
      put(mine, false); // it has no P for any purpose
    }

    @Actor
    public void taker() {
      isTheirs = Blocking.take(p);
      put(theirs, isTheirs);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }
}
