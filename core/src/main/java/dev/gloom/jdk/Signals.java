package dev.gloom.jdk;

import static java.lang.invoke.MethodType.methodType;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;

/// Signals of the operating system, through `sun.misc.Signal`, which is in the module
/// jdk.unsupported and stays there until Java has something for it. Found by name, so that gloom
/// runs where that module is missing.
public final class Signals {
  private Signals() {}

  /// Has `action` called, on a thread of the JVM's, each time this process gets the signal `name`,
  /// such as `USR1`. Throws IllegalArgumentException, saying why, if that cannot be.
  public static void handle(String name, Runnable action) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      MethodHandles.Lookup lookup = MethodHandles.publicLookup();
      MethodHandle run =
          lookup.findVirtual(Runnable.class, "run", methodType(void.class)).bindTo(action);
      Object calls =
          MethodHandleProxies.asInterfaceInstance(
              handler, MethodHandles.dropArguments(run, 0, signal));
      Object wanted =
          lookup.findConstructor(signal, methodType(void.class, String.class)).invoke(name);
      Object before =
          lookup
              .findStatic(signal, "handle", methodType(handler, signal, handler))
              .invoke(wanted, calls);
      assert before != null : "the JVM has always had a handler";
    } catch (ClassNotFoundException e) {
      throw new IllegalArgumentException(
          "signals need the module jdk.unsupported: add --add-modules jdk.unsupported", e);
    } catch (Throwable e) {
      throw Thrown.unchecked(e); // an unknown signal, or one that the JVM keeps for itself
    }
  }
}
