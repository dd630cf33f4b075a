package dev.gloom.agent;

import dev.gloom.jdk.DefaultScheduler;
import dev.gloom.jdk.Vthread;
import dev.gloom.runtime.Sched;
import dev.gloom.runtime.Spawn;
import java.util.List;
import java.util.concurrent.ForkJoinPool;

/// What stands where the JDK's scheduler for virtual threads stood.
///
/// A virtual thread for which no scheduler was named gets this one, and submits itself here once,
/// at its start: from then on it is a goroutine, which is its own scheduler ({@link Spawn#adopt}).
/// So this object schedules nothing. It is a ForkJoinPool because the JDK wants one there, and so
/// that the JDK's `VirtualThreadSchedulerMXBean`, and all that reads it, shows gloom's figures. As
/// a pool it has no thread.
///
/// Threads that the options leave out get the JDK's scheduler back, for life, as have those that
/// were started before the agent came.
final class DropIn extends ForkJoinPool {
  private static final StackWalker WALKER = StackWalker.getInstance();

  private final Sched sched;
  private final ForkJoinPool jdk;
  private final List<String> include;
  private final List<String> exclude;
  private final boolean filters;

  private DropIn(Sched sched, ForkJoinPool jdk, Options options) {
    super(1);
    this.sched = sched;
    this.jdk = jdk;
    this.include = options.include();
    this.exclude = options.exclude();
    this.filters = !include.isEmpty() || !exclude.isEmpty();
  }

  static void install(Sched sched, Options options) {
    ForkJoinPool jdk = DefaultScheduler.get();
    DefaultScheduler.replace(new DropIn(sched, jdk, options));
  }

  /// The start of a virtual thread.
  @Override
  public void execute(Runnable task) {
    if (filters && !isWanted(starter())) {
      Vthread.scheduler(Vthread.owner(task), jdk);
      jdk.execute(task);
      return;
    }
    Spawn.adopt(sched, task);
  }

  private boolean isWanted(String starter) {
    return (include.isEmpty() || isIn(include, starter)) && !isIn(exclude, starter);
  }

  private static boolean isIn(List<String> packages, String type) {
    for (String p : packages) {
      if (type.startsWith(p) && type.length() > p.length() && type.charAt(p.length()) == '.') {
        return true;
      }
    }
    return false;
  }

  /// The class whose code started the thread: the first that is neither the JDK's nor gloom's.
  private static String starter() {
    return WALKER.walk(
        frames ->
            frames
                .map(StackWalker.StackFrame::getClassName)
                .filter(
                    name ->
                        !name.startsWith("java.")
                            && !name.startsWith("jdk.")
                            && !name.startsWith("sun.")
                            && !name.startsWith("dev.gloom."))
                .findFirst()
                .orElse(""));
  }

  // What the MXBean asks.

  @Override
  public int getParallelism() {
    return sched.maxProcs();
  }

  @Override
  public int setParallelism(int size) {
    return sched.maxProcs(size);
  }

  @Override
  public int getPoolSize() {
    return sched.counters().threads();
  }

  @Override
  public int getActiveThreadCount() {
    Sched.Counters c = sched.counters();
    return c.maxProcs() - c.idleProcs() - c.searching();
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
