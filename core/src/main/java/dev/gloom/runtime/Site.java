package dev.gloom.runtime;

import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/// Where a goroutine was started, at next to no cost.
///
/// Walking the stack at each `go` costs more than the whole spawn. But nearly every body is a
/// lambda, and each lambda expression is a class of its own: the place of its first spawn is
/// remembered with that class, and a later spawn pays for one look-up. A lambda that is kept in a
/// variable and started at two places reports the first; a named class, which is likely to be
/// started at several, pays for the walk each time.
final class Site {
  private static final Set<String> OWN =
      Set.of(
          "dev.gloom.Gloom",
          "dev.gloom.Scheduler",
          "dev.gloom.WaitGroup",
          "dev.gloom.Group",
          "dev.gloom.Context",
          "dev.gloom.Timer",
          Launch.class.getName(),
          FuncTimer.class.getName(),
          Site.class.getName(),
          Spawn.class.getName(),
          Sched.class.getName());

  private static final StackWalker WALKER = StackWalker.getInstance();

  private static final ClassValue<StackTraceElement[]> OF_LAMBDA =
      new ClassValue<>() {
        @Override
        protected StackTraceElement[] computeValue(Class<?> type) {
          StackTraceElement here = walk();
          return here == null ? new StackTraceElement[0] : new StackTraceElement[] {here};
        }
      };

  private Site() {}

  static @Nullable StackTraceElement of(Callable<?> body) {
    Class<?> type = (body instanceof Wrapping w ? w.wrapped() : body).getClass();
    if (!type.isHidden()) {
      return walk();
    }
    StackTraceElement[] site = OF_LAMBDA.get(type);
    return site.length == 0 ? null : site[0];
  }

  private static @Nullable StackTraceElement walk() {
    return WALKER.walk(
        frames ->
            frames
                .filter(f -> !isOwn(f.getClassName()))
                .findFirst()
                .map(StackWalker.StackFrame::toStackTraceElement)
                .orElse(null));
  }

  private static boolean isOwn(String className) {
    int nested = className.indexOf('$');
    String outer = nested < 0 ? className : className.substring(0, nested);
    return OWN.contains(outer) || outer.equals("java.lang.ClassValue");
  }
}
