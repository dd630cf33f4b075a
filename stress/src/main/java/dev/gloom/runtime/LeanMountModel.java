package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// A goroutine that has just left its M in order to park, each step in the memory mode that
/// `LeanMount`, `G`, `M` and the JDK's `VirtualThread` use. It begins with the thread in PARKING
/// and the word in RUNNING.
///
/// Or, for the permit, one that is about to go on ({@link #goOn}).
///
/// Left out: the queue itself (an entry is a count), and that it may run again.
class LeanMountModel {
  private static final int IDLE = 1;
  private static final int QUEUED = 2;
  private static final int RUNNING = 3;
  private static final int AGAIN = 4;

  private static final int PARKING = 0;
  private static final int PARKED = 1;
  private static final int UNPARKED = 2;
  private static final int SUSPENDED = 1 << 8;

  private volatile int word;
  private volatile int state;
  private volatile boolean permit;
  private volatile boolean carried;

  /// What the program that unparks has to say.
  private volatile boolean served;

  // Plain, each written by one actor.
  private int queuedByWaker;
  private int queuedByTracer;
  private int queuedByM;
  private boolean unparked;
  private boolean parkedAgain;

  LeanMountModel(boolean parked) {
    this(parked, false);
  }

  LeanMountModel(boolean parked, boolean permit) {
    word = parked ? IDLE : RUNNING;
    state = parked ? PARKED : PARKING;
    this.permit = permit;
  }

  // The M.

  /// The end of LeanMount.resume, and what M.dispatch does then.
  final void suspended() {
    STATE.setRelease(this, PARKED);
    if (!WORD.compareAndSet(this, RUNNING, IDLE)) { // G.setIdle
      readyAgain();
    } else {
      reclaim();
    }
  }

  /// The same without the full fence.
  final void suspendedWithoutFence() {
    STATE.setRelease(this, PARKED);
    if (word == AGAIN) {
      readyAgain();
    } else {
      WORD.setRelease(this, IDLE);
      reclaim();
    }
  }

  /// The same without the look for a permit.
  final void suspendedWithoutReclaim() {
    STATE.setRelease(this, PARKED);
    if (!WORD.compareAndSet(this, RUNNING, IDLE)) {
      readyAgain();
    }
  }

  /// G.reclaim.
  private void reclaim() {
    if ((permitted() || state == UNPARKED) && claim()) {
      queuedByM++;
    }
  }

  private boolean permitted() {
    return state == PARKED && permit && STATE.compareAndSet(this, PARKED, UNPARKED);
  }

  private void readyAgain() {
    WORD.setRelease(this, QUEUED);
    queuedByM++;
  }

  /// LeanMount.resume of a thread with a permit, and what its program does then: it looks whether
  /// it was served, and if not, parks again.
  final void goOn() {
    PERMIT.setRelease(this, false);
    carried = true;
    parkedAgain = !served;
  }

  /// The same without the full fence.
  final void goOnWithoutFence() {
    PERMIT.setRelease(this, false);
    CARRIED.setRelease(this, true);
    parkedAgain = !served;
  }

  // Who wakes it.

  /// A program that serves the thread, then calls VirtualThread.unpark.
  final void serveAndUnpark() {
    served = true;
    if (!permit) {
      permit = true;
      unparked = true;
    }
  }

  /// G.wake.
  final void wake() {
    if (!wakeIfParked()) {
      unpark();
    }
  }

  /// The same without the JDK's unpark for a thread that is not in PARKED.
  final boolean wakeIfParked() {
    if (state == PARKED && STATE.compareAndSet(this, PARKED, UNPARKED)) {
      execute();
      return true;
    }
    return false;
  }

  /// VirtualThread.unpark.
  final void unpark() {
    if (!(boolean) PERMIT.getAndSet(this, true)
        && state == PARKED
        && STATE.compareAndSet(this, PARKED, UNPARKED)) {
      execute();
    }
  }

  private void execute() {
    if (claim()) {
      queuedByWaker++;
    }
  }

  // Who takes its stack.

  /// VirtualThread.tryGetStackTrace.
  final void stackTrace() {
    int s = state;
    if ((s == PARKED || s == UNPARKED) && STATE.compareAndSet(this, s, s | SUSPENDED)) {
      state = s;
      if ((s == UNPARKED || permitted()) && claim()) {
        queuedByTracer++;
      }
    }
  }

  /// G.claim.
  private boolean claim() {
    for (; ; ) {
      int w = word;
      if (w == IDLE) {
        if (WORD.compareAndSet(this, IDLE, QUEUED)) {
          return true;
        }
      } else if (w == RUNNING) {
        if (WORD.compareAndSet(this, RUNNING, AGAIN)) {
          return false;
        }
      } else {
        return false;
      }
    }
  }

  // The end.

  /// It was woken once: it is in one queue, and can continue or will be looked at again there.
  final String outcome() {
    int entries = queuedByWaker + queuedByM + queuedByTracer;
    if (entries != 1) {
      return entries == 0 ? "LOST" : "TWICE";
    }
    if (word != QUEUED || (state != UNPARKED && !permit)) {
      return "WORD";
    }
    return queuedByM == 1
        ? "queued by its m"
        : queuedByWaker == 1 ? "queued by the waker" : "queued by the tracer";
  }

  /// Of {@link #goOn}.
  final String seenOrWoken() {
    return !parkedAgain ? "seen" : unparked ? "woken" : "LOST";
  }

  private static final VarHandle WORD = handle("word", int.class);
  private static final VarHandle STATE = handle("state", int.class);
  private static final VarHandle PERMIT = handle("permit", boolean.class);
  private static final VarHandle CARRIED = handle("carried", boolean.class);

  private static VarHandle handle(String name, Class<?> type) {
    return ConstantBootstraps.fieldVarHandle(
        MethodHandles.lookup(), name, VarHandle.class, LeanMountModel.class, type);
  }
}
