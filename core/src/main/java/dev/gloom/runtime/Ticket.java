package dev.gloom.runtime;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// One place in one queue of one channel: somebody waits here to send or to receive. A plain send
/// or receive has one, its {@link Waiter} itself; a select has one for each of its cases, and these
/// are the cases that its caller made, so that a select that waits makes nothing for each case.
///
/// Who may touch it: what is final, everybody. `owner` and the links belong to the channel's lock,
/// and `owner` is set exactly while the ticket is in a queue. A caller may keep a case and use it
/// again, also in two selects at once; the second one finds an owner, and uses a copy instead.
///
/// Go: `sudog`, `scase`
public class Ticket {
  /// What a ticket is for.
  public enum Kind {
    /// Receives.
    RECV,
    /// Sends.
    SEND,
    /// Is chosen after a time. Never in a queue.
    AFTER,
    /// Is chosen if nothing else can be. Never in a queue.
    OTHERWISE
  }

  final Kind kind;

  /// Null: a nil channel, on which nothing ever happens; or a kind that needs none.
  final @Nullable Channel channel;

  /// What to send; the time of an AFTER. Of a {@link Waiter} also what it received.
  @Nullable Object value;

  // Guarded by the channel's lock. The links make a ring, of one if it is in no queue.
  @Nullable Waiter owner;
  Ticket next = this;
  Ticket previous = this;

  /// For a case of a select.
  protected Ticket(Kind kind, @Nullable Channel channel, @Nullable Object value) {
    this.kind = kind;
    this.channel = channel;
    this.value = value;
  }

  /// The channel, if it has one.
  protected final @Nullable Channel channel() {
    return channel;
  }

  /// What to send.
  Object value() {
    Object v = value;
    assert v != null : "nothing to send";
    return v;
  }

  /// A second place in the same queue.
  Ticket copy() {
    return new Ticket(kind, channel, value);
  }

  /// How long to wait before an AFTER is chosen.
  long delayNanos() {
    var delay = (Duration) value;
    if (delay == null || delay.isNegative()) {
      return 0;
    }
    // A Duration reaches further than a long of nanoseconds, which is 292 years.
    return delay.getSeconds() > Long.MAX_VALUE / 1_000_000_000 - 1
        ? Long.MAX_VALUE
        : delay.toNanos();
  }

  /// This case was chosen: runs its branch, in the goroutine that selects. `ok` is false if the
  /// channel is closed; `received` is null then.
  protected @Nullable Object chosen(@Nullable Object received, boolean ok) throws Exception {
    throw new AssertionError(kind + " has no branch");
  }
}
