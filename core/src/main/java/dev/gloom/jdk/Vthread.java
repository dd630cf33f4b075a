package dev.gloom.jdk;

import static java.lang.invoke.MethodType.methodType;

import java.lang.invoke.MethodHandle;
import java.util.concurrent.Executor;

/// What gloom does with a `java.lang.VirtualThread`: make one on a scheduler of our own, read its
/// state, take over one that inherited its parent's scheduler.
///
/// A virtual thread hands its scheduler one and the same Runnable, its *task*, each time it can
/// continue; running the task on a platform thread mounts the virtual thread there until it parks,
/// yields, blocks or ends.
public final class Vthread {
  private static final Class<?> TYPE = Door.type("java.lang.VirtualThread");

  private static final MethodHandle NEW =
      Door.constructor(
          methodType(Thread.class, Executor.class, String.class, int.class, Runnable.class),
          TYPE,
          Executor.class,
          String.class,
          int.class,
          Runnable.class);
  private static final MethodHandle STATE =
      Door.getter(methodType(int.class, Thread.class), TYPE, "state");
  private static final MethodHandle TASK =
      Door.getter(methodType(Runnable.class, Thread.class), TYPE, "runContinuation");
  private static final MethodHandle RUN =
      Door.method(methodType(void.class, Thread.class), TYPE, "runContinuation");
  private static final MethodHandle AFTER_YIELD =
      Door.method(methodType(void.class, Thread.class), TYPE, "afterYield");
  private static final MethodHandle SCHEDULER =
      Door.getter(methodType(Executor.class, Thread.class), TYPE, "scheduler");
  private static final MethodHandle SET_SCHEDULER =
      Door.setter(methodType(void.class, Thread.class, Executor.class), TYPE, "scheduler");
  private static final MethodHandle PARK_PERMIT = flag("parkPermit");
  private static final MethodHandle BLOCK_PERMIT = flag("blockPermit");
  private static final MethodHandle ON_WAITING_LIST = flag("onWaitingList");
  private static final Class<?> TASK_TYPE = taskType();
  private static final MethodHandle OWNER = ownerOf(TASK_TYPE);

  /// For tasks of another class: an agent that retransforms VirtualThread, as some do, has the JVM
  /// make a new class for the lambda that is the task.
  private static final ClassValue<MethodHandle> OTHER_OWNER =
      new ClassValue<>() {
        @Override
        protected MethodHandle computeValue(Class<?> type) {
          return ownerOf(type);
        }
      };

  private static final int STARTED = Door.constant(TYPE, "STARTED");
  private static final int UNPARKED = Door.constant(TYPE, "UNPARKED");
  private static final int UNBLOCKED = Door.constant(TYPE, "UNBLOCKED");
  private static final int YIELDED = Door.constant(TYPE, "YIELDED");
  private static final int NEWBORN = Door.constant(TYPE, "NEW");
  private static final int RUNNING = Door.constant(TYPE, "RUNNING");
  private static final int PARKED = Door.constant(TYPE, "PARKED");
  private static final int TIMED_PARKED = Door.constant(TYPE, "TIMED_PARKED");
  private static final int BLOCKED = Door.constant(TYPE, "BLOCKED");
  private static final int WAIT = Door.constant(TYPE, "WAIT");
  private static final int TIMED_WAIT = Door.constant(TYPE, "TIMED_WAIT");
  private static final int TIMED_PARKING = Door.constant(TYPE, "TIMED_PARKING");
  private static final int TIMED_WAITING = Door.constant(TYPE, "TIMED_WAITING");
  private static final int PINNED = Door.constant(TYPE, "PINNED");
  private static final int TIMED_PINNED = Door.constant(TYPE, "TIMED_PINNED");
  private static final int TERMINATED = Door.constant(TYPE, "TERMINATED");

  /// Set while `Thread.getStackTrace` keeps an unmounted thread from continuing.
  private static final int SUSPENDED = Door.constant(TYPE, "SUSPENDED");

  private Vthread() {}

  /// Throws {@link IllegalStateException}, with the line to paste, if this JDK is not one that
  /// gloom can work with or its internals are closed.
  public static void require() {
    // Initialises the door's other users, so that their look-ups count too.
    Carrier.current();
    Container.init();
    TimerQueues.init();
    Vm.init();
    ShutdownHooks.init();
    Door.require();
  }

