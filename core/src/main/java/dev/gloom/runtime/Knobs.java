package dev.gloom.runtime;

import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/// The settings: every `gloom.*` system property, its default and its range, and what is taken from
/// the environment as Go does. A malformed property is an error that says what is right; a
/// malformed GOMAXPROCS is ignored, as in Go. ({@link Cpus} has those that say which CPUs count.)
///
/// @param maxProcs the number of processors, {@link #BY_DEFAULT} if nobody said one
/// @param exitOnPanic whether an exception that leaves a goroutine ends the program
/// @param haltOnBug whether a bug of gloom's own does
/// @param debug what the scheduler prints about itself
/// @param dumpSignal the signal that asks for a dump of all goroutines, if any
/// @param detectDeadlock whether a deadlock of all goroutines is reported
/// @param maxThreads how many threads a scheduler may have
/// @param maxOvercommit from how many goroutines that compute without a pause the processor is
///   taken while they go on, {@link #OVERCOMMIT_BY_DEFAULT} for four times as many as there are
///   processors
/// @param preemption the slice, and what is done about whoever overruns it
/// @param keepsAll whether a goroutine that nobody can wake any more stays; the JDK's own setting
///   for virtual threads, `jdk.trackAllThreads`, decides
/// @param leanMount whether goroutines are mounted by gloom's own code, where that is known to fit
public record Knobs(
    int maxProcs,
    boolean exitOnPanic,
    boolean haltOnBug,
    Debug debug,
    @Nullable String dumpSignal,
    boolean detectDeadlock,
    int maxThreads,
    int maxOvercommit,
    Preemption preemption,
    boolean keepsAll,
    boolean leanMount) {
  /// More Ps than any machine has cores is a typing error.
  public static final int MAX_PROCS_LIMIT = 65_536;

  /// Four times as many as there are processors.
  static final int OVERCOMMIT_BY_DEFAULT = -1;

  /// Go's figure.
  private static final int MAX_THREADS_DEFAULT = 10_000;

  /// As many processors as {@link Cpus} says, and as it will say later.
  public static final int BY_DEFAULT = 0;

  /// With the defaults of what else there is.
  Knobs(int maxProcs, boolean exitOnPanic, boolean haltOnBug) {
    this(
        maxProcs,
        exitOnPanic,
        haltOnBug,
        Debug.OFF,
        null,
        true,
        MAX_THREADS_DEFAULT,
        OVERCOMMIT_BY_DEFAULT,
        Preemption.DEFAULT,
        true,
        true);
  }

  /// The settings of this process.
  public static Knobs ofProcess() {
    return of(System.getProperties(), System.getenv());
  }

  static Knobs of(Properties properties, Map<String, String> environment) {
    String maxProcs = properties.getProperty("gloom.maxprocs");
    netPoll(properties); // of the process, not of a scheduler; here it is only checked
    return new Knobs(
        maxProcs == null ? goMaxProcs(environment.get("GOMAXPROCS")) : maxProcs(maxProcs),
        oneOf(properties, "gloom.panic", "handler", "exit"),
        !oneOf(properties, "gloom.onbug", "halt", "log"),
        Debug.of(properties, environment),
        dumpSignal(properties.getProperty("gloom.dumpsignal", "off")),
        !oneOf(properties, "gloom.deadlock", "report", "off"),
        number(properties, "gloom.maxthreads", MAX_THREADS_DEFAULT, 1),
        number(properties, "gloom.maxovercommit", OVERCOMMIT_BY_DEFAULT, 0),
        Preemption.of(
            properties.getProperty("gloom.slice", "10"),
            properties.getProperty("gloom.preempt", "adaptive")),
        keepsAll(properties.getProperty("jdk.trackAllThreads", "")),
        !oneOf(properties, "gloom.mount", "lean", "jdk"));
  }

  /// As the JDK reads it.
  private static boolean keepsAll(String value) {
    return value.isEmpty() || Boolean.parseBoolean(value);
  }

  private static int number(Properties properties, String name, int byDefault, int least) {
    String value = properties.getProperty(name);
    if (value == null) {
      return byDefault;
    }
    try {
      int n = Integer.parseInt(value.strip());
      if (n >= least) {
        return n;
      }
    } catch (NumberFormatException _) {
      // said below
    }
    throw malformed(name, value, "a whole number from " + least + " on");
  }

  /// Who serves the sockets of goroutines: `epoll`, `edge` or `jdk`.
  static String netPoll(Properties properties) {
    String value = properties.getProperty("gloom.netpoll", "edge");
    if (!value.equals("epoll") && !value.equals("edge") && !value.equals("jdk")) {
      throw malformed("gloom.netpoll", value, "edge, epoll or jdk");
    }
    return value;
  }

  /// Checks a number of processors that a caller gave.
  public static int checkMaxProcs(int n) {
    if (n < 1 || n > MAX_PROCS_LIMIT) {
      throw new IllegalArgumentException(
          "maxProcs must be from 1 to " + MAX_PROCS_LIMIT + ": " + n);
    }
    return n;
  }

  private static int maxProcs(String value) {
    try {
      return checkMaxProcs(Integer.parseInt(value.strip()));
    } catch (IllegalArgumentException _) {
      throw malformed("gloom.maxprocs", value, "a whole number from 1 to " + MAX_PROCS_LIMIT);
    }
  }

  private static int goMaxProcs(@Nullable String value) {
    if (value == null) {
      return BY_DEFAULT;
    }
    try {
      return checkMaxProcs(Integer.parseInt(value));
    } catch (IllegalArgumentException _) {
      return BY_DEFAULT;
    }
  }

  private static @Nullable String dumpSignal(String value) {
    String name = value.strip();
    return name.equals("off") ? null : name.startsWith("SIG") ? name.substring(3) : name;
  }

  /// False for the first word, which is the default, and true for the second.
  private static boolean oneOf(Properties properties, String name, String first, String second) {
    String value = properties.getProperty(name, first);
    if (value.equals(first)) {
      return false;
    }
    if (value.equals(second)) {
      return true;
    }
    throw malformed(name, value, first + " or " + second);
  }

  static IllegalArgumentException malformed(String name, String value, String right) {
    return new IllegalArgumentException(
        "gloom: the system property %s is \"%s\" but must be %s: correct or remove -D%s=%s"
            .formatted(name, value, right, name, value));
  }
}
