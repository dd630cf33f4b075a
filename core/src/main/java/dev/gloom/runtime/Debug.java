package dev.gloom.runtime;

import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/// What the scheduler is to print about itself: `schedtrace=N` a line every N milliseconds,
/// `scheddetail=1` every processor, thread and goroutine with it.
///
/// Both can be in the environment's GODEBUG, where other keys and malformed values are ignored, as
/// in Go, and in the system property `gloom.debug`, which comes before it and must be right. Of a
/// key that is there twice the last counts, as in Go.
///
/// Go: `debug.schedtrace`, `debug.scheddetail`, `parsegodebug`
record Debug(int schedtraceMillis, boolean scheddetail) {
  static final Debug OFF = new Debug(0, false);

  private static final String PROPERTY = "gloom.debug";

  static Debug of(Properties properties, Map<String, String> environment) {
    Debug fromGo = OFF.withGodebug(environment.getOrDefault("GODEBUG", ""));
    String own = properties.getProperty(PROPERTY);
    return own == null ? fromGo : fromGo.withProperty(own);
  }

  /// Whether anything is printed.
  boolean traces() {
    return schedtraceMillis > 0;
  }

  private Debug withGodebug(String settings) {
    Debug debug = this;
    for (String setting : settings.split(",", -1)) {
      Debug next = debug.with(setting);
      debug = next == null ? debug : next;
    }
    return debug;
  }

  private Debug withProperty(String settings) {
    Debug debug = this;
    for (String setting : settings.split(",", -1)) {
      debug = debug.with(setting.strip());
      if (debug == null) {
        throw Knobs.malformed(
            PROPERTY,
            settings,
            "schedtrace=MILLISECONDS, scheddetail=0 or 1, containermaxprocs=0, updatemaxprocs=0,"
                + " separated by commas");
      }
    }
    return debug;
  }

  /// The value that `list` gives to `key`, the last one if there are several; null if there is
  /// none. Parts that are no `key=value` say nothing, as in Go.
  static @Nullable String value(String list, String key) {
    int end = list.length();
    while (end >= 0) {
      int start = list.lastIndexOf(',', end - 1) + 1;
      if (list.startsWith(key, start)
          && start + key.length() < end
          && list.charAt(start + key.length()) == '=') {
        return list.substring(start + key.length() + 1, end);
      }
      end = start - 1;
    }
    return null;
  }

  /// With `key=value`; null if it is none of these with a right value.
  private @Nullable Debug with(String setting) {
    int equals = setting.indexOf('=');
    if (equals < 0) {
      return null;
    }
    int value;
    try {
      value = Integer.parseInt(setting.substring(equals + 1));
    } catch (NumberFormatException _) {
      return null;
    }
    if (value < 0) {
      return null;
    }
    return switch (setting.substring(0, equals)) {
      case "schedtrace" -> new Debug(value, scheddetail);
      case "scheddetail" -> new Debug(schedtraceMillis, value > 0);
      case "containermaxprocs", "updatemaxprocs" -> this; // read by Cpus
      default -> null;
    };
  }
}
