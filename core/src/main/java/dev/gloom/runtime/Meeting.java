package dev.gloom.runtime;

import dev.gloom.jdk.Carrier;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// Where a sender and a receiver of a channel without capacity meet that run at the same time, on
/// two Ps: instead of queueing up and suspending, the receiver stays a few microseconds at a slot,
/// and the sender puts its value there.
///
/// ```
/// 0       -> thread  a receiver comes: the place is its own     its CAS
/// null    -> WAITS   and says so                                a CAS; nobody else may
/// WAITS   -> value   a sender has given it that: both are done  its CAS
/// value   -> null    the receiver takes it                      a store; nobody else may
/// WAITS   -> null    nobody came                                the receiver's CAS
/// thread  -> 0       the receiver has gone                      a store, after that
/// ```
///
/// Each value is received once: only the CAS out of WAITS puts one in, only the receiver whose
/// place it is takes it out, and it leaves without one only if its own CAS out of WAITS wins.
/// (Broken twin: it leaves by a store.)
///
/// **The queues of the channel know nothing of it**, and need not. A sender or a select that queues
/// up while a receiver stands here does not see it, nor does a close; but the receiver soon looks
/// there, or leaves, and then goes to the queue like everybody. Who waits in a queue is not
/// overtaken: who finds somebody of its kind there does not come here, nor does who finds somebody
/// of the other kind there, or the channel closed.
///
/// **When.** Two goroutines that hand values to each other through run-next, on one P, pay for two
/// switches a round trip; on two Ps they pay for the way between the cores, which may be half of
/// that or three times as much, and use two cores instead of one. So it is tried ({@link
/// Sched#apart}), and only where a P has nobody else to run and another is idle: then the one of
/// the pair that is about to wait gives the other one away, and stays until that has got there.
/// While it is on, whoever is about to wait and has nobody else on its P stays here for a while. It
/// does not, or no longer, if anybody asks its P for something or there is work in the global
/// queue; every so often it looks at other Ps' work, at alarms and at sockets. Each look around
/// while it waits is on credit: when so many have been taken that they make a twentieth of the
/// time, it is not tried any more until sysmon next judges the trial. So a pair that computes
/// between two values is left alone, though the trial may pay for another one.
///
/// **Without stack.** A StackOverflowError can strike at any call, also after that has done its
/// work: when the JVM gives compiled code up, the interpreter needs more room. So a receiver does
/// not go by what a CAS answers, but by what it then reads, which nobody else could have written.
/// If it cannot leave, it stays until somebody comes. (Nobody can help one whose callers' code is
/// given up while it returns.)
///
/// Go has it for mutexes only (`sync_runtime_canSpin`), under the like conditions.
final class Meeting {
  /// It outlives a short absence of the other's thread from its core, as when sysmon takes a look.
  private static final long STAY_NANOS = 100_000;

  /// Until a thread has been woken and has the other goroutine on it.
  private static final long FIRST_STAY_NANOS = 1_000_000;

  /// More polls than fit into such a time.
  private static final int POLLS = 1 << 16;

  /// Every so many polls, a microsecond or two: is there anything else to do?
  private static final int LOOK_EVERY = 64;

  /// Once in so many stays: other Ps' work, and alarms.
  private static final int ALARMS_EVERY = 64;

  /// Once in so many stays: sockets. That breaks the pair, since a P that looks is out of work.
  private static final int SOCKETS_EVERY = 1_024;

  /// So many looks may be taken here on a P between two judgements of the trial.
  static final int CREDIT = 4_096;

  /// The slot stands in the middle of an array that fills two lines of cache on either side of it:
  /// nothing else is written there.
  private static final int SLOT = 32;

  private final @Nullable Object[] cells = new Object[2 * SLOT];
  private final Place place = new Place();

  /// Who stands here: the id of its thread, or 0. Apart from what senders read.
  @SuppressWarnings("unused") // the fields around it keep others off its line
  private static final class Place {
    long a1, a2, a3, a4, a5, a6, a7, a8;
    volatile long holder;
    long b1, b2, b3, b4, b5, b6, b7, b8;
  }

  /// WAITS: no element, and where the slot is, so that no collector has to remember that.
  private final Object waits = cells;

  /// Links all calls: a first one may need more stack, or memory, than there is.
  static void init() {
    var channel = new Channel(0);
    var meeting = new Meeting();
    meeting.receive(channel, null, 1, 0);
    meeting.give(channel, null, "value", 1, 0);
    meeting.cells[SLOT] = meeting.waits;
    meeting.give("value");
  }

  // The slot.

  /// Gives `value` to a receiver that stands here; false if there is none. It does not look first:
  /// the line would come from the other core twice.
  boolean give(Object value) {
    return CELL.compareAndSet(cells, SLOT, waits, value);
  }

  /// The same, and waits for one to come, here or to the queue: for so many polls or, if the caller
  /// has a P, until that has something else to do or some time is over.
  boolean give(Channel channel, @Nullable P p, Object value, int polls, long nanos) {
    for (int i = 1; i <= polls; i++) {
      if (cells[SLOT] == waits && give(value)) {
        return true;
      }
      VarHandle.acquireFence(); // a new look each time round
      if (i % LOOK_EVERY == 0) {
        if (!channel.looksFull() || p != null && !mayGoOn(p, nanos, i)) {
          return false;
        }
      }
      Thread.onSpinWait();
    }
    return false;
  }

