package dev.gloom.runtime;

import dev.gloom.jdk.Signals;
import java.util.concurrent.atomic.AtomicBoolean;

/// A dump of all goroutines on standard error when the process gets a signal, so that one can look
/// into a program that hangs.
///
/// Go does this on SIGQUIT, and ends. The JVM keeps SIGQUIT for its own dump of platform threads,
/// and flags that make it let go cost more than they give. So it is another signal, named by
/// `gloom.dumpsignal`, and the program goes on. Nothing is installed unless it is asked for: a
/// library must not change what a signal does to its process; `./gloom run` asks for USR1.
final class DumpSignal {
  private static final AtomicBoolean INSTALLED = new AtomicBoolean();

  private DumpSignal() {}

  /// Answers the signal of this name from now on; the first scheduler with one decides for the
  /// process.
  static void install(String name) {
    if (INSTALLED.compareAndSet(false, true)) {
      try {
        Signals.handle(name, DumpSignal::print);
      } catch (IllegalArgumentException e) {
        INSTALLED.set(false);
        var malformed =
            Knobs.malformed(
                "gloom.dumpsignal",
                name,
                "off or a signal that Java can handle, such as USR1 (" + e.getMessage() + ")");
        malformed.initCause(e);
        throw malformed;
      }
    }
  }

  private static void print() {
    System.err.print(Dump.ofAll());
    System.err.flush();
  }
}
