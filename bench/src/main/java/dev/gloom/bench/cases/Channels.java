package dev.gloom.bench.cases;

import java.util.List;

/// A kind of channel that a case can run on: gloom and its rivals run the same lines through this.
///
/// A process uses one kind only, so that once compiled nothing is left of it on the stack that a
/// switch copies. Values are Integers, boxed, as users have them.
///
/// Nothing here can be closed, because not every kind can: who receives knows how often.
public interface Channels {
  /// A channel with room for so many values; without any, sender and receiver meet.
  Pipe make(int capacity);

  /// Receives from whichever of these has a value, by chance if several have.
  default Source anyOf(List<Pipe> pipes) {
    throw new UnsupportedOperationException("no select over " + pipes.size());
  }

  /// Something to receive from.
  @FunctionalInterface
  interface Source {
    /// Waits for the next value.
    Integer recv();
  }

  /// A channel.
  interface Pipe extends Source {
    /// Waits until the value is taken, or has room.
    void send(Integer value);
  }

  /// What an interrupt comes to: nobody interrupts a case.
  static IllegalStateException unexpected(Exception e) {
    return new IllegalStateException("the work was interrupted", e);
  }
}
