package dev.gloom.jdk;

import static java.lang.invoke.MethodType.methodType;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodHandles.Lookup.ClassOption;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntToLongFunction;
import java.util.function.Predicate;

/// Makes and mounts goroutines' threads by code of gloom's own, which does what the JDK's does with
/// half of its fences.
///
/// The code is two classes in `src/main/nestmates`, compiled with the jar and defined, when gloom
/// starts, as hidden members of the nests of `java.lang.VirtualThread` and
/// `jdk.internal.vm.Continuation`. Nothing of the JDK is redefined or replaced: a thread's states,
/// permits, carrier and the notes to debuggers are the JDK's, kept by its own rules, so whoever
/// looks at a goroutine sees what the JDK would show.
///
/// **What is left out, and why that is right.**
///
/// - *The lock around `carrierThread = null`*, unless the thread is interrupted. Whoever interrupts
///   writes `interrupted`, then reads `carrierThread`; the M writes null there, then reads
///   `interrupted`; both with full fences between. If the one that interrupts got hold of the
///   carrier, its write came first, and the M sees it and waits for the lock. (Or it sees that the
///   thread has taken note of the interrupt meanwhile, on another M: under that lock, so later.)
/// - *A fence of its own for that*, where another follows anyway: for a thread that parked, the M
///   looks at `interrupted` with the permit (below); for one that has ended, after TERMINATED.
/// - *The full fence after PARKING and YIELDING*: nobody acts on these but the M, which is this
///   thread a moment later.
/// - *The fence after PARKED, and the look for a permit behind it.* `unpark` writes the permit,
///   then reads the state. The M writes PARKED, then takes the goroutine's word from RUNNING to
///   IDLE by a CAS, a full fence, and only then looks for the permit ({@link #reclaim}): either it
///   sees the permit, or `unpark` sees PARKED. If the CAS fails, the goroutine is queued and comes
///   back here. `LeanMountStress` has the twin that loses wake-ups without that fence.
/// - *The fence after the permit is taken*: the one of `carrierThread = M` comes before the thread
///   goes on, and that is when it must not miss what was done before an unpark.
/// - *The task that a yielding thread gives to its scheduler*: the M asks for its state anyway.
/// - *The CAS of `Continuation.mounted`*, and the one from STARTED to RUNNING: the word lets one M
///   at a time in, and nobody but an M takes a thread out of STARTED.
/// - *A start's CAS, its task through the scheduler, its container's list*: the thread was made a
///   moment ago and nobody else knows it; the container keeps no list.
/// - *The constructors*, with a fence for each volatile field and a counter of ids that all share:
///   the fields are written as they are there, the ids are taken in blocks.
/// - *The permit of a goroutine that waits in gloom's own classes*: {@link #wake} takes it straight
///   from PARKED to UNPARKED, as `unpark` does in the end. If it is not in PARKED, still on its way
///   there or held by somebody who takes its stack, `unpark` itself is called, permit and all.
///
/// **What it depends on**: private members of two classes of the JDK, and on these classes working
/// as they do in JDK 25. It is used on the updates whose sources were read, 25 to 25.0.3 (they are
/// the same there but for how a timed park ends, which is not repeated here); `KnownJdkTest` fails
/// if the JDK's own code for this is another than that. On every other JDK gloom mounts by {@link
/// JdkMount}, and `stats().mount()` says so; `-Dgloom.mount=jdk` asks for that too.
public final class LeanMount implements Mount {
  /// Of JDK 25, the last update whose sources were read.
  static final int NEWEST_UPDATE = 3;

  /// The class with the code, or a String that says why there is none.
  private static final Object CODE = code();

  private static final Object[] VERBS = verbs();

  private static final Predicate<Thread> RESUME = verb(0);
  private static final Predicate<Thread> PERMITTED = verb(1);
  private static final Predicate<Thread> UNPARK = verb(2);
  private static final Predicate<Thread> YIELD = verb(3);
  private static final Predicate<Thread> PARK = verb(4);
  private static final Predicate<Thread> WARM = verb(5);

