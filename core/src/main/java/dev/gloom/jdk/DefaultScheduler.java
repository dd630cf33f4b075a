package dev.gloom.jdk;

import static java.lang.invoke.MethodType.methodType;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Field;
import java.util.concurrent.ForkJoinPool;

/// The scheduler that the JDK gives to virtual threads for which none is named, and the way to put
/// another in its place. It is a static final field, which only the JDK's own Unsafe can write;
/// code that the JIT compiled before that may keep the old one, so the agent comes first.
public final class DefaultScheduler {
  private static final Class<?> UNSAFE = Door.type("jdk.internal.misc.Unsafe");
  private static final MethodHandle GET_UNSAFE =
      Door.method(methodType(Object.class), UNSAFE, "getUnsafe");
  private static final MethodHandle BASE =
      Door.method(
          methodType(Object.class, Object.class, Field.class),
          UNSAFE,
          "staticFieldBase",
          Field.class);
  private static final MethodHandle OFFSET =
      Door.method(
          methodType(long.class, Object.class, Field.class),
          UNSAFE,
          "staticFieldOffset",
          Field.class);
  private static final MethodHandle PUT =
      Door.method(
          methodType(void.class, Object.class, Object.class, long.class, Object.class),
          UNSAFE,
          "putReferenceVolatile",
          Object.class,
          long.class,
          Object.class);
  private static final Class<?> VTHREAD = Door.type("java.lang.VirtualThread");
  private static final MethodHandle GET =
      Door.getter(methodType(ForkJoinPool.class), VTHREAD, "DEFAULT_SCHEDULER");

  private DefaultScheduler() {}

  /// Throws {@link IllegalStateException} if this JDK keeps its scheduler elsewhere.
  public static void require() {
    Door.require();
  }

  /// The one that is there now.
  public static ForkJoinPool get() {
    try {
      return (ForkJoinPool) GET.invokeExact();
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// Puts another one in its place.
  public static void replace(ForkJoinPool other) {
    try {
      Field field = VTHREAD.getDeclaredField("DEFAULT_SCHEDULER");
      Object unsafe = (Object) GET_UNSAFE.invokeExact();
      Object base = (Object) BASE.invokeExact(unsafe, field);
      long offset = (long) OFFSET.invokeExact(unsafe, field);
      PUT.invokeExact(unsafe, base, offset, (Object) other);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }
}
