package dev.gloom.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// Where a sender and a receiver of a channel without capacity meet that run at the same time, on
/// two Ps: instead of queueing up and suspending, the receiver stays a few microseconds at a slot,
/// and the sender puts its value there.
///
/// ```
/// null    -> WAITS   a receiver has come                        its CAS
/// WAITS   -> value   a sender has given it that: both are done  its CAS
/// value   -> null    the receiver takes it                      a store; nobody else may
/// WAITS   -> null    nobody came                                the receiver's CAS
/// ```
///
/// Each value is received once: only the CAS out of WAITS puts one in, only the receiver that wrote
/// WAITS takes it out, and it leaves without one only if its own CAS out of WAITS wins. (Broken
/// twin: it leaves by a store.)
///
/// **The queues of the channel know nothing of it**, and need not. A sender or a select that queues
/// up while a receiver stands here does not see it, nor does a close; but the receiver soon looks
/// there, or leaves, and then goes to the queue like everybody. Nobody is overtaken: who finds
/// somebody of its kind in the queue does not come here, nor does who finds somebody of the other
/// kind there, or the channel closed.
///
/// **When.** Two goroutines that hand values to each other through run-next, on one P, pay for two
/// switches a round trip; on two Ps they pay for the way between the cores, which may be half of
/// that or three times as much, and use two cores instead of one. So it is tried ({@link
/// Sched#apart}), and only where a P has nobody else to run and another is idle: then the one of
/// the pair that is about to wait gives the other one away, and stays until that has got there.
/// While it is on, whoever is about to wait and has nobody else on its P stays here for a while. It
/// does not if anybody asks its P for something; every so often it looks at alarms and sockets; and
/// after some attempts in vain it leaves it at that until the next trial.
///
/// **Without stack.** A receiver that has come must get away again. Both ways are one and the same
/// call at the same depth, linked beforehand ({@link #init}); what lies between needs less, and may
/// fail.
///
/// Go has it for mutexes only (`sync_runtime_canSpin`), under the like conditions.
final class Meeting {
  /// Some 30 microseconds: it outlives a short absence of the other's thread from its core, as when
  /// sysmon takes a look.
  private static final int POLLS = 2_048;

  /// Until a thread has been woken and has the other goroutine on it.
  private static final int FIRST_POLLS = 8 * POLLS;

  /// Every so many polls: has somebody come to the queue instead?
  private static final int QUEUE_EVERY = 64;

  /// Once in so many attempts: alarms and sockets.
  private static final int LOOK_EVERY = 64;

  /// So often in vain since the last judgement, and it is not tried any more.
  private static final int MOST_VAIN = 8;

  /// The slot stands in the middle of an array that fills two lines of cache on either side of it:
  /// nothing else is written there.
  private static final int SLOT = 32;

  private final @Nullable Object[] cells = new Object[2 * SLOT];

  /// WAITS: no element, and where the slot is, so that no collector has to remember that.
  private final Object waits = cells;

  /// Links all calls: a first one may need more stack, or memory, than there is.
  static void init() {
    var channel = new Channel(0);
    var meeting = new Meeting();
    meeting.receive(channel, 1);
    meeting.give(channel, "value", 1);
    meeting.cells[SLOT] = meeting.waits;
    meeting.give("value");
  }

  // The slot.

  /// Gives `value` to a receiver that stands here; false if there is none.
  boolean give(Object value) {
    return cells[SLOT] == waits && CELL.compareAndSet(cells, SLOT, waits, value);
  }

  /// The same, and waits so long for one to come, here or to the queue.
  boolean give(Channel channel, Object value, int polls) {
    for (int i = 1; i <= polls; i++) {
      if (give(value)) {
        return true;
      }
      VarHandle.acquireFence(); // a new look each time round
      if (i % QUEUE_EVERY == 0 && !channel.looksFull()) {
        return false;
      }
      Thread.onSpinWait();
    }
    return false;
  }

  /// Comes, waits so long for a value, and leaves; null without one.
  @Nullable Object receive(Channel channel, int polls) {
    if (!CELL.compareAndSet(cells, SLOT, (Object) null, waits)) {
      return null; // another receiver is here
    }
    try {
      stay(channel, polls);
    } catch (StackOverflowError e) {
      // So it does not stay.
    }
    if (CELL.compareAndSet(cells, SLOT, waits, (Object) null)) {
      return null;
    }
    Object value = cells[SLOT];
    cells[SLOT] = null;
    return value;
  }

  /// Until there is a value, or somebody in the queue.
  private void stay(Channel channel, int polls) {
    for (int i = 0; i < polls && cells[SLOT] == waits; i++) {
      VarHandle.acquireFence(); // a new look each time round
      if (i % QUEUE_EVERY == 0 && !channel.looksEmpty()) {
        return;
      }
      Thread.onSpinWait();
    }
  }

  boolean isOccupied() {
    return CELL.getVolatile(cells, SLOT) != null;
  }

  // When.

  /// For a caller that would have to wait to send: whether it has met a receiver.
  static boolean send(Channel channel, Object value) {
    P p = place();
    int polls = p == null ? 0 : polls(p);
    if (p == null || polls == 0) {
      return false;
    }
    boolean met = channel.meeting().give(channel, value, polls);
    p.vain += met ? 0 : 1;
    return met;
  }

  /// For a caller that would have to wait to receive: what a sender gave it whom it met, or null.
  static @Nullable Object receive(Channel channel) {
    P p = place();
    int polls = p == null ? 0 : polls(p);
    if (p == null || polls == 0) {
      return null;
    }
    Object value = channel.meeting().receive(channel, polls);
    if (value == null) {
      p.vain++;
    } else {
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
  static int polls(P p) {
    Sched sched = p.sched;
    if (p.queue.peekNext() != null) {
      if (p.queue.size() != 0) {
        return 0;
      }
      p.pairs++;
      return sched.apart.on && mayStay(p) && sched.idle.idleProcs() > 0 && giveAway(p)
          ? FIRST_POLLS
          : 0;
    }
    return sched.apart.on && p.isEmpty() && mayStay(p) ? POLLS : 0;
  }

  private static boolean mayStay(P p) {
    return p.request == 0
        && p.vain < MOST_VAIN
        && p.sched.global.isEmpty()
        && (++p.stays % LOOK_EVERY != 0 || nothingElseIsDue(p));
  }

  private static boolean nothingElseIsDue(P p) {
    long earliest = p.timers.earliest();
    return (earliest == Alarm.NEVER || p.sched.clock.nanoTime() - earliest < 0)
        && !p.sched.netPoll.wantsPoll();
  }

  /// Its run-next goes to another P.
  private static boolean giveAway(P p) {
    Headroom.check(); // what is taken out must get to a queue
    G g = p.queue.takeNext();
    if (g == null) {
      return false;
    }
    p.sched.global.put(g);
    p.sched.idle.wake();
    return true;
  }

  private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(Object[].class);
}
