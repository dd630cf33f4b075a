package dev.gloom.api;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/// Native code for tests: a call that holds its thread, and one that calls back, so that there is a
/// native frame on the stack.
@SuppressWarnings("restricted") // the tests' JVMs are told to allow it
final class Native {
  private static final Linker LINKER = Linker.nativeLinker();

  private static final MethodHandle USLEEP =
      downcall("usleep", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
  private static final MethodHandle QSORT =
      downcall("qsort", FunctionDescriptor.ofVoid(ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS));

  private Native() {}

  /// Sleeps in the C library.
  static void sleep(int millis) {
    try {
      int _ = (int) USLEEP.invokeExact(millis * 1_000);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  /// Runs `body` with a native frame below it: whoever parks there is pinned.
  static void pinned(Runnable body) {
    try (Arena arena = Arena.ofConfined()) {
      MethodHandle compare =
          MethodHandles.lookup()
              .findStatic(
                  Native.class,
                  "compare",
                  MethodType.methodType(
                      int.class, Runnable.class, MemorySegment.class, MemorySegment.class))
              .bindTo(body);
      MemorySegment stub =
          LINKER.upcallStub(compare, FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS), arena);
      QSORT.invokeExact(arena.allocate(16), 2L, 8L, stub);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  @SuppressWarnings("unused") // called by qsort
  private static int compare(Runnable body, MemorySegment a, MemorySegment b) {
    body.run();
    return 0;
  }

  private static MethodHandle downcall(String name, FunctionDescriptor type) {
    return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), type);
  }
}
