package dev.gloom.bench.cases;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;

/// Bare `jdk.internal.vm.Continuation`s, run round robin by the calling thread: the floor under
/// every virtual thread.
///
/// They can yield and end, not park. The root is the calling thread itself, which runs the others
/// while it waits.
public final class ContinuationThreads implements Threads {
  private final ArrayList<Object> live = new ArrayList<>();

  @Override
  public void run(Runnable root) {
    root.run();
  }

  @Override
  public void start(Code body) {
    try {
      live.add((Object) NEW.invokeExact(SCOPE, (Runnable) body));
    } catch (Throwable e) {
      throw rethrow(e);
    }
  }

  @Override
  public void yield() {
    try {
      var _ = (boolean) YIELD.invokeExact(SCOPE);
    } catch (Throwable e) {
      throw rethrow(e);
    }
  }

  @Override
  public void await(Countdown left) {
    try {
      while (!left.isZero()) {
        for (Object continuation : live) {
          if (!(boolean) IS_DONE.invokeExact(continuation)) {
            RUN.invokeExact(continuation);
          }
        }
      }
    } catch (Throwable e) {
      throw rethrow(e);
    }
    live.clear();
  }

  @Override
  public int procs() {
    return 1;
  }

  @Override
  public String version() {
    return Jvm.version();
  }

  private static RuntimeException rethrow(Throwable e) {
    switch (e) {
      case RuntimeException unchecked -> throw unchecked;
      case Error error -> throw error;
      default -> throw new IllegalStateException(e);
    }
  }

  private static final Object SCOPE;
  private static final MethodHandle NEW;
  private static final MethodHandle RUN;
  private static final MethodHandle YIELD;
  private static final MethodHandle IS_DONE;

  static {
    // By method handles with erased types: javac does not take --add-exports together with
    // --release.
    try {
      var lookup = MethodHandles.lookup();
      var scope = Class.forName("jdk.internal.vm.ContinuationScope");
      var continuation = Class.forName("jdk.internal.vm.Continuation");
      SCOPE = scope.getConstructor(String.class).newInstance("bench");
      NEW =
          lookup
              .findConstructor(
                  continuation, MethodType.methodType(void.class, scope, Runnable.class))
              .asType(MethodType.methodType(Object.class, Object.class, Runnable.class));
      RUN =
          lookup
              .findVirtual(continuation, "run", MethodType.methodType(void.class))
              .asType(MethodType.methodType(void.class, Object.class));
      YIELD =
          lookup
              .findStatic(continuation, "yield", MethodType.methodType(boolean.class, scope))
              .asType(MethodType.methodType(boolean.class, Object.class));
      IS_DONE =
          lookup
              .findVirtual(continuation, "isDone", MethodType.methodType(boolean.class))
              .asType(MethodType.methodType(boolean.class, Object.class));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
