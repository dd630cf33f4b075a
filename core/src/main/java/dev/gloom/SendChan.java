package dev.gloom;

/// The end of a {@link Chan} into which values go: hand this out to those who only send.
public sealed interface SendChan<T> permits Chan {
  /// Sends a value. Waits while the channel is full; on a channel without capacity, until somebody
  /// receives it.
  ///
  /// @throws ChannelClosedException if the channel is closed, or is while this waits
  /// @throws InterruptedException if the calling thread is interrupted, before or while it waits;
  ///   the value has not been sent
  void send(T value) throws InterruptedException;

  /// Sends a value if that is possible at once; false if not.
  ///
  /// @throws ChannelClosedException if the channel is closed
  boolean trySend(T value);

  /// Says that no more values will come. Receivers get those that are in the channel, then the word
  /// that it is closed. Whoever waits in a send gets a {@link ChannelClosedException}.
  ///
  /// @throws ChannelClosedException if it is closed already
  void close();

  /// How many values are in the channel at this moment; those of senders that wait do not count.
  int len();

  /// How many values it can hold.
  int cap();
}
