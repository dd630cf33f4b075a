package dev.gloom;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/// What a goroutine does. May throw anything.
@FunctionalInterface
public interface Body extends Callable<@Nullable Object> {
  /// Does it.
  void run() throws Exception;

  /// Does it, for those who want a Callable; the answer is null.
  @Override
  @SuppressWarnings("FunctionalInterfaceMethodChanged") // a Body means the same either way
  default @Nullable Object call() throws Exception {
    run();
    return null;
  }
}
