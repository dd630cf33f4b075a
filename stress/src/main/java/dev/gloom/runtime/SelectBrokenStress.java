package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Twins of {@link SelectStress}: claims without a CAS, and a select that does not hold its
/// channels still.
public class SelectBrokenStress {
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("two senders that claim the select by a look and a store")
  @State
  public static class TwoSenders extends SelectStress.Waiting {
    private boolean sentA;
    private boolean sentB;

    @Actor
    public void first() {
      sentA = send(a);
    }

    @Actor
    public void second() {
      sentB = send(b);
    }

    private boolean send(Channel c) {
      c.acquire();
      boolean claimed = !waiter.isStale();
      if (claimed) {
        waiter.state = Waiter.DONE;
      }
      c.release();
      return claimed;
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = sentA && sentB ? "TWICE" : sentA || sentB ? "one of them" : "LOST";
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("a send against a select that gives up by a look and a store")
  @State
  public static class Cancel extends SelectStress.Waiting {
    private Channel.Outcome sent;
    private boolean gaveUp;

    @Actor
    public void sender() {
      sent = a.attemptSend("a", null);
    }

    @Actor
    public void canceller() {
      gaveUp = !waiter.isStale();
      if (gaveUp) {
        waiter.state = Waiter.WITHDRAWN;
      }
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = ChannelStress.oneOfTwo(sent == Channel.Outcome.DONE, gaveUp);
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("two selects that look at their channels, let go, and queue up then")
  @State
  public static class TwoSelects {
    private final Channel a = new Channel(0);
    private final Channel b = new Channel(0);
    private String first;
    private String second;
    private Waiter one;
    private Waiter other;

    @Actor
    public void first() {
      one = new Waiter(Ticket.Kind.RECV, null, true);
      first = select(one, a, "sent a", b, "got b");
    }

    @Actor
    public void second() {
      other = new Waiter(Ticket.Kind.RECV, null, true);
      second = select(other, b, "sent b", a, "got a");
    }

    private static String select(Waiter self, Channel to, String sent, Channel from, String got) {
      if (to.attemptSend("value", null) == Channel.Outcome.DONE) {
        return sent;
      }
      if (from.attemptRecv(null) == "value") {
        return got;
      }
      push(self, to, Ticket.Kind.SEND);
      push(self, from, Ticket.Kind.RECV);
      return "waits";
    }

    private static void push(Waiter self, Channel c, Ticket.Kind kind) {
      c.acquire();
      c.queue(kind).push(new Ticket(kind, c, "value"), self);
      c.release();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 =
          SelectStress.meeting(
              resolve(first, one, "sent a", "got b"), resolve(second, other, "sent b", "got a"));
    }

    private static String resolve(String answer, Waiter w, String sent, String got) {
      if (!answer.equals("waits") || w.state != Waiter.DONE || w.winner == null) {
        return answer;
      }
      return w.winner.kind == Ticket.Kind.SEND ? sent : got;
    }
  }
}
