package dev.gloom.runtime;

/// Makes sure that there is stack left before a step that must not stop half way.
///
/// `execute` is called at the depth of whoever unparks a goroutine, and that may be a frame before
/// the end of its stack. Most steps of the ready path can fail at any call and lose nothing
/// (G.execute says how). Those that move several things at once, taking an idle P or spilling half
/// a run queue, ask here first: a `StackOverflowError` then comes before anything has changed.
final class Headroom {
  /// Compiled, a frame here is about 32 bytes, so 256 of them are 8 KiB; interpreted more. The
  /// longest path behind a check has a dozen frames.
  private static final int FRAMES = 256;

  private Headroom() {}

  static void check() {
    descend(FRAMES);
  }

  /// For a step on whose way there are further checks: none of those then fails.
  static void checkAhead() {
    descend(2 * FRAMES);
  }

  private static int descend(int frames) {
    return frames == 0 ? 0 : 1 + descend(frames - 1);
  }
}
