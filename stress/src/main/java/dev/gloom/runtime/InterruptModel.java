package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// The carrier of a virtual thread against whoever interrupts that thread: its carrier is to be
/// interrupted with it while it is mounted, and not any more when it has left. Each step in the
/// memory mode that `LeanMount`, `G` and the JDK's `VirtualThread` use; the JDK's lock is the
/// monitor.
class InterruptModel {
  private static final int IDLE = 1;
  private static final int RUNNING = 2;

  private volatile int word = RUNNING;
  private volatile boolean carried;
  private volatile boolean interrupted;
  private volatile boolean carrierInterrupted;

  InterruptModel(boolean carried) {
    this.carried = carried;
  }

  /// VirtualThread.interrupt.
  final void interrupt() {
    synchronized (this) {
      interrupted = true;
      if (carried) {
        carrierInterrupted = true;
      }
    }
  }

  /// The beginning of LeanMount.resume.
  final void mount() {
    carried = true;
    syncUp();
  }

  /// The same with a release store.
  final void mountWithoutFence() {
    CARRIED.setRelease(this, true);
    syncUp();
  }

  private void syncUp() {
    if (interrupted) {
      carrierInterrupted = true;
    }
  }

  /// The end of LeanMount.resume for a thread that yielded.
  final void unmount() {
    carried = false;
    leave();
  }

  /// The same for one that parked, and what M.dispatch does then.
  final void unmountParked() {
    CARRIED.setRelease(this, false);
    if (WORD.compareAndSet(this, RUNNING, IDLE)) { // G.setIdle
      leave();
    }
  }

  /// The same without a fence.
  final void unmountWithoutFence() {
    CARRIED.setRelease(this, false);
    WORD.setRelease(this, IDLE);
    leave();
  }

  /// The same, and it clears the carrier's interrupt only if it sees one of the thread's.
  final void unmountOnlyIfInterrupted() {
    CARRIED.setRelease(this, false);
    if (WORD.compareAndSet(this, RUNNING, IDLE) && interrupted) {
      synchronized (this) {
        carrierInterrupted = false;
      }
    }
  }

  private void leave() {
    if (interrupted) {
      synchronized (this) {
        carrierInterrupted = false;
      }
    }
    if (carrierInterrupted) {
      carrierInterrupted = false;
    }
  }

  /// VirtualThread.getAndClearInterrupt, on another carrier, once it has been woken.
  final void takeNote() {
    if (word == IDLE && interrupted) {
      synchronized (this) {
        interrupted = false;
      }
    }
  }

  /// After a mount.
  final String mounted() {
    return carrierInterrupted ? "interrupted" : "MISSED";
  }

  /// After an unmount.
  final String unmounted() {
    return carrierInterrupted ? "STRAY" : "clear";
  }

  private static final VarHandle CARRIED = handle("carried", boolean.class);
  private static final VarHandle WORD = handle("word", int.class);

  private static VarHandle handle(String name, Class<?> type) {
    return ConstantBootstraps.fieldVarHandle(
        MethodHandles.lookup(), name, VarHandle.class, InterruptModel.class, type);
  }
}
