package dev.gloom.runtime;

import dev.gloom.jdk.Thrown;

/// What happens when an exception leaves a goroutine.
///
/// In a library it goes where Java sends it, to the thread's uncaught handler; the thread is given
/// a name with the goroutine's id and place of creation first, so that even the JVM's default
/// report tells which one it was. In a program of its own (`gloom.panic=exit`, set by `./gloom
/// run`) it ends the program as in Go: report, status 2.
///
/// Go: `panic`, `printpanics`, `fatalpanic`
public final class Panic {
  /// Go's status of a program that panicked.
  private static final int STATUS = 2;

  private Panic() {}

  /// Whether an exception that leaves the calling goroutine ends the program.
  public static boolean endsProgram() {
    G g = Sched.currentG();
    return g != null && g.sched.exitOnPanic;
  }

  /// Reports `e`, which leaves `g`. Returns only to be thrown.
  static RuntimeException leave(G g, Throwable e) {
    if (g.sched.exitOnPanic) {
      System.out.flush();
      System.err.print(report(g, e));
      System.err.flush();
      System.exit(STATUS);
    }
    Thread thread = g.thread();
    if (thread.getName().isEmpty()) {
      thread.setName(
          g.site == null ? "goroutine " + g.id : "goroutine " + g.id + " created by " + g.site);
    }
    return Thrown.unchecked(e);
  }

  /// Go's text for a panic that nobody recovered, with Java's frames.
  static String report(G g, Throwable e) {
    var text = new StringBuilder("panic: ").append(e).append("\n\n");
    text.append("goroutine ").append(g.id).append(" [running]:\n");
    Frames.append(text, e.getStackTrace());
    for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
      text.append("caused by: ").append(cause).append('\n');
      Frames.append(text, cause.getStackTrace());
    }
    Frames.appendCreatedBy(text, g);
    return text.append("exit status ").append(STATUS).append('\n').toString();
  }
}
