package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Twins of {@link StealStress}, at {@link BrokenRing}.
public class StealBrokenStress {
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("the owner moves head by a plain store")
  @State
  public static class PollByPlainStore {
    private final G[] gs = Tally.gs(2);
    private final BrokenRing ring = new BrokenRing(4);
    private final BrokenRing into = new BrokenRing(4);
    private G polled;
    private G last;

    public PollByPlainStore() {
      for (int i = 0; i < 2; i++) {
        ring.offer(gs[i]);
      }
    }

    @Actor
    public void owner() {
      polled = ring.pollByPlainStore();
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
  @JCStressMeta(Grading.Broken.class)
  @Description(
      "the thief moves head first and copies the slots then, when the owner may write them")
  @State
  public static class CopyAfterCas {
    private final G[] gs = Tally.gs(6);
    private final BrokenRing ring = new BrokenRing(4);
    private final BrokenRing into = new BrokenRing(4);
    private G polled;
    private G polledToo;
    private G last;

    public CopyAfterCas() {
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
      last = ring.copyAfterCas(into);
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
  @JCStressMeta(Grading.Broken.class)
  @Description("the owner takes half and moves head by a plain store")
  @State
  public static class SpillByPlainStore {
    private final G[] gs = Tally.gs(4);
    private final BrokenRing ring = new BrokenRing(4);
    private final BrokenRing into = new BrokenRing(4);
    private G chain;
    private G last;

    public SpillByPlainStore() {
      for (int i = 0; i < 4; i++) {
        ring.offer(gs[i]);
      }
    }

    @Actor
    public void owner() {
      chain = ring.takeOlderHalfByPlainStore();
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
  @JCStressMeta(Grading.Broken.class)
  @Description("the owner takes everything and moves head by a plain store")
  @State
  public static class TakeChainByPlainStore {
    private final G[] gs = Tally.gs(3);
    private final BrokenRing ring = new BrokenRing(4);
    private final BrokenRing into = new BrokenRing(4);
    private G chain;
    private G last;

    public TakeChainByPlainStore() {
      for (int i = 0; i < 3; i++) {
        ring.offer(gs[i]);
      }
    }

    @Actor
    public void owner() {
      chain = ring.takeChainByPlainStore();
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
  @JCStressMeta(Grading.Broken.class)
  @Description("one of two thieves moves head by a plain store")
  @State
  public static class ThiefByPlainStore {
    private final G[] gs = Tally.gs(3);
    private final BrokenRing ring = new BrokenRing(4);
    private final BrokenRing into = new BrokenRing(4);
    private final BrokenRing otherInto = new BrokenRing(4);
    private G last;
    private G otherLast;

    public ThiefByPlainStore() {
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
      otherLast = ring.stealByPlainStore(otherInto);
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
