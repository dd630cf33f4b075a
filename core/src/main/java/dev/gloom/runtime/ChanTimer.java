package dev.gloom.runtime;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// The clockwork of a timer's channel: when the next value is due, and how often.
///
/// Nothing is ever sent. A value is *due*, which is a comparison with the clock, and whoever
/// receives takes it: the receive writes down when the next one is. So there is no buffer in which
/// a value could go stale, a timer that nobody waits for costs no work and is held by nobody, and
/// {@link #stop} and {@link #reset} only write a field. All of it is guarded by the channel's lock,
/// in which a receive happens as well: after a stop or reset nobody gets a value of before.
///
/// Only who parks needs more, an alarm that wakes it. The rule: **a receiver goes into the queue
/// only while an alarm is armed that rings no later than `when`** ({@link #watched}). Whoever finds
/// none leaves the lock, arms one ({@link #watch}) and tries again.
///
/// - An alarm is installed after it is armed, so one that is installed rings, and what fails on the
///   way (no stack, no memory) fails with nobody in the queue.
/// - One that rings before it is installed is not installed: a value is due then, or the time has
///   been changed. Whoever armed it looks again.
/// - One that rings serves the first receiver if a value is due, installed or not, and is armed
///   again if it is installed and others wait. If the time has been set back meanwhile it only does
///   the latter. So a reset to a later time leaves the alarm alone, and one to an earlier time,
///   with somebody in the queue, arms another.
/// - The last receiver to leave, or to find that it need not wait, takes the alarm away ({@link
///   #unwatch}), so that neither the collector nor the search for deadlocks meets it.
///
/// An alarm that rings is armed again outside the lock. Who takes it away in between finds nothing
/// to cancel; it writes `alarm` first, then, and the other reads that after it has armed.
///
/// Go: `timer` with `isChan`, `maybeRunChan`, `blockTimerChan`, `unblockTimerChan`
public final class ChanTimer {
  private static final long NEVER = Alarm.NEVER;

  /// Before an alarm that found no memory for a value tries again.
  private static final long RETRY_NANOS = 1_000_000;

  private final Channel channel = new Channel(this);

  // Guarded by the channel's lock. Times are those of Clock.SYSTEM.

  /// When the next value is due; NEVER: stopped, or it has been received.
  private long when;

  /// 0: only one.
  private long period;

  /// Rings for those that wait; written under the lock.
  volatile @Nullable Ring alarm;

  /// When that rings.
  long alarmAt;

  /// Running. With a period of 0 there will be one value.
  public ChanTimer(long delayNanos, long periodNanos) {
    when = later(Clock.SYSTEM.nanoTime(), delayNanos);
    period = periodNanos;
  }

  /// Where the values come out.
  public Channel channel() {
    return channel;
  }

  /// No more values; whether there was one to come, or one that nobody has received.
  public boolean stop() {
    return set(NEVER, 0, false);
  }

  /// From now on as if it were new; whether there was one to come before, or one that nobody has
  /// received.
  public boolean reset(long delayNanos, long periodNanos) {
    Headroom.check(); // a receiver may have to be given a new alarm
    return set(later(Clock.SYSTEM.nanoTime(), delayNanos), periodNanos, true);
  }

  private boolean set(long newWhen, long newPeriod, boolean runs) {
    boolean done = false;
    boolean pending = false;
    boolean unwatched = false;
    Ring old = null;
    channel.acquire();
    try {
      unwatched = runs && !isWatchedUntil(newWhen) && channel.hasReceiver();
      pending = when != NEVER;
      when = newWhen;
      period = newPeriod;
      if (!runs) {
        old = alarm;
        alarm = null;
      }
      done = true;
      channel.release();
    } catch (Throwable e) {
      channel.held = 0;
      if (!done) {
        throw e;
      }
    }
    if (old != null) {
      old.drop();
    }
    while (unwatched) {
      watch();
      unwatched = isWaitingUnwatched();
    }
    return pending;
  }

  private boolean isWaitingUnwatched() {
    boolean waiting = false;
    channel.acquire();
    try {
      waiting = !watched() && channel.hasReceiver();
      channel.release();
    } catch (Throwable e) {
      channel.held = 0;
      throw e;
    }
    return waiting;
  }

  // For the channel, under its lock.

  boolean isDue() {
    return when != NEVER && when <= Clock.SYSTEM.nanoTime();
  }

  /// The value that is due, or BLOCKED.
  Object take() {
    long now = Clock.SYSTEM.nanoTime();
    if (when > now) {
      return Channel.Outcome.BLOCKED;
    }
    Object value = timeOf(when, now);
    advance(now);
    return value;
  }

