package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Twins of {@link ChannelStress}: the same queues and the same lock, but what is seen under it is
/// acted on later.
public class ChannelBrokenStress {
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("close against a send that looks whether it is closed before it has the lock")
  @State
  public static class CloseAgainstSend {
    private final SpinLock lock = new SpinLock();
    private final WaitQueue senders = new WaitQueue();
    private final Waiter sender = new Waiter(Ticket.Kind.SEND, "value", false);
    private volatile boolean closed;
    private Channel.Outcome sent;

    @Actor
    public void sender() {
      if (closed) {
        sent = Channel.Outcome.CLOSED;
        return;
      }
      lock.acquire();
      senders.push(sender, sender);
      lock.release();
      sent = Channel.Outcome.BLOCKED;
    }

    @Actor
    public void closer() {
      closed = true;
      lock.acquire();
      Waiter w = senders.claimFirst();
      lock.release();
      if (w != null) {
        w.wake();
      }
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = ChannelStress.told(sent, sender);
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("a sender and a receiver that look for each other and queue up in two sections")
  @State
  public static class Meeting {
    private final Channel channel = new Channel(0);
    private final Waiter sender = new Waiter(Ticket.Kind.SEND, "value", false);
    private final Waiter receiver = new Waiter(Ticket.Kind.RECV, null, false);
    private Channel.Outcome sent;
    private Object received;

    @Actor
    public void sender() {
      sent = channel.attemptSend("value", null);
      if (sent == Channel.Outcome.BLOCKED) {
        channel.acquire();
        channel.queue(Ticket.Kind.SEND).push(sender, sender);
        channel.release();
      }
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
  @JCStressMeta(Grading.Broken.class)
  @Description("a send against a receiver that looks at its state, not at the queue")
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
      gaveUp = receiver.state != Waiter.DONE;
      channel.queue(Ticket.Kind.RECV).withdraw(channel, receiver, receiver);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = ChannelStress.oneOfTwo(sent == Channel.Outcome.DONE, gaveUp);
    }
  }
}
