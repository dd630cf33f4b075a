package dev.gloom;

import org.jspecify.annotations.Nullable;

/// The end of a {@link Chan} out of which values come: hand this out to those who only receive.
///
/// As an {@link Iterable} it receives until the channel is closed and drained. An interrupt ends
/// the loop with a {@link java.util.concurrent.CancellationException}, and the thread stays
/// interrupted. Several iterators share the values.
public sealed interface RecvChan<T> extends Iterable<T> permits Chan {
  /// Receives the next value. Waits while there is none. Null once the channel is closed and
  /// drained; values are never null.
  ///
  /// @throws InterruptedException if the calling thread is interrupted, before or while it waits;
  ///   no value has been received
  @Nullable T recv() throws InterruptedException;

  /// Receives if that is possible at once.
  TryRecv<T> tryRecv();

  /// How many values are in the channel at this moment; those of senders that wait do not count.
  int len();

  /// How many values it can hold.
  int cap();
}