  /// Whether a receiver may go to sleep.
  boolean watched() {
    return isWatchedUntil(when);
  }

  private boolean isWatchedUntil(long time) {
    return time == NEVER || alarm != null && alarmAt <= time;
  }

  /// On to the next: those that were missed are dropped, and the phase is kept. No call.
  private void advance(long now) {
    long every = period;
    if (every == 0) {
      when = NEVER;
    } else {
      long next = when + every * (1 + (now - when) / every);
      when = next < 0 ? NEVER - 1 : next;
    }
  }

  /// What the wall's clock showed then.
  private static Instant timeOf(long when, long now) {
    return Instant.now().minusNanos(now - when);
  }

  // Around the lock.

  /// Arms an alarm, if there is none that rings in time.
  void watch() {
    long at;
    channel.acquire();
    at = alarm != null && alarmAt <= when ? NEVER : when;
    channel.held = 0;
    if (at == NEVER) {
      return;
    }
    var fresh = new Ring(this);
    Alarm.armAfter(fresh, at - Clock.SYSTEM.nanoTime());
    Ring out = fresh;
    channel.acquire();
    Ring old = alarm;
    if (!fresh.rung && at <= when && (old == null || alarmAt > at)) {
      out = old;
      alarm = fresh;
      alarmAt = at;
    }
    channel.held = 0;
    if (out != null) {
      out.drop();
    }
  }

  /// Takes the alarm away, if nobody waits any more.
  void unwatch() {
    if (alarm == null) {
      return;
    }
    boolean done = false;
    Ring old = null;
    channel.acquire();
    try {
      if (!channel.hasReceiver()) {
        old = alarm;
        alarm = null;
      }
      done = true;
      channel.release();
    } catch (Throwable e) {
      channel.held = 0;
      if (!done) {
        throw e;
      }
    }
    if (old != null) {
      old.drop();
    }
  }

  /// An alarm of this timer rings.
  private void rings(Ring ring) {
    Waiter served = null;
    long delay = -1; // not again
    channel.acquire();
    try {
      ring.rung = true;
      long now = Clock.SYSTEM.nanoTime();
      if (when <= now) {
        served = serve(now);
      }
      if (alarm == ring) {
        if (when != NEVER && channel.hasReceiver()) {
          delay = Math.max(0, when - now);
          alarmAt = when;
        } else {
          alarm = null;
        }
      }
      channel.release();
    } catch (OutOfMemoryError e) { // no room for the value
      channel.held = 0;
      delay = RETRY_NANOS;
    } catch (Throwable e) {
      channel.held = 0;
      throw e;
    }
    if (served != null) {
      served.wake();
    }
    if (delay >= 0) {
      try {
        ring.again(delay);
      } catch (OutOfMemoryError e) { // no room in the heap: the next receiver arms another
        channel.acquire();
        if (alarm == ring) {
          alarm = null;
        }
        channel.held = 0;
      }
      if (alarm != ring) {
        ring.drop(); // taken away while it could not be cancelled
      }
    }
  }

  /// Gives the value that is due to the first receiver, who is to be woken; null if there is none.
  private @Nullable Waiter serve(long now) {
    Instant value = timeOf(when, now);
    Waiter w = channel.claimReceiver();
    if (w != null) {
      w.value = value;
      w.ok = true;
      advance(now);
    }
    return w;
  }

  /// Whether it has an alarm: somebody waits. For tests.
  boolean isArmed() {
    return alarm != null;
  }

  /// A Duration reaches further than a long of nanoseconds, which is 292 years.
  public static long nanos(Duration duration) {
    try {
      return duration.toNanos();
    } catch (ArithmeticException e) {
      return duration.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
  }

  private static long later(long now, long delayNanos) {
    long at = now + Math.max(0, delayNanos);
    return at < 0 ? NEVER - 1 : at;
  }

  /// Rings for those that wait in the channel.
  static final class Ring extends Alarm {
    /// Let go of when it is over: a cancelled alarm may lie in a heap for a while, and the timer
    /// should not.
    private volatile @Nullable ChanTimer timer;

    /// Guarded by the channel's lock.
    boolean rung;

    Ring(ChanTimer timer) {
      this.timer = timer;
    }

    @Override
    protected void ring() {
      ChanTimer t = timer;
      if (t != null) {
        t.rings(this);
      }
    }

    void drop() {
      cancel();
      timer = null;
    }
  }
}