  /// A virtual thread, not started, whose `scheduler` gets its task each time it can continue.
  public static Thread make(Executor scheduler, String name, Runnable body) {
    try {
      return (Thread) NEW.invokeExact(scheduler, name, 0, body);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// The Runnable that `vthread` gives to its scheduler: one object for life.
  public static Runnable task(Thread vthread) {
    try {
      return (Runnable) TASK.invokeExact(vthread);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// The virtual thread whose task this is.
  public static Thread owner(Runnable task) {
    try {
      return task.getClass() == TASK_TYPE
          ? (Thread) OWNER.invokeExact(task)
          : (Thread) OTHER_OWNER.get(task.getClass()).invokeExact(task);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// Does what the task does, without touching the task: one cache line less for each switch.
  static void run(Thread vthread) {
    try {
      RUN.invokeExact(vthread);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// The scheduler of a virtual thread.
  public static Executor scheduler(Thread vthread) {
    try {
      return (Executor) SCHEDULER.invokeExact(vthread);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// Makes `scheduler` the one that `vthread`, and every virtual thread that it starts, submits to.
  /// Only before its first run: the field is not volatile, so what publishes the first run must
  /// publish this store too.
  public static void scheduler(Thread vthread, Executor scheduler) {
    try {
      SET_SCHEDULER.invokeExact(vthread, scheduler);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// Whether running the task now would mount the thread. False while a stack trace is being taken.
  public static boolean runnable(Thread vthread) {
    int s = state(vthread);
    return s == UNPARKED || s == YIELDED || s == UNBLOCKED || s == STARTED;
  }

  /// Whether the thread was started and has not run yet.
  public static boolean justStarted(Thread vthread) {
    return state(vthread) == STARTED;
  }

  /// Whether the thread left its carrier by `Thread.yield` and has not continued.
  public static boolean yielded(Thread vthread) {
    return (state(vthread) & ~SUSPENDED) == YIELDED;
  }

  /// Whether the thread has left its carrier for a timed park or wait, but the JDK failed to set
  /// the timer and stopped half way.
  public static boolean halfParked(Thread vthread) {
    int s = state(vthread);
    return s == TIMED_PARKING || s == TIMED_WAITING;
  }

  /// Does the second half again, on the carrier that the thread has left.
  public static void finishParking(Thread vthread) {
    try {
      AFTER_YIELD.invokeExact(vthread);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// Whether the thread has ended. A volatile read, so everything the thread did is visible.
  public static boolean terminated(Thread vthread) {
    return state(vthread) == TERMINATED;
  }

  /// What the thread is doing, in the terms of a scheduler.
  public static Phase phase(Thread vthread) {
    int s = state(vthread) & ~SUSPENDED;
    if (s == RUNNING) {
      return Phase.RUNNING;
    }
    if (s == STARTED || s == UNPARKED || s == UNBLOCKED || s == YIELDED) {
      return Phase.RUNNABLE;
    }
    if (s == PARKED || s == TIMED_PARKED || s == BLOCKED || s == WAIT || s == TIMED_WAIT) {
      return Phase.WAITING;
    }
    if (s == PINNED || s == TIMED_PINNED) {
      return Phase.PINNED;
    }
    if (s == NEWBORN) {
      return Phase.NEW;
    }
    // What is left are the short ways from running to waiting, on the carrier.
    return s == TERMINATED ? Phase.ENDED : Phase.RUNNING;
  }

  /// What a virtual thread is doing, read from its own state.
  public enum Phase {
    /// Not started.
    NEW,
    /// Can continue, is on no carrier.
    RUNNABLE,
    /// On a carrier.
    RUNNING,
    /// Parked, blocked or waiting, on no carrier.
    WAITING,
    /// Parked on its carrier, because a native frame or class initialiser is below it.
    PINNED,
    /// Ended.
    ENDED
  }

  /// How the thread waits.
  public static Wait wait(Thread vthread) {
    int s = state(vthread) & ~SUSPENDED;
    if (s == PARKED || s == PINNED) {
      return Wait.PARK;
    }
    if (s == TIMED_PARKED || s == TIMED_PINNED) {
      return Wait.TIMED_PARK;
    }
    if (s == BLOCKED) {
      return Wait.MONITOR;
    }
    if (s == WAIT) {
      return Wait.OBJECT;
    }
    return s == TIMED_WAIT ? Wait.TIMED_OBJECT : Wait.NONE;
  }

  /// The ways in which a virtual thread waits.
  public enum Wait {
    /// It does not.
    NONE,
    /// `LockSupport.park`.
    PARK,
    /// `LockSupport.parkNanos`, or a sleep.
    TIMED_PARK,
    /// `synchronized`.
    MONITOR,
    /// `Object.wait`.
    OBJECT,
    /// `Object.wait` with a time.
    TIMED_OBJECT
  }

  /// Whether the thread is off its carrier, waits for no limited time, and nothing that would wake
  /// it is under way: no permit that it has not seen, no hand-over of a monitor, and nobody who
  /// takes its stack.
  public static boolean waitsForGood(Thread vthread) {
    int s = state(vthread);
    try {
      if ((boolean) ON_WAITING_LIST.invokeExact(vthread)) {
        return false;
      }
      return s == PARKED
          ? !(boolean) PARK_PERMIT.invokeExact(vthread)
          : (s == BLOCKED || s == WAIT) && !(boolean) BLOCK_PERMIT.invokeExact(vthread);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  private static MethodHandle flag(String name) {
    return Door.getter(methodType(boolean.class, Thread.class), TYPE, name);
  }

  private static int state(Thread vthread) {
    try {
      return (int) STATE.invokeExact(vthread);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// All tasks are instances of one lambda class; a sample tells which.
  private static Class<?> taskType() {
    try {
      return task(make(_ -> {}, "", () -> {})).getClass();
    } catch (IllegalStateException _) {
      return Object.class;
    }
  }

  /// Where a task of this class keeps its thread.
  private static MethodHandle ownerOf(Class<?> taskType) {
    return Door.captured(methodType(Thread.class, Runnable.class), taskType, TYPE);
  }
}
