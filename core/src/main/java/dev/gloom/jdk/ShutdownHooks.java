package dev.gloom.jdk;

import static java.lang.invoke.MethodType.methodType;

import java.lang.invoke.MethodHandle;
import java.util.ConcurrentModificationException;
import java.util.Map;

/// Threads that the application wants to have run when the JVM ends, on a signal for instance: they
/// are not started yet, but may be the ones that somebody waits for.
public final class ShutdownHooks {
  private static final MethodHandle HOOKS =
      Door.getter(methodType(Map.class), Door.type("java.lang.ApplicationShutdownHooks"), "hooks");

  private ShutdownHooks() {}

  /// Runs the static initialiser, so that its look-up counts.
  static void init() {}

  /// Whether there is one that is not the JDK's own, or the end has begun.
  public static boolean ofApplication() {
    try {
      var hooks = (Map<?, ?>) HOOKS.invokeExact();
      if (hooks == null) {
        return true;
      }
      for (Object hook : hooks.keySet()) {
        if (hook.getClass() == Thread.class || hook.getClass().getClassLoader() != null) {
          return true;
        }
      }
      return false;
    } catch (ConcurrentModificationException _) {
      return true; // somebody is about it
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }
}
