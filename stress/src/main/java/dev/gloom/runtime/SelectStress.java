package dev.gloom.runtime;

import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Selects: whoever is in several queues is served from one of them, and two selects that fit each
/// other meet. {@link SelectBrokenStress} has the twins.
public class SelectStress {
  /// A select that waits to receive from two channels, made by hand.
  static class Waiting {
    final Channel a = new Channel(0);
    final Channel b = new Channel(0);
    final Ticket fromA = new Ticket(Ticket.Kind.RECV, a, null);
    final Ticket fromB = new Ticket(Ticket.Kind.RECV, b, null);
    final Waiter waiter = new Waiter(Ticket.Kind.RECV, null, true);

    Waiting() {
      a.queue(Ticket.Kind.RECV).push(fromA, waiter);
      b.queue(Ticket.Kind.RECV).push(fromB, waiter);
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("two senders against one select that waits for both")
  @State
  public static class TwoSenders extends Waiting {
    private Channel.Outcome toA;
    private Channel.Outcome toB;

    @Actor
    public void first() {
      toA = a.attemptSend("a", null);
    }

    @Actor
    public void second() {
      toB = b.attemptSend("b", null);
    }

    @Arbiter
    public void end(L_Result r) {
      boolean sentA = toA == Channel.Outcome.DONE;
      boolean sentB = toB == Channel.Outcome.DONE;
      boolean right =
          waiter.value == (sentA ? "a" : "b") && waiter.winner == (sentA ? fromA : fromB);
      r.r1 = sentA && sentB ? "TWICE" : !(sentA || sentB) || !right ? "LOST" : "one of them";
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("a send against a select that gives up, as an interrupt or a time-out does")
  @State
  public static class Cancel extends Waiting {
    private Channel.Outcome sent;
    private boolean gaveUp;

    @Actor
    public void sender() {
      sent = a.attemptSend("a", null);
    }

    @Actor
    public void canceller() {
      gaveUp = waiter.withdraw();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = ChannelStress.oneOfTwo(sent == Channel.Outcome.DONE, gaveUp);
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("close against a send to a select that waits for both channels")
  @State
  public static class CloseAgainstSend extends Waiting {
    private Channel.Outcome sent;

    @Actor
    public void sender() {
      sent = a.attemptSend("a", null);
    }

    @Actor
    public void closer() {
      b.closeNow();
    }

    @Arbiter
    public void end(L_Result r) {
      boolean got = waiter.state == Waiter.DONE && waiter.ok && waiter.value == "a";
      boolean closed = waiter.state == Waiter.DONE && !waiter.ok && waiter.winner == fromB;
      r.r1 =
          got && sent == Channel.Outcome.DONE
              ? "sent"
              : closed && sent == Channel.Outcome.BLOCKED ? "closed" : "LOST";
    }
  }

  /// The real thing, parking included: each sends on one channel and receives from the other, so
  /// that they meet on one of them, and whichever comes later meets the other's ticket.
  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("two selects against each other")
  @State
  public static class TwoSelects {
    private final Channel a = new Channel(0);
    private final Channel b = new Channel(0);
    private String first;
    private String second;

    @Actor
    public void first() {
      first =
          select(new Named("sent a", Ticket.Kind.SEND, a), new Named("got b", Ticket.Kind.RECV, b));
    }

    @Actor
    public void second() {
      second =
          select(new Named("sent b", Ticket.Kind.SEND, b), new Named("got a", Ticket.Kind.RECV, a));
    }

    private static String select(Named... cases) {
      try {
        return (String)
            Selector.select(
                new Object[] {cases[0], cases[1], new Named("nothing", Ticket.Kind.AFTER, null)});
      } catch (Exception e) {
        return e.toString();
      }
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = meeting(first, second);
    }
  }

  static String meeting(String first, String second) {
    return switch (first + ", " + second) {
      case "sent a, got a" -> "on a";
      case "got b, sent b" -> "on b";
      default -> "LOST";
    };
  }

  /// A case that answers with its name. As AFTER it stands for a meeting that never came.
  private static final class Named extends Ticket {
    private final String name;

    Named(String name, Kind kind, Channel channel) {
      super(kind, channel, kind == Kind.AFTER ? Duration.ofSeconds(10) : "value");
      this.name = name;
    }

    @Override
    protected Object chosen(Object received, boolean ok) {
      return name;
    }
  }
}
