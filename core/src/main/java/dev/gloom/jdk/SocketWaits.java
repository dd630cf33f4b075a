package dev.gloom.jdk;

import java.io.IOException;

/// What the JDK asks of whoever takes over the waits of virtual threads for sockets. All of it is
/// called by the thread that waits, in this order: begin, needNotWait, register, deregister.
public interface SocketWaits {
  /// Whether this wait is taken over; `thread` is the caller. If not, it is the JDK's.
  boolean begin(Thread thread);

  /// Something is ready for `thread` already.
  void needNotWait(Thread thread);

  /// Has `fd` watched, until it is ready once. False if this wait is not taken over.
  boolean register(int fd, boolean read) throws IOException;

  /// The wait is over, for whatever reason; `polled` if the thread was woken by {@link
  /// FdTable#take}. False if this wait was not taken over.
  boolean deregister(int fd, boolean read, boolean polled);
}
