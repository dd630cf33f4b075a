package dev.gloom.jdk;

/// Rethrows what a method handle threw, as it is: `invokeExact` declares Throwable, the JDK's
/// methods behind the handles do not.
public final class Thrown {
  private Thrown() {}

  /// Throws `e` itself, never returns; the return type lets a caller write `throw`.
  public static RuntimeException unchecked(Throwable e) {
    return Thrown.<RuntimeException>sneak(e);
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Throwable> E sneak(Throwable e) throws E {
    throw (E) e;
  }
}
