package dev.gloom.runtime;

import java.util.concurrent.locks.LockSupport;

/// How gloom's own platform threads sleep, from outside, so that a test can see and delay it. Used
/// only by threads that have no goroutine mounted: with one mounted, `LockSupport` would park the
/// goroutine and eat its permit. Waking is different: any thread may do it, also a goroutine that
/// the JDK has pinned. Go: `note`
public interface Parker {
  /// The JVM's.
  Parker SYSTEM =
      new Parker() {
        @Override
        public void park() {
          LockSupport.park();
        }

        @Override
        public void parkNanos(long nanos) {
          LockSupport.parkNanos(nanos);
        }

        @Override
        public void unpark(Thread thread) {
          LockSupport.unpark(thread);
        }
      };

  /// Sleeps until woken, or for no reason; the caller loops on its condition.
  void park();

  /// The same for at most `nanos`.
  void parkNanos(long nanos);

  /// Wakes `thread`, or makes its next park return at once.
  void unpark(Thread thread);
}
