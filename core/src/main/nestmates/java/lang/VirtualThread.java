package java.lang;

import java.lang.invoke.MethodHandles;
import java.util.concurrent.Future;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.Continuation;
import jdk.internal.vm.annotation.ChangesCurrentThread;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;
import jdk.internal.vm.annotation.JvmtiHideEvents;

/// Stands for the JDK's class of this name while {@link Lean} is compiled, and declares what that
/// touches of it. Not in the jar: at run time `Lean` finds the JDK's own.
final class VirtualThread extends BaseVirtualThread {
  // Not constants to the compiler: what counts is the JDK's values.
  private static final int STARTED = unknown();
  private static final int RUNNING = unknown();
  private static final int PARKING = unknown();
  private static final int PARKED = unknown();
  private static final int UNPARKED = unknown();
  private static final int YIELDING = unknown();
  private static final int YIELDED = unknown();
  private static final int UNBLOCKED = unknown();

  private volatile int state;
  private volatile boolean parkPermit;
  private volatile boolean blockPermit;
  private volatile Thread carrierThread;
  private Future<?> timeoutTask;
  private Continuation cont;

  private VirtualThread() {
    super("", 0, false);
  }

  private static int unknown() {
    throw new UnsupportedOperationException("a declaration");
  }

  @Override
  native void park();

  @Override
  native void parkNanos(long nanos);

  @Override
  native void unpark();

  private native void parkOnCarrierThread(boolean timed, long nanos);

  private native void afterYield();

  private native void afterDone();

  private native void notifyJvmtiMount(boolean hide);

  private native void notifyJvmtiUnmount(boolean hide);

  /// Mount and unmount of a goroutine with half of the JDK's fences. A hidden class in the nest of
  /// the JDK's VirtualThread: it uses that class's fields, states and methods, and replaces none.
  /// `LeanMount` is its face, and says what is left out and why that is right.
  ///
  /// One object for each verb, behind an interface that both sides see. Method handles would be
  /// linked, and after a while compiled, at the moment of a call: in the middle of a switch, on
  /// whatever stack is left.
  static final class Lean implements Predicate<Thread> {
    private static final int RESUME = 0;
    private static final int PERMITTED = 1;
    private static final int UNPARK = 2;
    private static final int YIELD = 3;
    private static final int PARK = 4;

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long STATE = U.objectFieldOffset(VirtualThread.class, "state");

    /// Of the class of the same name in the nest of Continuation: false runs one, true yields.
    private static final BiPredicate<Continuation, Boolean> CONTINUATION = continuation();

    private final int verb;

    private Lean(int verb) {
      this.verb = verb;
    }

