package dev.gloom.jdk;

import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;

/// Changes classes that are loaded, if there is memory for it.
///
/// If the heap is full at that moment, the JVM's instrument library fails to make the exception
/// that would say so, throws null instead, and the process dies of SIGSEGV. So whoever changes a
/// class looks first, and changes one class at a time: it takes a millisecond or two, in which
/// hardly any program fills what is asked for here. Nothing makes it certain.
public final class Retransformation {
  private static final long ROOM_BYTES = 16 << 20;

  /// Of a small heap, this share is enough.
  private static final int SHARE = 4;

  private Retransformation() {}

  /// Has `type` transformed again. False if there is no memory for it now; it is as it was then.
  public static boolean of(Instrumentation instrumentation, Class<?> type)
      throws UnmodifiableClassException {
    if (!hasRoom()) {
      return false;
    }
    instrumentation.retransformClasses(type);
    return true;
  }

  /// Whether the heap has room. What waits to be collected counts as taken.
  static boolean hasRoom() {
    Runtime r = Runtime.getRuntime();
    long max = r.maxMemory();
    long taken = r.totalMemory() - r.freeMemory();
    return max - taken >= Math.min(ROOM_BYTES, max / SHARE);
  }
}
