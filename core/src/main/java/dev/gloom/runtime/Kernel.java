package dev.gloom.runtime;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.Arrays;

/// What the operating system says about a thread. "Blocked" must come from here: a thread that has
/// used no CPU may merely wait for a core, and to take its P would only make more threads wait.
///
/// On Linux, from two files of `/proc`, at about 10 us a look. Elsewhere nothing is known, and
/// nobody counts as asleep.
interface Kernel {
  /// No such thread, or nothing known about it.
  long UNKNOWN = -1;

  /// The number of the calling thread; 0 if there is none to be had.
  int thisThread();

  /// Whether the thread sleeps, and does not merely wait for a core.
  boolean asleep(int thread);

  /// How often the thread has got a core so far.
  long starts(int thread);

  /// The CPU time that it has used.
  long cpuNanos(int thread);

  /// The one we run on.
  Kernel SYSTEM = new File("/proc/thread-self/schedstat").exists() ? new Linux() : new Other();

  /// Reads `/proc/self/task/TID/stat` and `schedstat`.
  final class Linux implements Kernel {
    private static final int CPU = 0;
    private static final int STARTS = 2;
    private static final byte[] NOTHING = {};

    private Linux() {}

    @Override
    public int thisThread() {
      try {
        return Integer.parseInt(
            new File(new File("/proc/thread-self").getCanonicalPath()).getName());
      } catch (IOException | NumberFormatException | OutOfMemoryError e) {
        return 0; // an M must start all the same: it has a P
      }
    }

    @Override
    public boolean asleep(int thread) {
      byte[] stat = read(thread, "stat");
      // "tid (name) S ...": the name can hold anything, but nothing after it holds a bracket.
      for (int i = stat.length - 1; i >= 0; i--) {
        if (stat[i] == ')') {
          return i + 2 < stat.length && (stat[i + 2] == 'S' || stat[i + 2] == 'D');
        }
      }
      return false;
    }

    @Override
    public long starts(int thread) {
      return number(read(thread, "schedstat"), STARTS);
    }

    @Override
    public long cpuNanos(int thread) {
      return number(read(thread, "schedstat"), CPU);
    }

    private static long number(byte[] text, int index) {
      int at = 0;
      for (int skip = index; skip > 0; at++) {
        if (at == text.length) {
          return UNKNOWN;
        }
        if (text[at] == ' ') {
          skip--;
        }
      }
      long n = 0;
      int from = at;
      while (at < text.length && text[at] >= '0' && text[at] <= '9') {
        n = 10 * n + (text[at++] - '0');
      }
      return at == from ? UNKNOWN : n;
    }

    private static byte[] read(int thread, String what) {
      if (thread == 0) {
        return NOTHING;
      }
      try (var file = new FileInputStream("/proc/self/task/" + thread + "/" + what)) {
        byte[] text = new byte[512];
        int n = file.read(text);
        return n <= 0 ? NOTHING : Arrays.copyOf(text, n);
      } catch (IOException e) {
        return NOTHING; // it has ended
      }
    }
  }

  /// A system that we cannot ask.
  final class Other implements Kernel {
    private Other() {}

    @Override
    public int thisThread() {
      return 0;
    }

    @Override
    public boolean asleep(int thread) {
      return false;
    }

    @Override
    public long starts(int thread) {
      return UNKNOWN;
    }

    @Override
    public long cpuNanos(int thread) {
      return UNKNOWN;
    }
  }
}
