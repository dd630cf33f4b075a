package dev.gloom;

/// A send on, or a close of, a channel that is closed: what panics in Go.
public final class ChannelClosedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  ChannelClosedException(String message) {
    super(message);
  }
}
