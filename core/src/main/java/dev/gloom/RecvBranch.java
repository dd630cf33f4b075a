package dev.gloom;

import org.jspecify.annotations.Nullable;

/// What a select does with a value that it received. May throw anything, and may wait.
@FunctionalInterface
public interface RecvBranch<T, R extends @Nullable Object> {
  /// Does it; the answer is what the select answers. The value is null if the channel is closed and
  /// drained.
  R run(@Nullable T value) throws Exception;
}
