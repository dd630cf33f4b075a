package java.lang;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.concurrent.Future;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.Continuation;
import jdk.internal.vm.annotation.ChangesCurrentThread;
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
  static final class Lean {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long STATE = U.objectFieldOffset(VirtualThread.class, "state");

    /// Of the class of the same name in the nest of Continuation.
    private static final MethodHandle RUN;

    private static final MethodHandle YIELD;

    static {
      try {
        var handles =
            MethodHandles.classData(MethodHandles.lookup(), "_", MethodHandle[].class);
        RUN = handles[0];
        YIELD = handles[1];
      } catch (IllegalAccessException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    private Lean() {}

    /// As `runContinuation`, but a thread that yielded or parked is not looked after: it is in
    /// YIELDED, and its caller queues it; or in PARKED, and its caller calls {@link #permitted}
    /// after a full fence.
    @ChangesCurrentThread
    static void resume(Thread thread) throws Throwable {
      var vthread = (VirtualThread) thread;
      int from = vthread.state;
      if (from != UNPARKED && from != YIELDED && from != UNBLOCKED && from != STARTED) {
        return;
      }
      if (!U.compareAndSetInt(vthread, STATE, from, RUNNING)) {
        return;
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
        RUN.invokeExact(vthread.cont);
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
    static boolean permitted(Thread thread) {
      var vthread = (VirtualThread) thread;
      return vthread.state == PARKED
          && vthread.parkPermit
          && U.compareAndSetInt(vthread, STATE, PARKED, UNPARKED);
    }

    /// Whether a thread was in PARKED and is UNPARKED now, by the caller, who queues it. If not,
    /// nothing has happened.
    static boolean unpark(Thread thread) {
      var vthread = (VirtualThread) thread;
      return vthread.state == PARKED && U.compareAndSetInt(vthread, STATE, PARKED, UNPARKED);
    }

    /// As `Thread.yield`.
    @Hidden
    @JvmtiHideEvents
    static void yield() throws Throwable {
      var vthread = (VirtualThread) Thread.currentThread();
      boolean yielded = false;
      U.putIntRelease(vthread, STATE, YIELDING);
      try {
        yielded = suspend(vthread);
      } finally {
        if (!yielded) {
          vthread.state = RUNNING;
        }
      }
    }

    /// As `LockSupport.park`.
    @Hidden
    @JvmtiHideEvents
    static void parkCurrent() throws Throwable {
      var vthread = (VirtualThread) Thread.currentThread();
      if (vthread.parkPermit || vthread.interrupted) {
        vthread.park();
        return;
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
    }

    /// False if it is pinned.
    @Hidden
    @JvmtiHideEvents
    private static boolean suspend(VirtualThread vthread) throws Throwable {
      vthread.notifyJvmtiUnmount(true);
      try {
        return (boolean) YIELD.invokeExact(vthread.cont);
      } finally {
        vthread.notifyJvmtiMount(false);
      }
    }
  }
}
