package dev.gloom;

/// What {@link RecvChan#tryRecv} found.
///
/// ```java
/// switch (jobs.tryRecv()) {
///   case TryRecv.Value(var job) -> work(job);
///   case TryRecv.Empty() -> idle();
///   case TryRecv.Closed() -> stop();
/// }
/// ```
public sealed interface TryRecv<T> {
  /// There was a value, and it has been received.
  ///
  /// @param value what was received
  record Value<T>(T value) implements TryRecv<T> {}

  /// There is none now.
  record Empty<T>() implements TryRecv<T> {}

  /// There will be none: the channel is closed and drained.
  record Closed<T>() implements TryRecv<T> {}
}
