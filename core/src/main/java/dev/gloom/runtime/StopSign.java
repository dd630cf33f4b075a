package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;

/// Whether any goroutine, of any scheduler, may have to stop at a check: its P is asked to ({@link
/// P#PREEMPT}), or it runs without one. An armed loop reads this one flag each time round and looks
/// further, at its M and its P, only while it is raised: for microseconds every slice, unless
/// somebody cannot be stopped.
///
/// ```
/// who asks                        who has stopped
/// A1 asks the P                   L1 the request of its P is gone
/// A2 raises it, unless it is up   L2 lowers it
///                                 L3 looks at all Ps: if one is asked, raises it
/// ```
///
/// **Never down while a P is asked** (orphans apart: these are asked for ever, and the sign is
/// raised for one that computes once a slice). All of it is sequentially consistent. If L2 comes
/// after A2, it comes after A1 too, and L3 sees the request, or it has been served; else A2 comes
/// after L2 and finds it down. It may stay up for nobody, after a P that was asked went out of use:
/// that costs armed loops a little time until the next one stops.
final class StopSign {
  private volatile boolean raised;

  /// For loops: read anew each time round, and no more than that.
  boolean isRaised() {
    return (boolean) RAISED.getOpaque(this);
  }

  /// A2
  void raise() {
    if (!raised) {
      raised = true;
    }
  }

  /// L2 and L3
  void lower(BooleanSupplier anyAsked) {
    if (!raised) {
      return;
    }
    raised = false;
    boolean any = true;
    try {
      any = anyAsked.getAsBoolean();
    } catch (OutOfMemoryError | StackOverflowError e) {
      // Who knows.
    } finally {
      if (any) {
        raised = true;
      }
    }
  }

  private static final VarHandle RAISED =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "raised", VarHandle.class, StopSign.class, boolean.class);
}
