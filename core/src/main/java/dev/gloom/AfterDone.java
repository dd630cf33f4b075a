package dev.gloom;

import dev.gloom.runtime.Cancellation;
import dev.gloom.runtime.Launch;
import org.jspecify.annotations.Nullable;

/// Starts a goroutine when what it hangs below is cancelled: a child of it that has none.
///
/// Started or called off: both set the reason of this node, and one is the first.
///
/// Go: `afterFuncCtx`
final class AfterDone extends Cancellation {
  private static final Object CALLED_OFF = "called off";

  private final Launch launch;

  AfterDone(@Nullable Done parent, Body body) {
    super(parent);
    launch = new Launch(body);
  }

  boolean stop() {
    return withdraw(CALLED_OFF);
  }

  @Override
  protected void announce() {}

  @Override
  protected void cancelled() {
    launch.start();
  }
}
