package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// The carrier of a virtual thread against whoever interrupts that thread: its carrier is to be
/// interrupted with it while it is mounted, and not any more when it has left. Each step in the
/// memory mode that `LeanMount` and the JDK's `VirtualThread` use; the JDK's lock is the monitor.
class InterruptModel {
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

  /// The end of LeanMount.resume.
  final void unmount() {
    carried = false;
    leave();
  }

  /// The same with a release store.
  final void unmountWithoutFence() {
    CARRIED.setRelease(this, false);
    leave();
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

  /// After a mount.
  final String mounted() {
    return carrierInterrupted ? "interrupted" : "MISSED";
  }

  /// After an unmount.
  final String unmounted() {
    return carrierInterrupted ? "STRAY" : "clear";
  }

  private static final VarHandle CARRIED =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "carried", VarHandle.class, InterruptModel.class, boolean.class);
}
