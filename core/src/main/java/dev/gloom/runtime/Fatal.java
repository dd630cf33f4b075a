package dev.gloom.runtime;

import java.io.PrintWriter;
import java.io.StringWriter;

/// gloom's own bugs stop loudly: what happened, the state of the scheduler, and the end of the JVM.
/// A scheduler that goes on after it broke an invariant loses goroutines in silence, which is
/// worse. `gloom.onbug=log` goes on all the same. Go: `throw`
final class Fatal {
  private static final int STATUS = 2;

  private Fatal() {}

  /// The thread `who` failed. The caller must not make a text: there may be no memory for one.
  static void bug(Sched sched, String who, Throwable cause) {
    try {
      var stack = new StringWriter();
      cause.printStackTrace(new PrintWriter(stack));
      System.err.printf(
          "fatal error: gloom: %s failed%n%s%n%s"
              + "This is a bug in gloom: please report it with the text above.%n",
          who, stack, sched.describe());
      sched.trace.printAtTheEnd();
      System.err.flush();
    } finally {
      if (sched.haltOnBug) { // also if there is no memory for words
        Runtime.getRuntime().halt(STATUS);
      }
    }
  }
}
