package dev.gloom.runtime;

import java.util.concurrent.atomic.AtomicBoolean;

/// Keeps a scheduler that was told nothing at the number of processors it would get if it were made
/// now ({@link Cpus}), while the container's quota or the process's affinity mask change.
///
/// Sysmon looks once a second, also in its deep sleep, which it leaves that often anyway. It must
/// not wait for anybody, and a change of maxProcs may, so that is done by a thread that lives just
/// for it: changes are rare. That thread reads the number again under the lock of changes: what it
/// sets is never older than what a change before it has seen, and never comes after a word of the
/// user, who takes the same lock.
///
/// Go: `sysmonUpdateGOMAXPROCS`, `updateMaxProcsGoroutine`
final class CpuFollower {
  private static final long EVERY_NANOS = 1_000_000_000;

  private final Sched sched;

  /// Set by sysmon before it starts the thread, cleared by that thread as the last thing.
  private final AtomicBoolean changing = new AtomicBoolean();

  // Sysmon's own.
  private boolean looked;
  private long lookedNanos;

  CpuFollower(Sched sched) {
    this.sched = sched;
  }

  /// For sysmon, as often as it likes.
  void look(long now) {
    if (looked && now - lookedNanos < EVERY_NANOS || !sched.resize.follows()) {
      return;
    }
    looked = true;
    lookedNanos = now;
    if (changing.get()) {
      return; // the last change still waits
    }
    try {
      if (sched.cpus.glance() != sched.maxProcs()) {
        changing.set(true);
        Starter.newThread(sched.name + "-maxprocs", this::change).start();
      }
    } catch (OutOfMemoryError e) {
      changing.set(false); // no memory or no thread for it now; there is another second
    }
  }

  private void change() {
    try {
      sched.resize.follow();
    } catch (OutOfMemoryError e) {
      // As above.
    } catch (Throwable e) {
      sched.fatal.bug("a change of maxProcs", e);
    } finally {
      changing.set(false);
    }
  }
}
