package dev.gloom.jdk;

import static java.lang.invoke.MethodType.methodType;

import java.lang.invoke.MethodHandle;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.UnaryOperator;

/// The JDK's timer queues for virtual threads that park or wait for a time: a plain array, from
/// which each such thread picks one. Threads of the JDK's own scheduler do not use it.
public final class TimerQueues {
  private static final MethodHandle ALL =
      Door.getter(
          methodType(ScheduledExecutorService[].class),
          Door.type("java.lang.VirtualThread$DelayedTaskSchedulers"),
          "INSTANCE");

  private TimerQueues() {}

  static void init() {}

  /// Puts what `replacement` answers in the place of each queue. A thread that reads the array at
  /// that moment may still find the old one, which works as before.
  public static void replace(UnaryOperator<ScheduledExecutorService> replacement) {
    try {
      var all = (ScheduledExecutorService[]) ALL.invokeExact();
      for (int i = 0; i < all.length; i++) {
        all[i] = replacement.apply(all[i]);
      }
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }
}
