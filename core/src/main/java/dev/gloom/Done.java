package dev.gloom;

import dev.gloom.runtime.Alarm;
import dev.gloom.runtime.Cancellation;
import dev.gloom.runtime.ChanTimer;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// The part of a {@link Context} that can be cancelled: its channel, which is made when somebody
/// asks for it, and its deadline. The reason is a {@link ContextException}.
///
/// The channel: who makes it writes it and then reads the reason; who cancels writes the reason and
/// then reads the channel. So one of them closes it. An alarm: who arms it does so and then reads
/// the reason; who cancels writes the reason and then cancels the alarm.
///
/// Go: `cancelCtx`, `timerCtx`
final class Done extends Cancellation {
  /// The earliest of its own and those above; null if there is none.
  final @Nullable Instant deadline;

  private volatile @Nullable Chan<Void> chan;
  private volatile @Nullable Due due;

  Done(@Nullable Done parent, @Nullable Instant deadline) {
    super(parent);
    this.deadline = deadline;
  }

  Chan<Void> chan() {
    Chan<Void> c = chan;
    if (c == null) {
      Chan<Void> made = Chan.make();
      c = CHAN.compareAndSet(this, null, made) ? made : this.chan;
      assert c != null : "made and gone";
      reason(); // closes it, if need be
    }
    return c;
  }

  /// Cancels it when this time is over, or at once if it is zero or less.
  void cancelAfter(Duration delay, ContextException why) {
    if (!delay.isPositive()) {
      cancel(why);
      return;
    }
    if (reason() != null) {
      return;
    }
    var alarm = new Due(this, why);
    due = alarm;
    Alarm.armAfter(alarm, ChanTimer.nanos(delay));
    if (reason() != null) {
      alarm.drop();
    }
  }

  @Override
  protected void announce() {
    Chan<Void> c = chan;
    if (c != null) {
      c.channel.closeNow();
    }
  }

  @Override
  protected void cancelled() {
    Due alarm = due;
    if (alarm != null) {
      alarm.drop();
    }
  }

  /// The deadline. It cancels the tree on the scheduler's own thread: that blocks nowhere, and it
  /// works on a scheduler that starts no more goroutines.
  private static final class Due extends Alarm {
    private static final long RETRY_NANOS = 1_000_000;

    private final ContextException why;

    /// Let go of when it is over: a cancelled alarm may lie in a heap for a while.
    private volatile @Nullable Done done;

    Due(Done done, ContextException why) {
      this.done = done;
      this.why = why;
    }

    @Override
    protected void ring() {
      Done d = done;
      if (d != null) {
        try {
          d.cancel(why);
        } catch (OutOfMemoryError e) { // a hook: on with the others
          again(RETRY_NANOS);
        }
      }
    }

    void drop() {
      cancel();
      done = null;
    }
  }

  private static final VarHandle CHAN =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "chan", VarHandle.class, Done.class, Chan.class);
}
