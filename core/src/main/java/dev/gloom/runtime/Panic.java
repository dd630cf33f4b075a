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
    frames(text, e);
    for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
      text.append("caused by: ").append(cause).append('\n');
      frames(text, cause);
    }
    if (g.site != null && g.parentId != 0) {
      text.append("created by ").append(function(g.site)).append(" in goroutine ");
      text.append(g.parentId).append("\n\t").append(place(g.site)).append('\n');
    }
    return text.append("exit status ").append(STATUS).append('\n').toString();
  }

  private static void frames(StringBuilder text, Throwable e) {
    for (StackTraceElement f : e.getStackTrace()) {
      // Below the body are only the JDK's and gloom's own frames.
      if (f.getClassName().equals(G.class.getName()) && f.getMethodName().equals("run")) {
        break;
      }
      text.append(function(f)).append("(...)\n\t").append(place(f)).append('\n');
    }
  }

  private static String function(StackTraceElement f) {
    return f.getClassName() + "." + f.getMethodName();
  }

  private static String place(StackTraceElement f) {
    String file = f.getFileName() == null ? "(unknown source)" : f.getFileName();
    return f.getLineNumber() < 0 ? file : file + ":" + f.getLineNumber();
  }
}
