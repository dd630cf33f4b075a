package dev.gloom.runtime;

import org.jspecify.annotations.Nullable;

/// Reads a list such as `schedtrace=1000,updatemaxprocs=0`, as in GODEBUG. Go: `parsegodebug`
final class Debug {
  private Debug() {}

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
}
