package dev.gloom.runtime;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// The JDK's thread that makes virtual threads runnable after a monitor was handed to them, as the
/// kernel sees it: a monitor on its way from one goroutine to the next is in nobody's books but in
/// this thread's hands.
///
/// The kernel cuts names to 15 characters, so the JDK's timer thread for virtual threads, if there
/// is one, looks the same; both must be asleep.
final class Unblocker {
  private static final Path TASKS = Path.of("/proc/self/task");
  private static final String NAME = "VirtualThread-unblocker".substring(0, 15);

  private Unblocker() {}

  /// Its counts of context switches, if it is asleep; null if it is not, or cannot be told. Two
  /// readings that are equal: it has slept all the time between.
  static @Nullable String asleep() {
    var reading = new StringBuilder();
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
      for (Path task : tasks) {
        if (Files.readString(task.resolve("comm")).stripTrailing().equals(NAME)) {
          String status = Files.readString(task.resolve("status"));
          if (!field(status, "State:").startsWith("S")) {
            return null;
          }
          reading.append(task.getFileName()).append(':');
          reading.append(field(status, "voluntary_ctxt_switches:")).append('+');
          reading.append(field(status, "nonvoluntary_ctxt_switches:")).append(' ');
        }
      }
    } catch (IOException e) {
      return null; // no Linux, or a thread that ended meanwhile
    }
    return reading.isEmpty() ? null : reading.toString();
  }

  private static String field(String status, String name) throws IOException {
    return status
        .lines()
        .filter(line -> line.startsWith(name))
        .map(line -> line.substring(name.length()).strip())
        .findFirst()
        .orElseThrow(() -> new IOException("no " + name));
  }
}