  /// No method handle: that may be compiled at a call, which may suspend the goroutine, and then
  /// the P whose ids these are is another one's.
  private static final IntToLongFunction TAKE_IDS =
      VERBS.length == 0 ? _ -> 0 : (IntToLongFunction) VERBS[0];

  private static final MethodHandle MAKE =
      handle(
          "make",
          methodType(
              Thread.class,
              Executor.class,
              String.class,
              Runnable.class,
              Runnable.class,
              long.class));
  private static final MethodHandle START =
      handle("start", methodType(void.class, Thread.class, Container.BASE))
          .asType(methodType(void.class, Thread.class, Object.class));

  private LeanMount() {}

  /// This one, or the JDK's own on a JDK that is not known.
  public static Mount orJdks() {
    return CODE instanceof String why ? new JdkMount(why) : new LeanMount();
  }

  @Override
  public String description() {
    return "lean";
  }

  @Override
  public long takeThreadIds(int n) {
    return TAKE_IDS.applyAsLong(n);
  }

  @Override
  public Thread make(Executor scheduler, String name, Runnable body, Runnable task, long threadId) {
    try {
      return (Thread) MAKE.invokeExact(scheduler, name, body, task, threadId);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  @Override
  public boolean start(Thread vthread, Container container) {
    try {
      START.invokeExact(vthread, container.jdks());
      return true;
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  @Override
  public boolean resume(Thread vthread) {
    return RESUME.test(vthread);
  }

  @Override
  public boolean warm(Thread vthread) {
    return WARM.test(vthread);
  }

  @Override
  public boolean reclaim(Thread vthread) {
    return PERMITTED.test(vthread) || Vthread.runnable(vthread);
  }

  @Override
  public void suspendRunnable() {
    var _ = YIELD.test(Thread.currentThread());
  }

  @Override
  public void suspendWaiting() {
    var _ = PARK.test(Thread.currentThread());
  }

  @Override
  public boolean wake(Thread vthread) {
    if (UNPARK.test(vthread)) {
      return true;
    }
    VarHandle.fullFence();
    LockSupport.unpark(vthread);
    return false;
  }

  private static Object code() {
    if (!isKnown(Runtime.version())) {
      return "Java " + Runtime.version() + " is not one of those that gloom knows from inside";
    }
    try {
      Class<?> thread = Class.forName("java.lang.VirtualThread");
      Class<?> continuation = Class.forName("jdk.internal.vm.Continuation");
      requireMembers(thread, continuation);
      Lookup inner = define(continuation, "");
      Object entryAndExit =
          inner.findStatic(inner.lookupClass(), "make", methodType(Object.class)).invoke();
      long nextThreadId =
          (long)
              Inside.of(Thread.class)
                  .findStatic(Thread.class, "getNextThreadIdOffset", methodType(long.class))
                  .invokeExact();
      return define(thread, List.of(entryAndExit, nextThreadId));
    } catch (VirtualMachineError e) {
      throw e;
    } catch (Throwable e) {
      return e.toString();
    }
  }

  private static Object[] verbs() {
    try {
      return CODE instanceof Lookup
          ? (Object[]) handle("verbs", methodType(Object[].class)).invokeExact()
          : new Object[0];
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  @SuppressWarnings("unchecked") // made for threads
  private static Predicate<Thread> verb(int i) {
    return i < VERBS.length ? (Predicate<Thread>) VERBS[i] : _ -> false;
  }

  /// A static method of the class with the code, or one that does nothing if there is none.
  private static MethodHandle handle(String name, MethodType type) {
    if (!(CODE instanceof Lookup code)) {
      return MethodHandles.empty(type);
    }
    try {
      return code.findStatic(code.lookupClass(), name, type);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("gloom: its own class has no " + name, e);
    }
  }

  static boolean isKnown(Runtime.Version version) {
    return version.feature() == 25 && version.interim() == 0 && version.update() <= NEWEST_UPDATE;
  }

  /// A missing method or constant is found here; else it would be when a goroutine first needs it.
  private static void requireMembers(Class<?> thread, Class<?> continuation)
      throws ReflectiveOperationException {
    requireFields(thread, int.class, "state", "STARTED", "RUNNING", "PARKING", "PARKED");
    requireFields(thread, int.class, "UNPARKED", "YIELDING", "YIELDED", "UNBLOCKED");
    requireFields(thread, boolean.class, "parkPermit", "blockPermit");
    requireFields(thread, Thread.class, "carrierThread");
    requireFields(thread, Future.class, "timeoutTask");
    requireFields(thread, continuation, "cont");
    requireFields(thread, Executor.class, "scheduler");
    requireFields(thread, Runnable.class, "runContinuation");
    requireFields(Thread.class, long.class, "tid");
    requireFields(Thread.class, String.class, "name");
    requireFields(Thread.class, boolean.class, "interrupted");
    requireFields(Thread.class, Object.class, "interruptLock", "scopedValueBindings");
    requireFields(Thread.class, ClassLoader.class, "contextClassLoader");
    Class<?> locals = Class.forName("java.lang.ThreadLocal$ThreadLocalMap");
    requireFields(Thread.class, locals, "inheritableThreadLocals");
    requireFields(continuation, boolean.class, "done", "mounted");
    requireFields(continuation, Object.class, "yieldInfo");
    requireFields(continuation, Object[].class, "scopedValueCache");
    Class<?> stack = Class.forName("jdk.internal.vm.StackChunk");
    requireFields(continuation, stack, "tail");
    requireFields(stack, int.class, "size", "sp");
    Class<?> scope = Class.forName("jdk.internal.vm.ContinuationScope");
    requireFields(continuation, scope, "scope");

    requireMethod(thread, void.class, "parkOnCarrierThread", boolean.class, long.class);
    requireMethod(thread, void.class, "afterYield");
    requireMethod(thread, void.class, "afterDone", boolean.class);
    requireMethod(thread, void.class, "notifyJvmtiMount", boolean.class);
    requireMethod(thread, void.class, "notifyJvmtiUnmount", boolean.class);
    requireMethod(thread, void.class, "notifyJvmtiDisableSuspend", boolean.class);
    requireConstructor(
        Class.forName(thread.getName() + "$VThreadContinuation"), thread, Runnable.class);
    requireMethod(ThreadLocal.class, locals, "createInheritedMap", locals);
    requireMethod(locals, int.class, "size");
    requireMethod(Thread.class, void.class, "setCurrentThread", Thread.class);
    requireMethod(Thread.class, void.class, "setThreadContainer", Container.BASE);
    requireMethod(Thread.class, void.class, "setInterrupt");
    requireMethod(Thread.class, void.class, "clearInterrupt");
    requireMethod(continuation, boolean.class, "yield", scope);
    requireMethod(continuation, int.class, "doYield");
    requireMethod(
        continuation, void.class, "enterSpecial", continuation, boolean.class, boolean.class);
  }

  private static void requireFields(Class<?> owner, Class<?> type, String... names)
      throws NoSuchFieldException {
    for (String name : names) {
      if (owner.getDeclaredField(name).getType() != type) {
        throw new NoSuchFieldException(name);
      }
    }
  }

  private static void requireMethod(
      Class<?> owner, Class<?> result, String name, Class<?>... parameters)
      throws NoSuchMethodException {
    if (owner.getDeclaredMethod(name, parameters).getReturnType() != result) {
      throw new NoSuchMethodException(name);
    }
  }

  private static void requireConstructor(Class<?> owner, Class<?>... parameters)
      throws NoSuchMethodException {
    var unused = owner.getDeclaredConstructor(parameters);
  }

  /// Defines the class `Lean` into the nest of one of the JDK's.
  private static Lookup define(Class<?> host, Object given)
      throws IllegalAccessException, IOException {
    return Inside.of(host)
        .defineHiddenClassWithClassData(
            Inside.classFile(host.getName() + "$Lean"),
            given,
            true,
            ClassOption.NESTMATE,
            ClassOption.STRONG);
  }
}
