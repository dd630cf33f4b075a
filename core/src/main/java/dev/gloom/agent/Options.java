package dev.gloom.agent;

import dev.gloom.runtime.Knobs;
import dev.gloom.runtime.Preemption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The agent's options, `-javaagent:gloom.jar=name=value,name=value`: what there is, what it means
/// and what it may be, in one place.
///
/// Those that are settings of the runtime become the system property of that name ({@link
/// #apply()}), unless the property is given too, which is the more particular.
///
/// @param properties the settings of the runtime, by the names of their properties
record Options(
    Mode mode,
    boolean stopIfUnsupported,
    List<String> include,
    List<String> exclude,
    boolean help,
    Map<String, String> properties) {

  /// What the agent does.
  enum Mode {
    /// Virtual threads are goroutines.
    ON("on"),
    /// The JDK's scheduler stays, gloom only looks.
    OBSERVE("observe"),
    /// Nothing.
    OFF("off");

    final String word;

    Mode(String word) {
      this.word = word;
    }
  }

  /// Read if the agent is given no options: an agent that a jar's manifest starts has no others.
  static final String PROPERTY = "gloom.options";

  static final String HELP =
      """
      gloom: options of the agent, -javaagent:gloom.jar=NAME=VALUE,NAME=VALUE… or -Dgloom.options=…
        mode=on|observe|off     on (default): every virtual thread runs on gloom; observe: the JDK's
                                scheduler stays, and is watched; off: as if there were no agent
        maxprocs=N              how many virtual threads run at once; default: what was meant for the
                                JDK (jdk.virtualThreadScheduler.parallelism), GOMAXPROCS, the CPUs
                                within the container's quota
        include=P:Q…            only virtual threads started by code of these packages and below
        exclude=P:Q…            not those started by code of these packages and below
        unsupported=run|stop    on a JDK that gloom cannot work with: go on without gloom (default),
                                or end with status 1
        slice=MS                how long one may run while others wait, in ms from 1; default 10
        preempt=M               what is done about one that computes without a pause for longer:
                                adaptive (default): its class gets checks in its loops, once it has
                                been caught; eager: every class does, when it is loaded; off
        onbug=halt|log          after a bug of gloom's own: report and end the JVM (default: a
                                scheduler that lost track of its threads answers nobody), or go on
        debug=K=V;K=V…          as the property gloom.debug, with ; for its commas
        help                    this text
      """;

  /// Reads `text`; changes nothing. Throws {@link IllegalArgumentException} with the option that is
  /// wrong and what is right.
  static Options parse(@Nullable String text) {
    var mode = Mode.ON;
    var stop = false;
    var help = false;
    List<String> include = List.of();
    List<String> exclude = List.of();
    var properties = new HashMap<String, String>();
    var seen = new HashSet<String>();
    for (String option : (text == null ? "" : text).split(",")) {
      if (option.isBlank()) {
        continue;
      }
      int equals = option.indexOf('=');
      String name = (equals < 0 ? option : option.substring(0, equals)).strip();
      String value = equals < 0 ? "" : option.substring(equals + 1).strip();
      if (!seen.add(name)) {
        throw new IllegalArgumentException("the option %s is given twice".formatted(name));
      }
      switch (name) {
        case "help" -> help = equals < 0 || isNoValue(name, value);
        case "mode" -> mode = mode(value);
        case "unsupported" -> stop = oneOf(name, value, "run", "stop").equals("stop");
        case "include" -> include = packages(name, value);
        case "exclude" -> exclude = packages(name, value);
        case "maxprocs" -> properties.put("gloom.maxprocs", maxProcs(value));
        case "slice" -> properties.put("gloom.slice", slice(value));
        case "preempt" -> properties.put("gloom.preempt", preempt(value));
        case "onbug" -> properties.put("gloom.onbug", oneOf(name, value, "halt", "log"));
        case "debug" -> properties.put("gloom.debug", debug(value));
        default ->
            throw new IllegalArgumentException(
                "there is no option \"%s\": -javaagent:gloom.jar=help lists them".formatted(name));
      }
    }
    return new Options(mode, stop, include, exclude, help, Map.copyOf(properties));
  }

  /// Sets the properties of the runtime that are not set.
  void apply() {
    for (Map.Entry<String, String> e : properties.entrySet()) {
      if (System.getProperty(e.getKey()) == null) {
        System.setProperty(e.getKey(), e.getValue());
      }
    }
    // What was meant for the JDK's scheduler is meant for the one in its place.
    String parallelism = System.getProperty("jdk.virtualThreadScheduler.parallelism");
    if (parallelism != null && System.getProperty("gloom.maxprocs") == null) {
      System.setProperty("gloom.maxprocs", parallelism);
    }
  }

  private static Mode mode(String value) {
    for (Mode m : Mode.values()) {
      if (m.word.equals(value)) {
        return m;
      }
    }
    throw malformed("mode", value, "on, observe or off");
  }

  private static String oneOf(String name, String value, String first, String second) {
    if (!value.equals(first) && !value.equals(second)) {
      throw malformed(name, value, first + " or " + second);
    }
    return value;
  }

  private static boolean isNoValue(String name, String value) {
    throw malformed(name, value, "given without a value");
  }

  private static String maxProcs(String value) {
    try {
      Knobs.checkMaxProcs(Integer.parseInt(value));
      return value;
    } catch (IllegalArgumentException _) {
      throw malformed("maxprocs", value, "a whole number from 1 to " + Knobs.MAX_PROCS_LIMIT);
    }
  }

  private static String slice(String value) {
    try {
      long _ = Preemption.sliceNanos(value);
      return value;
    } catch (IllegalArgumentException _) {
      throw malformed("slice", value, Preemption.SLICE_RANGE);
    }
  }

  private static String preempt(String value) {
    try {
      return Preemption.Mode.of(value).word();
    } catch (IllegalArgumentException _) {
      throw malformed("preempt", value, Preemption.MODE_RANGE);
    }
  }

  private static String debug(String value) {
    for (String setting : value.split(";", -1)) {
      int equals = setting.indexOf('=');
      if (equals < 1 || equals == setting.length() - 1) {
        throw malformed("debug", value, "settings as schedtrace=1000, with ; between them");
      }
    }
    return value.replace(';', ',');
  }

  private static List<String> packages(String name, String value) {
    var packages = new ArrayList<String>();
    for (String p : value.split(":", -1)) {
      if (!isPackage(p)) {
        throw malformed(name, value, "package names, with : between them");
      }
      packages.add(p);
    }
    return List.copyOf(packages);
  }

  private static boolean isPackage(String name) {
    for (String part : name.split("\\.", -1)) {
      if (part.isEmpty() || !Character.isJavaIdentifierStart(part.charAt(0))) {
        return false;
      }
      for (int i = 1; i < part.length(); i++) {
        if (!Character.isJavaIdentifierPart(part.charAt(i))) {
          return false;
        }
      }
    }
    return true;
  }

  private static IllegalArgumentException malformed(String name, String value, String right) {
    return new IllegalArgumentException(
        "the option %s is \"%s\" but must be %s".formatted(name, value, right));
  }
}
