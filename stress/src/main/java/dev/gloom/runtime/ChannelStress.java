package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// One channel, real, up to the point where somebody would park: whoever has to wait is left in the
/// queue, and at the end it must have been served. {@link ChannelBrokenStress} has the twins.
public class ChannelStress {
  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("close against a send that has to wait")
  @State
  public static class CloseAgainstSend {
    private final Channel channel = new Channel(0);
    private final Waiter sender = new Waiter(Ticket.Kind.SEND, "value", false);
    private Channel.Outcome sent;

    @Actor
    public void sender() {
      sent = channel.attemptSend("value", sender);
    }

    @Actor
    public void closer() {
      channel.closeNow();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = told(sent, sender);
    }
  }

  /// What a sender on a channel that is closed now has been told.
  static String told(Channel.Outcome sent, Waiter sender) {
    if (sent == Channel.Outcome.CLOSED) {
      return "was closed";
    }
    return sender.state == Waiter.DONE && !sender.ok ? "closed while it waited" : "LOST";
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("close against a send that has room; what was sent can still be received")
  @State
  public static class CloseAgainstSendWithRoom {
    private final Channel channel = new Channel(1);
    private Channel.Outcome sent;

    @Actor
    public void sender() {
      sent = channel.attemptSend("value", null);
    }

    @Actor
    public void closer() {
      channel.closeNow();
    }

    @Arbiter
    public void end(L_Result r) {
      boolean there = channel.attemptRecv(null) == "value";
      r.r1 =
          switch (sent) {
            case DONE -> there ? "sent" : "LOST";
            case CLOSED -> there ? "TWICE" : "was closed";
            case BLOCKED -> "BLOCKED";
          };
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("a sender and a receiver, each of which would wait, meet")
  @State
  public static class Meeting {
    private final Channel channel = new Channel(0);
    private final Waiter sender = new Waiter(Ticket.Kind.SEND, "value", false);
    private final Waiter receiver = new Waiter(Ticket.Kind.RECV, null, false);
    private Channel.Outcome sent;
    private Object received;

    @Actor
    public void sender() {
      sent = channel.attemptSend("value", sender);
    }

    @Actor
    public void receiver() {
      received = channel.attemptRecv(receiver);
    }

    @Arbiter
    public void end(L_Result r) {
      boolean gave = sent == Channel.Outcome.DONE || sender.state == Waiter.DONE && sender.ok;
      boolean got =
          received == "value" || receiver.state == Waiter.DONE && receiver.value == "value";
      r.r1 = gave && got ? "met" : "LOST";
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("a send against a receiver that gives up waiting")
  @State
  public static class SendAgainstCancel {
    private final Channel channel = new Channel(0);
    private final Waiter receiver = new Waiter(Ticket.Kind.RECV, null, false);
    private Channel.Outcome sent;
    private boolean gaveUp;

    public SendAgainstCancel() {
      channel.attemptRecv(receiver);
    }

    @Actor
    public void sender() {
      sent = channel.attemptSend("value", null);
    }

    @Actor
    public void receiver() {
      gaveUp = channel.queue(Ticket.Kind.RECV).withdraw(channel, receiver, receiver);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = oneOfTwo(sent == Channel.Outcome.DONE, gaveUp);
    }
  }

  static String oneOfTwo(boolean sent, boolean gaveUp) {
    if (sent) {
      return gaveUp ? "LOST" : "sent";
    }
    return gaveUp ? "gave up" : "NEITHER";
  }
}