    @SuppressWarnings("unchecked") // by LeanMount
    private static BiPredicate<Continuation, Boolean> continuation() {
      try {
        return MethodHandles.classData(MethodHandles.lookup(), "_", BiPredicate.class);
      } catch (IllegalAccessException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    /// One for each verb, in their order.
    static Predicate<?>[] verbs() {
      return new Predicate<?>[] {
        new Lean(RESUME), new Lean(PERMITTED), new Lean(UNPARK), new Lean(YIELD), new Lean(PARK)
      };
    }

    /// Does it, with a virtual thread: for the last two the current one.
    @Override
    @ForceInline
    @Hidden
    @JvmtiHideEvents
    public boolean test(Thread thread) {
      var vthread = (VirtualThread) thread;
      return switch (verb) {
        case RESUME -> resume(vthread);
        case PERMITTED -> permitted(vthread);
        case UNPARK -> unpark(vthread);
        case YIELD -> Lean.yield(vthread);
        default -> park(vthread);
      };
    }

    /// As `runContinuation`, but a thread that yielded or parked is not looked after: it is in
    /// YIELDED, and its caller queues it; or in PARKED, and its caller calls {@link #permitted}
    /// after a full fence. False if it could not continue.
    @ChangesCurrentThread
    private static boolean resume(VirtualThread vthread) {
      int from = vthread.state;
      if (from != UNPARKED && from != YIELDED && from != UNBLOCKED && from != STARTED) {
        return false;
      }
      if (!U.compareAndSetInt(vthread, STATE, from, RUNNING)) {
        return false;
      }
      if (from == UNPARKED) {
        cancelTimeout(vthread);
        if (vthread.parkPermit) {
          vthread.parkPermit = false;
        }
      } else if (from == UNBLOCKED) {
        cancelTimeout(vthread);
        vthread.blockPermit = false;
      }

      vthread.notifyJvmtiMount(true);
      Thread carrier = Thread.currentCarrierThread();
      vthread.carrierThread = carrier; // a full fence: whoever interrupts either sees this,
      if (vthread.interrupted) { // or is seen here
        carrier.setInterrupt();
      } else if (carrier.isInterrupted()) {
        synchronized (vthread.interruptLock) {
          if (!vthread.interrupted) {
            carrier.clearInterrupt();
          }
        }
      }
      carrier.setCurrentThread(vthread);
      try {
        CONTINUATION.test(vthread.cont, false);
      } finally {
        carrier.setCurrentThread(carrier);
        vthread.carrierThread = null; // a full fence, as above
        if (vthread.interrupted) {
          synchronized (vthread.interruptLock) {
            // Somebody may be in there with the carrier in hand.
            carrier.clearInterrupt();
          }
        }
        carrier.clearInterrupt();
        vthread.notifyJvmtiUnmount(false);
        after(vthread);
      }
      return true;
    }

    private static void cancelTimeout(VirtualThread vthread) {
      if (vthread.timeoutTask != null) {
        vthread.timeoutTask.cancel(false);
        vthread.timeoutTask = null;
      }
    }

    private static void after(VirtualThread vthread) {
      if (vthread.cont.isDone()) {
        vthread.afterDone();
        return;
      }
      int s = vthread.state;
      if (s == PARKING) {
        U.putIntRelease(vthread, STATE, PARKED);
      } else if (s == YIELDING) {
        U.putIntRelease(vthread, STATE, YIELDED);
      } else {
        vthread.afterYield();
      }
    }

    /// Whether a thread in PARKED has a permit and is UNPARKED now, by the caller, who queues it.
    private static boolean permitted(VirtualThread vthread) {
      return vthread.state == PARKED
          && vthread.parkPermit
          && U.compareAndSetInt(vthread, STATE, PARKED, UNPARKED);
    }

    /// Whether a thread was in PARKED and is UNPARKED now, by the caller, who queues it. If not,
    /// nothing has happened.
    private static boolean unpark(VirtualThread vthread) {
      return vthread.state == PARKED && U.compareAndSetInt(vthread, STATE, PARKED, UNPARKED);
    }

    /// As `Thread.yield`; false if it is pinned. A frame of its own: see {@link #park}.
    @DontInline
    @Hidden
    @JvmtiHideEvents
    private static boolean yield(VirtualThread vthread) {
      boolean yielded = false;
      U.putIntRelease(vthread, STATE, YIELDING);
      try {
        yielded = suspend(vthread);
      } finally {
        if (!yielded) {
          vthread.state = RUNNING;
        }
      }
      return yielded;
    }

    /// As `LockSupport.park`; false if it did so on its carrier, or not at all. A frame of its own: if
    /// the JIT has all of it in the goroutine's frame, and below that is one that is interpreted,
    /// each switch copies that one too, and takes half as long again.
    @DontInline
    @Hidden
    @JvmtiHideEvents
    private static boolean park(VirtualThread vthread) {
      if (vthread.parkPermit || vthread.interrupted) {
        vthread.park();
        return false;
      }
      boolean yielded = false;
      U.putIntRelease(vthread, STATE, PARKING);
      try {
        yielded = suspend(vthread);
      } catch (OutOfMemoryError e) {
        // no memory to put the stack aside: it parks its carrier, below
      } finally {
        if (!yielded) {
          vthread.state = RUNNING;
        }
      }
      if (!yielded) {
        vthread.parkOnCarrierThread(false, 0);
      }
      return yielded;
    }

    /// False if it is pinned.
    @Hidden
    @JvmtiHideEvents
    private static boolean suspend(VirtualThread vthread) {
      vthread.notifyJvmtiUnmount(true);
      try {
        return CONTINUATION.test(vthread.cont, true);
      } finally {
        vthread.notifyJvmtiMount(false);
      }
    }
  }
}
