package dev.gloom.agent;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Which virtual threads the options want on gloom, by the package of the code that starts them. A
/// class of its own, so that who names no package does not pay for a walk, nor for its classes.
final class Packages {
  private static final StackWalker WALKER = StackWalker.getInstance();

  private final List<String> include;
  private final List<String> exclude;

  private Packages(List<String> include, List<String> exclude) {
    this.include = include;
    this.exclude = exclude;
  }

  /// Null if the options name none.
  static @Nullable Packages of(Options options) {
    return options.include().isEmpty() && options.exclude().isEmpty()
        ? null
        : new Packages(options.include(), options.exclude());
  }

  /// Whether a thread that the calling code starts is to be on gloom.
  boolean wantStarter() {
    return want(starter());
  }

  boolean want(String starter) {
    return (include.isEmpty() || isIn(include, starter)) && !isIn(exclude, starter);
  }

  private static boolean isIn(List<String> packages, String type) {
    for (String p : packages) {
      if (type.startsWith(p) && type.length() > p.length() && type.charAt(p.length()) == '.') {
        return true;
      }
    }
    return false;
  }

  /// The class whose code started the thread: the first that is neither the JDK's nor gloom's.
  private static String starter() {
    return WALKER.walk(
        frames ->
            frames
                .map(StackWalker.StackFrame::getClassName)
                .filter(Packages::isOfTheProgram)
                .findFirst()
                .orElse(""));
  }

  private static boolean isOfTheProgram(String type) {
    return !type.startsWith("java.")
        && !type.startsWith("jdk.")
        && !type.startsWith("sun.")
        && !type.startsWith("dev.gloom.runtime.")
        && !type.startsWith("dev.gloom.agent.");
  }
}
