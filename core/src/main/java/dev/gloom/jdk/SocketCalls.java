package dev.gloom.jdk;

/// Who is told of the system calls that the JDK makes for sockets, by the thread that makes them.
public interface SocketCalls {
  /// A descriptor is about to be closed; from then on its number may be another's.
  void closing(int fd);

  /// Whether the caller, which holds the lock for reading from that `java.net.Socket`, is to try.
  /// If not, it goes to wait as if it had tried in vain.
  boolean beginRead(int fd);

  /// It tried, and the read did not fail: it got `count` bytes and had room for `room`. The count
  /// is {@link #UNAVAILABLE} if there was nothing to read, and less than 1 at the end.
  void endRead(int fd, int count, int room);

  /// As in `sun.nio.ch.IOStatus`.
  int UNAVAILABLE = -2;
}
