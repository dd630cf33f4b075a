package dev.gloom.agent;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The agent's options, `-javaagent:gloom.jar=name=value,name=value`: what there is, what it means
/// and what it may be, in one table. Those that are settings of the runtime become the system
/// property of that name, unless the property is given too, which is the more particular.
record Options(
    Mode mode,
    boolean stopIfUnsupported,
    List<String> include,
    List<String> exclude,
    boolean help) {

  /// What the agent does.
  enum Mode {
    /// Virtual threads are goroutines.
    ON,
    /// The JDK's scheduler stays, gloom only looks.
    OBSERVE,
    /// Nothing.
    OFF
  }

  static final String HELP =
      """
      gloom: options of the agent, -javaagent:gloom.jar=NAME=VALUE,NAME=VALUE…
        mode=on|observe|off     on (default): every virtual thread runs on gloom; observe: the JDK's
                                scheduler stays, and is watched; off: as if there were no agent
        maxprocs=N              how many virtual threads run at once; default: as many as CPUs
        include=P:Q…            only virtual threads started by code of these packages and below
        exclude=P:Q…            not those started by code of these packages and below
        unsupported=run|stop    on a JDK that gloom cannot work with: go on without gloom (default),
                                or end with status 1
        onbug=halt|log          after a bug of gloom's own: report and end the JVM (default: a
                                scheduler that lost track of its threads answers nobody), or go on
        debug=K=V;K=V…          as the property gloom.debug, with ; for its commas
        help                    this text
      """;

  /// The settings of the runtime among the options.
  private static final Map<String, String> PROPERTIES =
      Map.of("maxprocs", "gloom.maxprocs", "onbug", "gloom.onbug", "debug", "gloom.debug");

  /// Reads `text`; nothing has been changed when it throws.
  static Options parse(@Nullable String text) {
    var mode = Mode.ON;
    var stop = false;
    var help = false;
    List<String> include = List.of();
    List<String> exclude = List.of();
    var properties = new TreeMap<String, String>();
    for (String option : (text == null ? "" : text).split(",")) {
      if (option.isBlank()) {
        continue;
      }
      String[] pair = option.strip().split("=", 2);
      String value = pair.length == 2 ? pair[1].strip() : "";
      switch (pair[0]) {
        case "help" -> help = true;
        case "mode" ->
            mode =
                switch (value) {
                  case "on" -> Mode.ON;
                  case "observe" -> Mode.OBSERVE;
                  case "off" -> Mode.OFF;
                  default -> throw malformed("mode", value, "on, observe or off");
                };
        case "unsupported" ->
            stop =
                switch (value) {
                  case "run" -> false;
                  case "stop" -> true;
                  default -> throw malformed("unsupported", value, "run or stop");
                };
        case "include" -> include = packages("include", value);
        case "exclude" -> exclude = packages("exclude", value);
        case "maxprocs", "onbug" -> properties.put(pair[0], value);
        case "debug" -> properties.put("debug", value.replace(';', ','));
        default ->
            throw new IllegalArgumentException(
                "there is no option \"%s\": -javaagent:gloom.jar=help lists them"
                    .formatted(pair[0]));
      }
    }
    properties.forEach(
        (name, value) -> {
          String property = PROPERTIES.get(name);
          if (property != null && System.getProperty(property) == null) {
            System.setProperty(property, value);
          }
        });
    return new Options(mode, stop, include, exclude, help);
  }

  private static List<String> packages(String name, String value) {
    var packages = new ArrayList<String>();
    for (String p : value.split(":")) {
      if (!p.isBlank()) {
        packages.add(p.strip());
      }
    }
    if (packages.isEmpty()) {
      throw malformed(name, value, "package names, with : between them");
    }
    return List.copyOf(packages);
  }

  private static IllegalArgumentException malformed(String name, String value, String right) {
    return new IllegalArgumentException(
        "the option %s is \"%s\" but must be %s".formatted(name, value, right));
  }
}
