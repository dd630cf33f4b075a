package dev.gloom.jdk;

/// The seam between the scheduler and the way a goroutine gets onto its carrier and off again. The
/// scheduler sees two verbs, *resume this one* and *suspend the current one*, and nothing of how.
///
/// {@link JdkMount} is the JDK's own path, always right, and the only one so far. A mount and
/// unmount of our own with fewer fences fits behind the same verbs.
public interface Mount {
  /// Runs the virtual thread on the calling platform thread until it suspends or ends. Returns no
  /// word about which, and does nothing if the thread cannot continue now.
  void resume(Thread vthread);

  /// Suspends the current goroutine; it stays runnable and its scheduler gets its task at once.
  void suspendRunnable();
}
