package dev.gloom.agent;

import dev.gloom.jdk.Vthread;
import dev.gloom.runtime.Sched;
import dev.gloom.runtime.Spawn;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// What stands where the JDK's scheduler for virtual threads stood.
///
/// A virtual thread for which no scheduler was named gets this one, and submits itself here once,
/// at its start: from then on it is a goroutine, which is its own scheduler ({@link Spawn#adopt}).
/// So this object schedules nothing. It is a ForkJoinPool because the JDK wants one there, and so
/// that the JDK's `VirtualThreadSchedulerMXBean`, and all that reads it, shows gloom's figures. As
/// a pool it has no thread.
///
/// Threads that the options leave out get the JDK's scheduler back, for life, as have those that
/// were started before the agent came. So does a thread that comes here after its first run: a
/// virtual thread on a carrier of the JDK started it, and the JDK put it straight into its own
/// pool.
final class DropIn extends ForkJoinPool {
  private final Sched sched;
  private final ForkJoinPool jdk;
  private final @Nullable Packages packages;

  private DropIn(Sched sched, ForkJoinPool jdk, @Nullable Packages packages) {
    super(1);
    this.sched = sched;
    this.jdk = jdk;
    this.packages = packages;
  }

  static DropIn inPlaceOf(ForkJoinPool jdk, Sched sched, Options options) {
    Packages packages = Packages.of(options);
    var dropIn = new DropIn(sched, jdk, packages);
    if (packages != null) {
      Spawn.elsewhere(dropIn::leavesOut);
    }
    return dropIn;
  }

  /// The start of a virtual thread.
  @Override
  public void execute(Runnable task) {
    if (!Vthread.justStarted(Vthread.owner(task))) {
      toJdk(task);
    } else if (packages == null || !leavesOut(task)) {
      Spawn.adopt(sched, task);
    }
  }

  private boolean leavesOut(Runnable task) {
    if (packages == null || packages.wantStarter()) {
      return false;
    }
    toJdk(task);
    return true;
  }

  private void toJdk(Runnable task) {
    Vthread.scheduler(Vthread.owner(task), jdk);
    jdk.execute(task);
  }

  /// For the time-outs of a thread that has not come here yet, see above.
  @Override
  public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
    return jdk.schedule(command, delay, unit);
  }

  // What the MXBean asks.

  @Override
  public int getParallelism() {
    return sched.maxProcs();
  }

  @Override
  public int setParallelism(int size) {
    if (size < 1) {
      throw new IllegalArgumentException("parallelism must be at least 1: " + size);
    }
    return sched.maxProcs(size);
  }

  @Override
  public int getPoolSize() {
    return sched.counters().threads();
  }

  @Override
  public int getActiveThreadCount() {
    Sched.Counters c = sched.counters();
    return Math.max(0, c.maxProcs() - c.idleProcs() - c.searching());
  }

  @Override
  public int getRunningThreadCount() {
    return getActiveThreadCount();
  }

  @Override
  public long getStealCount() {
    return sched.counters().stolen();
  }

  @Override
  public long getQueuedTaskCount() {
    return sched.counters().localQueues();
  }

  @Override
  public int getQueuedSubmissionCount() {
    return sched.counters().globalQueue();
  }

  @Override
  public String toString() {
    return "gloom" + sched.counters();
  }
}
