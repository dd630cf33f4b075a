package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Who waits: a goroutine or any other thread, from the moment it queues up until it is served. All
/// waiting in gloom's own classes goes through here, so this file alone knows how a goroutine is
/// put to sleep and woken: on the JDK's path, by LockSupport. One object for each wait, never used
/// again, so a wake-up that comes late finds nothing that it could spoil.
///
/// ```
/// WAITING -> DONE                  served; one queue only, whose lock decides
/// WAITING -> CLAIMED -> DONE       served; several queues (a select): whoever wins the CAS serves
/// WAITING -> WITHDRAWN             gave up: interrupted, or no room to park
/// ```
///
/// The server, under the lock of the queue, takes the ticket out and writes what it has to say into
/// `value`, `ok` and `winner`. After the lock it calls {@link #wake}: whoever reads DONE sees the
/// rest. No wake-up is lost between the last look at the state and the park: unpark leaves a
/// permit. A permit or an interrupt that is meant for something else only makes the loop go round.
///
/// **Without stack.** A StackOverflowError can strike at any call, also at the wake-up of a waiter
/// that has been served already; then nobody else would wake it. The caller of `wake` catches it
/// and notes that in fields: there is no stack for more. Sysmon does the rest ({@link G#recover}).
/// A thread that is no goroutine is known to no list, so it looks for itself once in a while.
///
/// Go: `gopark`, `goready`, `sudog`
final class Waiter extends Ticket {
  private static final int WAITING = 0;
  private static final int CLAIMED = 1;
  static final int DONE = 2;
  static final int WITHDRAWN = 3;

  /// Rare enough to cost nothing, often enough that the rarest of accidents is no hang.
  private static final long LOOK_NANOS = 1_000_000_000L;

  private final Thread thread = Thread.currentThread();
  final @Nullable G g = Sched.currentG();

  /// Whether it is in several queues, so that it has to be claimed.
  final boolean selects;

  // Written by whoever serves it, before DONE; read after that.
  @Nullable Ticket winner;
  boolean ok;

  /// The next in a list of those to be woken; whoever serves them uses it.
  @Nullable Waiter alsoWoken;

  volatile int state;

  /// For the calling thread. `value` is what it wants to send, if it does.
  Waiter(Kind kind, @Nullable Object value, boolean selects) {
    super(kind, null, value);
    this.selects = selects;
  }

  /// Whether the caller, who holds the lock of a queue in which this waits, is to serve it.
  boolean claim() {
    return selects ? state == WAITING && casState(WAITING, CLAIMED) : state == WAITING;
  }

  /// Whether it waits no more, though it may still be in a queue.
  boolean isStale() {
    return state != WAITING;
  }

  /// It has been served: lets it go on. No lock is held.
  void wake() {
    // A fence before the permit is read, if it is: an unpark that finds one there, say from an
    // interrupt, does nothing more. The one that waits may take that permit, look at the state
    // before this store has reached it, and park for good (ParkPermitStress). Mount.wake has one of
    // its own.
    STATE.setRelease(this, DONE);
    if (g == null) {
      VarHandle.fullFence();
      LockSupport.unpark(thread);
    } else {
      g.wake();
    }
  }

  /// Waits, in one queue only, until it is served; if it is interrupted first, it has never been
  /// there.
  void await(SpinLock lock, WaitQueue queue, WaitReason reason) throws InterruptedException {
    boolean interrupted = false;
    if (g != null) {
      g.waitReason = reason.code;
    }
    try {
      while (!park()) {
        if (queue.withdraw(lock, this, this)) {
          throw new InterruptedException();
        }
        interrupted = true;
      }
    } catch (StackOverflowError | OutOfMemoryError e) { // there was no room to park
      boolean out;
      try {
        out = queue.withdraw(lock, this, this);
      } catch (StackOverflowError again) {
        state = WITHDRAWN; // whoever meets its ticket drops it
        throw again;
      }
      if (out) {
        throw e;
      }
      while (state != DONE) {
        // Served, and woken in a moment. No call: there is no stack for one.
      }
    } finally {
      if (g != null) {
        g.waitReason = 0;
      }
    }
    if (interrupted) {
      thread.interrupt(); // too late to act on it: left for whoever comes next
    }
  }

  /// Parks the caller, whose own this is, until it is served; false as soon as it is interrupted.
  boolean park() {
    while (state != DONE) {
      if (g != null) {
        g.sched.mount.suspendWaiting();
      } else {
        LockSupport.parkNanos(LOOK_NANOS);
      }
      if (state != DONE && Thread.interrupted()) {
        return false;
      }
    }
    return true;
  }

  /// Gives up, if nobody has claimed it. For a waiter in several queues.
  boolean withdraw() {
    return casState(WAITING, WITHDRAWN);
  }

  private boolean casState(int from, int to) {
    return STATE.compareAndSet(this, from, to);
  }

  private static final VarHandle STATE =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "state", VarHandle.class, Waiter.class, int.class);
}
