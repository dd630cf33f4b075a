package dev.gloom.bench.cases;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/// Virtual threads on the least scheduler there can be: a queue that the calling thread empties.
///
/// What a virtual thread itself costs above a bare continuation; a scheduler comes on top. One
/// platform thread only and no lock: a case that sleeps or that contends for a monitor would bring
/// in other threads and must not run here.
public final class ExecutorThreads implements Threads {
  private final ArrayDeque<Runnable> queue = new ArrayDeque<>();
  private final Executor executor = queue::add;

  @Override
  public void run(Runnable root) throws Exception {
    var task = new FutureTask<@Nullable Void>(root, null);
    start(task::run);
    while (!task.isDone()) {
      Runnable next = queue.poll();
      if (next == null) {
        throw new IllegalStateException("every thread is parked and none is queued");
      }
      next.run();
    }
    task.get();
  }

  @Override
  public void start(Code body) {
    try {
      ((Thread) NEW_VIRTUAL_THREAD.invokeExact(executor, (String) null, 0, (Runnable) body))
          .start();
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void yield() {
    Thread.yield();
  }

  @Override
  public int procs() {
    return 1;
  }

  @Override
  public String version() {
    return Jvm.version();
  }

  private static final MethodHandle NEW_VIRTUAL_THREAD = newVirtualThread();

  private static MethodHandle newVirtualThread() {
    try {
      var constructor =
          Class.forName("java.lang.VirtualThread")
              .getDeclaredConstructor(Executor.class, String.class, int.class, Runnable.class);
      constructor.setAccessible(true);
      return MethodHandles.lookup()
          .unreflectConstructor(constructor)
          .asType(
              MethodType.methodType(
                  Thread.class, Executor.class, String.class, int.class, Runnable.class));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
