package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// The word of a G and the state of its virtual thread, each step in the memory mode that `G`, `M`
/// and the JDK's `VirtualThread` use. It begins with the G in a queue: an M has taken it from
/// there.
///
/// Left out: the queue itself (an entry is a count), termination, yielding, a wake-up from inside
/// the task.
class WordModel {
  private static final int IDLE = 1;
  private static final int QUEUED = 2;
  private static final int RUNNING = 3;
  private static final int AGAIN = 4;

  static final int PARKED = 1;
  static final int UNPARKED = 2;
  private static final int MOUNTED = 3;
  private static final int SUSPENDED = 1 << 8;

  private volatile int word = QUEUED;
  private volatile int state;

  // Plain, each written by one actor.
  private int queuedByWaker;
  private int queuedByM;
  private boolean ran;

  WordModel(int state) {
    this.state = state;
  }

  // The waker.

  /// VirtualThread.unpark: W1, then G.execute.
  final void unpark() {
    if (STATE.compareAndSet(this, PARKED, UNPARKED)) {
      execute();
    }
  }

  /// VirtualThread.tryGetStackTrace of a thread that can continue: keeps it from doing so for a
  /// moment, and then submits it, whether or not it is queued.
  final void stackTrace() {
    if (STATE.compareAndSet(this, UNPARKED, UNPARKED | SUSPENDED)) {
      state = UNPARKED;
      execute();
    }
  }

  private void execute() {
    if (claim()) {
      queuedByWaker++;
    }
  }

  /// G.claim: W2.
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

  // The M.

  /// M.dispatch.
  final void dispatch() {
    if (!runOnce()) {
      readyAgain();
    } else if (reclaim()) {
      queuedByM++;
    }
  }

  /// M.dispatch without its last look at the thread.
  final void dispatchWithoutReclaim() {
    if (!runOnce()) {
      readyAgain();
    }
  }

  /// True if the G is idle afterwards.
  private boolean runOnce() {
    WORD.setRelease(this, RUNNING); // M1, G.setRunning
    runContinuation(); // M2
    return WORD.compareAndSet(this, RUNNING, IDLE); // M3, G.setIdle
  }

  /// VirtualThread.runContinuation of a goroutine that parks again at once.
  private void runContinuation() {
    if (state == UNPARKED && STATE.compareAndSet(this, UNPARKED, MOUNTED)) {
      ran = true;
      state = PARKED;
    }
  }

  private void readyAgain() {
    WORD.setRelease(this, QUEUED); // G.setQueued
    queuedByM++;
  }

  /// M4, G.reclaim.
  private boolean reclaim() {
    return state == UNPARKED && claim();
  }

  // The end.

  /// What became of the wake-up: the goroutine ran, or it is in a queue and will run.
  final String outcome() {
    int entries = queuedByWaker + queuedByM;
    if (entries > 1) {
      return "TWICE";
    }
    if (!ran && entries == 0) {
      return "LOST";
    }
    if (word != (entries == 0 ? IDLE : QUEUED)) {
      return "WORD";
    }
    if (!ran) {
      return queuedByM == 1 ? "queued by its m" : "queued by the waker";
    }
    return entries == 0 ? "ran" : "ran, queued again";
  }

  private static final VarHandle WORD = handle("word");
  private static final VarHandle STATE = handle("state");

  private static VarHandle handle(String name) {
    return ConstantBootstraps.fieldVarHandle(
        MethodHandles.lookup(), name, VarHandle.class, WordModel.class, int.class);
  }
}
