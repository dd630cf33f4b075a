package dev.gloom.runtime;

import dev.gloom.jdk.Management;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Notices, within a second, that the program has begun to use JMX, and has what was given for that
/// run on a thread of its own. Most programs never do, and those pay nothing for it at their start.
public final class Managed {
  private static final long LOOK_NANOS = 1_000_000_000;

  private static final AtomicReference<@Nullable Runnable> WHEN_USED = new AtomicReference<>();

  private static volatile @Nullable Thread thread;

  /// Sysmon's.
  private long lookedNanos;

  Managed() {}

  /// Looks handles up: a sysmon might do so first when memory is short.
  static void init() {
    Management.isUsed();
  }

  /// What to run, once for the process.
  public static void whenUsed(Runnable action) {
    WHEN_USED.compareAndSet(null, action);
  }

  /// For sysmons: the first that sees it starts the thread.
  void look(long now) {
    if (now - lookedNanos < LOOK_NANOS) {
      return;
    }
    lookedNanos = now;
    Runnable action = WHEN_USED.get();
    if (action != null
        && action != STARTED
        && Management.isUsed()
        && WHEN_USED.compareAndSet(action, STARTED)) {
      try {
        Thread t = Starter.newThread("gloom-jmx", action);
        thread = t;
        t.start();
      } catch (OutOfMemoryError e) {
        WHEN_USED.set(action); // at another time then
        throw e;
      }
    }
  }

  /// It is one of gloom's own, and wakes nobody.
  static boolean isThread(Thread t) {
    return t == thread;
  }

  private static final Runnable STARTED = new Started();

  private static final class Started implements Runnable {
    @Override
    public void run() {}
  }
}
