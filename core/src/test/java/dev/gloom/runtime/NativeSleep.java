package dev.gloom.runtime;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/// A call that holds its thread and that gloom knows nothing of: the C library's `usleep`.
@SuppressWarnings("restricted")
public final class NativeSleep {
  private static final MethodHandle USLEEP =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("usleep"),
              FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

  private NativeSleep() {}

  /// Sleeps in the kernel, for less than a second.
  public static void micros(int micros) {
    try {
      int ignored = (int) USLEEP.invokeExact(micros);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }
}
