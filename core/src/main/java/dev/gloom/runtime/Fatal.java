package dev.gloom.runtime;

import java.io.PrintWriter;
import java.io.StringWriter;

/// gloom's own bugs stop loudly: what happened, the state of the scheduler, and the end of the JVM.
/// A scheduler that goes on after it broke an invariant loses goroutines in silence, which is
/// worse. `gloom.onbug=log` goes on all the same. It is there from the start of its scheduler,
/// because when it is needed there may be no file descriptor left to load it. Go: `throw`
final class Fatal {
  private static final int STATUS = 2;

  private final Sched sched;
  private final boolean halts;

  Fatal(Sched sched, boolean halts) {
    this.sched = sched;
    this.halts = halts;
  }

  /// The thread `who` failed. The caller must not make a text: there may be no memory for one.
  void bug(String who, Throwable cause) {
    try {
      var stack = new StringWriter();
      cause.printStackTrace(new PrintWriter(stack));
      System.err.printf("fatal error: gloom: %s failed%n%s%n", who, stack);
      System.err.printf(
          "%sThis is a bug in gloom: please report it with the text above.%n", sched.describe());
      sched.trace.printAtTheEnd();
      System.err.flush();
    } finally {
      if (halts) { // also if there is no memory for words, or no class for all of them
        Runtime.getRuntime().halt(STATUS);
      }
    }
  }
}
