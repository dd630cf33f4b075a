package dev.gloom.jdk;

import static java.lang.invoke.MethodType.methodType;

import java.lang.invoke.MethodHandle;

/// The platform thread under the code that asks, whether or not a goroutine is mounted on it.
public final class Carrier {
  private static final MethodHandle CURRENT =
      Door.method(methodType(Thread.class), Thread.class, "currentCarrierThread");
  private static final MethodHandle YIELD =
      Door.method(methodType(void.class), Thread.class, "yield0");

  private Carrier() {}

  /// The platform thread that runs this code; a JVM intrinsic, two loads.
  public static Thread current() {
    try {
      return (Thread) CURRENT.invokeExact();
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// Gives the core to another OS thread. `Thread.yield` would yield the goroutine instead. Go:
  /// `osyield`
  public static void yieldToOs() {
    try {
      YIELD.invokeExact();
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }
}
