package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Thieves at the real ring of {@link RunQueue}, made small: nobody is lost and nobody taken twice.
/// {@link StealBrokenStress} is the twin.
public class StealStress {
  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("a thief against an owner who takes the oldest")
  @State
  public static class Poll {
    private final G[] gs = Tally.gs(2);
    private final RunQueue ring = new RunQueue(4);
    private final RunQueue into = new RunQueue(4);
    private G polled;
    private G last;

    public Poll() {
      for (int i = 0; i < 2; i++) {
        ring.offer(gs[i]);
      }
    }

    @Actor
    public void owner() {
      polled = ring.poll();
    }

    @Actor
    public void thief() {
      last = ring.stealInto(into);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = new Tally(2).took(polled).stole(last, into::poll).left(ring::poll).outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("a thief against an owner who takes some and puts others into their slots")
  @State
  public static class Overwrite {
    private final G[] gs = Tally.gs(6);
    private final RunQueue ring = new RunQueue(4);
    private final RunQueue into = new RunQueue(4);
    private G polled;
    private G polledToo;
    private G last;

    public Overwrite() {
      for (int i = 0; i < 4; i++) {
        ring.offer(gs[i]);
      }
    }

    @Actor
    public void owner() {
      polled = ring.poll();
      polledToo = ring.poll();
      ring.offer(gs[4]);
      ring.offer(gs[5]);
    }

    @Actor
    public void thief() {
      last = ring.stealInto(into);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 =
          new Tally(6)
              .took(polled)
              .took(polledToo)
              .stole(last, into::poll)
              .left(ring::poll)
              .outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("a thief against an owner who takes half of a full ring")
  @State
  public static class Spill {
    private final G[] gs = Tally.gs(4);
    private final RunQueue ring = new RunQueue(4);
    private final RunQueue into = new RunQueue(4);
    private G chain;
    private G last;

    public Spill() {
      for (int i = 0; i < 4; i++) {
        ring.offer(gs[i]);
      }
    }

    @Actor
    public void owner() {
      chain = ring.takeOlderHalf();
    }

    @Actor
    public void thief() {
      last = ring.stealInto(into);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = new Tally(4).tookChain(chain).stole(last, into::poll).left(ring::poll).outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("a thief against an owner who takes everything")
  @State
  public static class TakeChain {
    private final G[] gs = Tally.gs(3);
    private final RunQueue ring = new RunQueue(4);
    private final RunQueue into = new RunQueue(4);
    private G chain;
    private G last;

    public TakeChain() {
      for (int i = 0; i < 3; i++) {
        ring.offer(gs[i]);
      }
    }

    @Actor
    public void owner() {
      chain = ring.takeChain(3);
    }

    @Actor
    public void thief() {
      last = ring.stealInto(into);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = new Tally(3).tookChain(chain).stole(last, into::poll).left(ring::poll).outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("two thieves")
  @State
  public static class TwoThieves {
    private final G[] gs = Tally.gs(3);
    private final RunQueue ring = new RunQueue(4);
    private final RunQueue into = new RunQueue(4);
    private final RunQueue otherInto = new RunQueue(4);
    private G last;
    private G otherLast;

    public TwoThieves() {
      for (int i = 0; i < 3; i++) {
        ring.offer(gs[i]);
      }
    }

    @Actor
    public void thief() {
      last = ring.stealInto(into);
    }

    @Actor
    public void otherThief() {
      otherLast = ring.stealInto(otherInto);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 =
          new Tally(3)
              .stole(last, into::poll)
              .stole(otherLast, otherInto::poll)
              .left(ring::poll)
              .outcome();
    }
  }
}
