package dev.gloom.jdk;

import static java.lang.invoke.MethodType.methodType;

import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The virtual threads that are on a carrier, found among all that the JDK keeps a list of: those
/// in the root container, and in the containers of executors and task scopes below it. A carrier
/// itself does not say whom it carries.
public final class Mounted {
  private static final Class<?> CONTAINER = Door.type("jdk.internal.vm.ThreadContainer");
  private static final MethodHandle ROOT =
      Door.method(methodType(Object.class), Door.type("jdk.internal.vm.ThreadContainers"), "root");
  private static final MethodHandle THREADS =
      Door.method(methodType(Stream.class, Object.class), CONTAINER, "threads");
  private static final MethodHandle CHILDREN =
      Door.method(methodType(Stream.class, Object.class), CONTAINER, "children");
  private static final MethodHandle CARRIER =
      Door.getter(
          methodType(Thread.class, Thread.class),
          Door.type("java.lang.VirtualThread"),
          "carrierThread");

  private Mounted() {}

  /// Throws {@link IllegalStateException} if this JDK keeps its threads otherwise.
  public static void require() {
    Door.require();
  }

  /// The carrier of a virtual thread, null if it is on none.
  public static @Nullable Thread carrier(Thread vthread) {
    try {
      return (Thread) CARRIER.invokeExact(vthread);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// Those of `scheduler`. Takes time in proportion to how many virtual threads there are.
  public static List<Thread> on(Executor scheduler) {
    var found = new ArrayList<Thread>();
    try {
      collect((Object) ROOT.invokeExact(), scheduler, found);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
    return found;
  }

  private static void collect(Object container, Executor scheduler, List<Thread> found)
      throws Throwable {
    var threads = (Stream<?>) (Stream) THREADS.invokeExact(container);
    threads.forEach(
        t -> {
          var thread = (Thread) t;
          if (thread.isVirtual()
              && carrier(thread) != null
              && Vthread.scheduler(thread) == scheduler) {
            found.add(thread);
          }
        });
    var children = (Stream<?>) (Stream) CHILDREN.invokeExact(container);
    for (Object child : children.toList()) {
      collect(child, scheduler, found);
    }
  }
}
