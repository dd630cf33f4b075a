package java.lang;

import java.lang.invoke.MethodHandles;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.function.BiPredicate;
import java.util.function.IntToLongFunction;
import java.util.function.Predicate;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.Continuation;
import jdk.internal.vm.StackChunk;
import jdk.internal.vm.ThreadContainer;
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
  private Executor scheduler;
  private Runnable runContinuation;

  private VirtualThread() {
    super("", 0, false);
  }

  /// See the JDK's.
  private static class VThreadContinuation extends Continuation {
    VThreadContinuation(VirtualThread vthread, Runnable task) {
      super(null, null);
    }
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

  private native void afterDone(boolean notifyContainer);

  private native void notifyJvmtiMount(boolean hide);

  private native void notifyJvmtiUnmount(boolean hide);

  private static native void notifyJvmtiDisableSuspend(boolean enter);

  /// Mount and unmount of a goroutine with half of the JDK's fences. A hidden class in the nest of
  /// the JDK's VirtualThread: it uses that class's fields, states and methods, and replaces none.
  /// `LeanMount` is its face, and says what is left out and why that is right.
  ///
  /// One object for each verb, behind an interface that both sides see. Method handles would be
  /// linked, and after a while compiled, at the moment of a call: in the middle of a switch, on
  /// whatever stack is left.
  static final class Lean implements Predicate<Thread>, IntToLongFunction {
    private static final int RESUME = 0;
    private static final int PERMITTED = 1;
    private static final int UNPARK = 2;
    private static final int YIELD = 3;
    private static final int PARK = 4;
    private static final int WARM = 5;

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long STATE = own("state");
    private static final long CARRIER = own("carrierThread");
    private static final long PERMIT = own("parkPermit");
    private static final long SCHEDULER = own("scheduler");
    private static final long CONT = own("cont");
    private static final long TASK = own("runContinuation");
    private static final long TID = inherited("tid");
    private static final long NAME = inherited("name");
    private static final long LOADER = inherited("contextClassLoader");
    private static final long INHERITABLE = inherited("inheritableThreadLocals");
    private static final long BINDINGS = inherited("scopedValueBindings");
    private static final long INTERRUPT_LOCK = inherited("interruptLock");

    private static final long TAIL = U.objectFieldOffset(Continuation.class, "tail");
    private static final long STACK_SP = U.objectFieldOffset(StackChunk.class, "sp");
    private static final long STACK_SIZE = U.objectFieldOffset(StackChunk.class, "size");

    /// Behind the fields; the JVM has a few more there that Java knows nothing of.
    private static final long STACK_START =
        Math.max(STACK_SP, STACK_SIZE) + Integer.BYTES & -Long.BYTES;

    private static final int WORDS_A_LINE = 8;

    /// As deep as a read from a socket, and what is below it, is as a rule.
    private static final int WORDS_WARMED = 200;

    /// Of the class of the same name in the nest of Continuation: false runs one, true yields.
    @SuppressWarnings("unchecked") // by LeanMount
    private static final BiPredicate<Continuation, Boolean> CONTINUATION =
        (BiPredicate<Continuation, Boolean>) given(0);

    /// Where the JVM counts its threads' ids.
    private static final long NEXT_TID = (long) given(1);

    private final int verb;

    private Lean(int verb) {
      this.verb = verb;
    }

    private static long own(String field) {
      return U.objectFieldOffset(VirtualThread.class, field);
    }

    private static long inherited(String field) {
      return U.objectFieldOffset(Thread.class, field);
    }

    private static Object given(int i) {
      try {
        return MethodHandles.classDataAt(MethodHandles.lookup(), "_", Object.class, i);
      } catch (IllegalAccessException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    /// One for each verb, in their order.
    static Object[] verbs() {
      return new Object[] {
        new Lean(RESUME),
        new Lean(PERMITTED),
        new Lean(UNPARK),
        new Lean(YIELD),
        new Lean(PARK),
        new Lean(WARM)
      };
    }

    /// Ids for `n` threads, one after the other; answers the first.
    @Override
    public long applyAsLong(int n) {
      return U.getAndAddLong(null, NEXT_TID, n);
    }

    /// As the constructors, for a thread that nobody else knows yet: without a fence for each of
    /// its volatile fields, with an id that somebody took, and with its continuation as the lock
    /// that guards its carrier. `task` is what its scheduler gets when it can continue.
    static Thread make(Executor scheduler, String name, Runnable body, Runnable task, long id)
        throws InstantiationException {
      var vthread = (VirtualThread) U.allocateInstance(VirtualThread.class);
      Thread parent = Thread.currentThread();
      U.putLong(vthread, TID, id);
      U.putReference(vthread, NAME, name);
      var locals = (ThreadLocal.ThreadLocalMap) U.getReference(parent, INHERITABLE);
      if (locals != null && locals.size() > 0) {
        U.putReference(vthread, INHERITABLE, ThreadLocal.createInheritedMap(locals));
      }
      U.putReference(vthread, LOADER, parent.getContextClassLoader());
      U.putReference(vthread, BINDINGS, Thread.class); // says that it is new
      var continuation = new VThreadContinuation(vthread, body);
      U.putReference(vthread, CONT, continuation);
      U.putReference(vthread, INTERRUPT_LOCK, continuation);
      U.putReference(vthread, SCHEDULER, scheduler);
      U.putReference(vthread, TASK, task);
      U.storeFence(); // some of these are final
      return vthread;
    }

    /// As `Thread.start` in a container that keeps no list and has no owner, for a thread that was
    /// made here a moment ago; its caller gives the scheduler its task.
    static void start(Thread thread, ThreadContainer container) {
      var vthread = (VirtualThread) thread;
      vthread.setThreadContainer(container);
      U.putIntRelease(vthread, STATE, STARTED);
    }

    /// Does it, with a virtual thread: to yield and to park the current one.
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
        case WARM -> warm(vthread);
        default -> park(vthread);
      };
    }

    /// As `runContinuation`, but a thread that yielded or parked is not looked after: it is in
    /// YIELDED, and its caller queues it; or in PARKED, and its caller calls {@link #permitted}
    /// after a full fence. False if it could not continue.
    @ChangesCurrentThread
    private static boolean resume(VirtualThread vthread) {
      int from = vthread.state;
      if (from == STARTED) {
        U.putIntRelease(vthread, STATE, RUNNING); // nobody else takes a thread out of STARTED
      } else if (from != UNPARKED && from != YIELDED && from != UNBLOCKED) {
        return false;
      } else if (!U.compareAndSetInt(vthread, STATE, from, RUNNING)) {
        return false;
      } else if (from == UNPARKED) {
        cancelTimeout(vthread);
        if (vthread.parkPermit) {
          U.putBooleanRelease(vthread, PERMIT, false); // the fence is the one below
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
        after(vthread, carrier);
      }
      return true;
    }

    private static void cancelTimeout(VirtualThread vthread) {
      if (vthread.timeoutTask != null) {
        vthread.timeoutTask.cancel(false);
        vthread.timeoutTask = null;
      }
    }

    /// Reads one word of each cache line of the upper frames of a thread that is not on a carrier,
    /// and of what leads there. It may get onto one meanwhile: whatever is read, it is within the
    /// object, since its stack begins no sooner than is taken for granted here.
    private static boolean warm(VirtualThread vthread) {
      long sum = vthread.state;
      Object stack = U.getReference(vthread.cont, TAIL);
      if (stack != null) {
        long from = Math.max(0, U.getInt(stack, STACK_SP));
        long to = Math.min(U.getInt(stack, STACK_SIZE), from + WORDS_WARMED);
        for (long word = from; word < to; word += WORDS_A_LINE) {
          sum += U.getLong(stack, STACK_START + word * Long.BYTES);
        }
      }
      return sum == 0;
    }

    /// Breaks the connection to the carrier. Whoever interrupts writes `interrupted`, then reads the
    /// carrier; so between the store of null here and the look at `interrupted` there is a full
    /// fence: of its own, the one of TERMINATED, or, for a thread that parked, its caller's.
    private static void after(VirtualThread vthread, Thread carrier) {
      if (vthread.cont.isDone()) {
        U.putReferenceRelease(vthread, CARRIER, null);
        vthread.notifyJvmtiUnmount(false);
        vthread.afterDone(true);
        settleInterrupt(vthread, carrier);
        return;
      }
      int s = vthread.state;
      if (s == PARKING) {
        U.putReferenceRelease(vthread, CARRIER, null);
        vthread.notifyJvmtiUnmount(false);
        U.putIntRelease(vthread, STATE, PARKED);
        return;
      }
      vthread.carrierThread = null;
      settleInterrupt(vthread, carrier);
      vthread.notifyJvmtiUnmount(false);
      if (s == YIELDING) {
        U.putIntRelease(vthread, STATE, YIELDED);
      } else {
        vthread.afterYield();
      }
    }

    /// Nothing of an interrupt of the thread that has left it stays on the carrier.
    private static void settleInterrupt(VirtualThread vthread, Thread carrier) {
      if (vthread.interrupted) {
        notifyJvmtiDisableSuspend(true); // or a debugger could stop the carrier with the lock
        synchronized (vthread.interruptLock) {
          // Somebody may be in there with the carrier in hand.
          carrier.clearInterrupt();
        }
        notifyJvmtiDisableSuspend(false);
      }
      carrier.clearInterrupt();
    }

    /// What is left to do for a thread that parked, on its carrier, after a full fence. Whether it
    /// is in PARKED, has a permit and is UNPARKED now, by the caller, who queues it.
    private static boolean permitted(VirtualThread vthread) {
      settleInterrupt(vthread, Thread.currentCarrierThread());
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