  /// Comes, waits for a value as long as {@link #give} does, and leaves; null without one.
  @Nullable Object receive(Channel channel, @Nullable P p, int polls, long nanos) {
    long me = Carrier.current().threadId();
    try {
      var _ = HOLDER.compareAndSet(place, 0L, me);
    } catch (StackOverflowError e) {
      // It may be done.
    }
    if (place.holder != me) {
      return null; // another receiver is here
    }
    try {
      // Not by a store: whoever has room for this call can leave by its like.
      var _ = CELL.compareAndSet(cells, SLOT, (Object) null, waits);
      stay(channel, p, polls, nanos);
    } catch (StackOverflowError e) {
      // So it does not stay.
    }
    while (cells[SLOT] == waits) {
      try {
        var _ = CELL.compareAndSet(cells, SLOT, waits, (Object) null);
      } catch (StackOverflowError e) {
        // It may be done. If not, whatever is given must be taken.
      }
    }
    Object value = cells[SLOT];
    cells[SLOT] = null;
    place.holder = 0;
    return value;
  }

  /// Until there is a value, or something else to do.
  private void stay(Channel channel, @Nullable P p, int polls, long nanos) {
    for (int i = 1; i <= polls && cells[SLOT] == waits; i++) {
      VarHandle.acquireFence(); // a new look each time round
      if (i % LOOK_EVERY == 0) {
        if (!channel.looksEmpty() || p != null && !mayGoOn(p, nanos, i)) {
          return;
        }
      }
      Thread.onSpinWait();
    }
  }

  /// A look around. The clock is read at the first one: most stays are over before it.
  private static boolean mayGoOn(P p, long nanos, int polls) {
    p.looks++;
    Carrier.yieldToOs(); // to the other one's thread, if the kernel has both on one core
    long now = p.sched.clock.nanoTime();
    if (polls == LOOK_EVERY) {
      p.stayUntilNanos = now + nanos;
    }
    return p.request == 0
        && (nanos == FIRST_STAY_NANOS || p.sched.global.isEmpty()) // the other one lies there first
        && now - p.stayUntilNanos < 0;
  }

  /// Whether a receiver stands here, or has not yet taken what it was given.
  boolean isOccupied() {
    return CELL.getVolatile(cells, SLOT) != null;
  }

  // When.

  /// For a caller that would have to wait to send: whether it has met a receiver.
  static boolean send(Channel channel, Object value) {
    P p = place();
    if (p == null) {
      return false;
    }
    if (p.sched.apart.on && channel.meeting().give(value)) {
      return true;
    }
    long nanos = nanos(p);
    return nanos != 0 && channel.meeting().give(channel, p, value, POLLS, nanos);
  }

  /// For a caller that would have to wait to receive: what a sender gave it whom it met, or null.
  static @Nullable Object receive(Channel channel) {
    P p = place();
    long nanos = p == null ? 0 : nanos(p);
    if (p == null || nanos == 0) {
      return null;
    }
    Object value = channel.meeting().receive(channel, p, POLLS, nanos);
    if (value != null) {
      p.met++;
    }
    return value;
  }

  /// The P that the caller has, if there are others.
  private static @Nullable P place() {
    M m = M.current();
    P p = m == null ? null : m.p;
    return p != null && p.sched.maxProcs() > 1 ? p : null;
  }

  /// How long the caller may stay, who has `p`; 0 if it is not to.
  static long nanos(P p) {
    Sched sched = p.sched;
    if (p.queue.peekNext() != null) {
      if (p.queue.size() != 0 || !p.yielded.isEmpty()) {
        return 0;
      }
      p.pairs++;
      return sched.apart.on && mayStay(p) && othersHaveRoom(sched) && giveAway(p)
          ? FIRST_STAY_NANOS
          : 0;
    }
    return sched.apart.on && p.isEmpty() && mayStay(p) ? STAY_NANOS : 0;
  }

  /// Whether a P is idle, or about to be: its M has found nothing so far.
  private static boolean othersHaveRoom(Sched sched) {
    return sched.idle.idleProcs() > 0 || sched.idle.searching() > 0;
  }

  private static boolean mayStay(P p) {
    if (p.request != 0 || p.looks >= CREDIT || !p.sched.global.isEmpty()) {
      return false;
    }
    int stays = ++p.stays;
    return (stays % ALARMS_EVERY != 0 || nobodyNeedsIt(p.sched))
        && (stays % SOCKETS_EVERY != 0 || !p.sched.netPoll.wantsPoll());
  }

  private static boolean nobodyNeedsIt(Sched sched) {
    long earliest = sched.earliestAlarm();
    return (earliest == Alarm.NEVER || sched.clock.nanoTime() - earliest < 0)
        && !sched.hasQueuedWork();
  }

  /// Its run-next goes to another P.
  private static boolean giveAway(P p) {
    try {
      Headroom.checkAhead(); // what is taken out must get to a queue, and to somebody
    } catch (StackOverflowError e) {
      return false;
    }
    G g = p.queue.takeNext();
    if (g == null) {
      return false;
    }
    p.sched.global.put(g);
    p.sched.idle.wake();
    return true;
  }

  private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(Object[].class);
  private static final VarHandle HOLDER =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "holder", VarHandle.class, Place.class, long.class);
}
