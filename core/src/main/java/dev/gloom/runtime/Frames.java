package dev.gloom.runtime;

/// Stack frames as Go prints them, with Java's names: the function, and under it the place.
///
/// A program's stack ends at its goroutine's body. Below that are gloom's frames and the JDK's,
/// which say nothing; and above the call of gloom in which a goroutine waits are those of its
/// making. Both are left out, as Go leaves out its runtime's. A stack that has no frame of the
/// program keeps the JDK's.
///
/// Go: `traceback`, `printcreatedby`, `showframe`
final class Frames {
  /// How many are printed at each end of a stack. Go: tracebackInnerFrames, tracebackOuterFrames
  static final int AT_EACH_END = 50;

  private Frames() {}

  /// Appends the program's frames, two lines each.
  static void append(StringBuilder text, StackTraceElement[] frames) {
    int end = end(frames);
    int begin = begin(frames, end);
    int elided = end - begin - 2 * AT_EACH_END;
    for (int i = begin; i < end; i++) {
      if (elided > 0 && i == begin + AT_EACH_END) {
        text.append("...").append(elided).append(" frames elided...\n");
        i += elided;
      }
      StackTraceElement f = frames[i];
      text.append(function(f)).append("(...)\n\t").append(place(f)).append('\n');
    }
  }

  /// Appends who started `g`, and where. The first goroutine was started by nobody, as in Go.
  static void appendCreatedBy(StringBuilder text, G g) {
    if (g.site == null || g.id == 1) {
      return;
    }
    text.append("created by ").append(function(g.site));
    if (g.parentId != 0) {
      text.append(" in goroutine ").append(g.parentId);
    }
    text.append("\n\t").append(place(g.site)).append('\n');
  }

  /// Whether the frame is the program's, neither gloom's nor the JDK's.
  static boolean isProgram(StackTraceElement f) {
    return !isGloom(f) && !isJdk(f);
  }

  /// The first frame below the program's own.
  private static int end(StackTraceElement[] frames) {
    int end = frames.length;
    while (end > 0 && !isProgram(frames[end - 1])) {
      end--;
    }
    if (end > 0) {
      return end;
    }
    // Nothing of the program's: a body that is a method of the JDK.
    end = frames.length;
    while (end > 0 && (isGloom(frames[end - 1]) || isThread(frames[end - 1]))) {
      end--;
    }
    return end;
  }

  /// Behind the last of gloom's frames above the program's first, or of those that every stack has.
  private static int begin(StackTraceElement[] frames, int end) {
    int begin = 0;
    while (begin < end && isThread(frames[begin])) {
      begin++;
    }
    for (int i = begin; i < end && !isProgram(frames[i]); i++) {
      if (isGloom(frames[i])) {
        begin = i + 1;
      }
    }
    return begin;
  }

  private static boolean isGloom(StackTraceElement f) {
    String name = f.getClassName();
    return name.startsWith("dev.gloom.")
        && (name.indexOf('.', "dev.gloom.".length()) < 0
            || name.startsWith("dev.gloom.runtime.")
            || name.startsWith("dev.gloom.jdk.")
            || name.startsWith("dev.gloom.cli."));
  }

  private static boolean isJdk(StackTraceElement f) {
    String module = f.getModuleName();
    return module != null && (module.startsWith("java.") || module.startsWith("jdk."));
  }

  /// What is at the top of every stack of a virtual thread, or of one who asks for its own.
  private static boolean isThread(StackTraceElement f) {
    String name = f.getClassName();
    return name.equals("java.lang.VirtualThread")
        || name.equals("java.lang.System$1")
        || name.equals("java.lang.Thread") && f.getMethodName().equals("getStackTrace");
  }

  private static String function(StackTraceElement f) {
    return f.getClassName() + "." + f.getMethodName();
  }

  private static String place(StackTraceElement f) {
    String file = f.getFileName() == null ? "(unknown source)" : f.getFileName();
    return f.getLineNumber() < 0 ? file : file + ":" + f.getLineNumber();
  }
}
