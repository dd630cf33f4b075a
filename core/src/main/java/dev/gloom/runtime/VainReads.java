package dev.gloom.runtime;

import java.util.Arrays;

/// Foretells, for each descriptor, whether a read right after one that got all there was is in
/// vain. In a dialogue it always is, since the other side waits for the answer first; in a stream
/// it often is not, and to wait for the poller instead would cost more than to try.
///
/// It is expected to be if it was the last two times. Every eighth time it is tried all the same,
/// to see whether that has changed.
///
/// The thread that reads writes its descriptor's byte, and whoever closes it. One that is lost in
/// between costs a read in vain, or a wait that was not needed.
final class VainReads {
  private static final int SURE = 2;
  private static final int TRY_EVERY = 8;

  /// A try is on whose outcome counts.
  private static final int TRYING = 0x40;

  private volatile byte[] times = new byte[1024];

  /// For tests: readers count together, and lose some.
  private long notTried;

  /// Whether a read now, after one that got all, is expected to be in vain. If not, {@link #tried}
  /// follows.
  boolean expected(int fd) {
    byte[] t = times;
    if (fd >= t.length) {
      try {
        t = Arrays.copyOf(t, Math.max(fd + 1, 2 * t.length));
      } catch (OutOfMemoryError e) {
        return false; // the read itself needs no memory
      }
      times = t;
    }
    int n = t[fd] & ~TRYING;
    if (n >= SURE && n < SURE + TRY_EVERY - 1) {
      t[fd] = (byte) (n + 1);
      notTried++;
      return true;
    }
    t[fd] = (byte) (Math.min(n, SURE - 1) | TRYING);
    return false;
  }

  long notTried() {
    return notTried;
  }

  /// A read was tried, of whatever kind.
  void tried(int fd, boolean inVain) {
    byte[] t = times;
    if (fd < t.length && (t[fd] & TRYING) != 0) {
      t[fd] = (byte) (inVain ? (t[fd] & ~TRYING) + 1 : 0);
    }
  }

  /// The descriptor is another's from now on.
  void forget(int fd) {
    byte[] t = times;
    if (fd < t.length) {
      t[fd] = 0;
    }
  }
}
