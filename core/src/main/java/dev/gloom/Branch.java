package dev.gloom;

import org.jspecify.annotations.Nullable;

/// What a select does when it has chosen a case. May throw anything, and may wait.
@FunctionalInterface
public interface Branch<R extends @Nullable Object> {
  /// Does it; the answer is what the select answers.
  R run() throws Exception;
}
