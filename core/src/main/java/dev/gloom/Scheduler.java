package dev.gloom;

import dev.gloom.observe.Jmx;
import dev.gloom.runtime.Dump;
import dev.gloom.runtime.G;
import dev.gloom.runtime.Knobs;
import dev.gloom.runtime.Managed;
import dev.gloom.runtime.Sched;
import dev.gloom.runtime.Spawn;
import dev.gloom.runtime.Undisturbed;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/// A scheduler of one's own, with its own processors and threads. Most programs need none: {@link
/// Gloom} is the default one.
///
/// ```java
/// try (var scheduler = Scheduler.builder().maxProcs(2).build()) {
///   scheduler.run(() -> …);
/// }
/// ```
///
/// {@link #close()} refuses new goroutines with {@link
/// java.util.concurrent.RejectedExecutionException}. It does not wait: goroutines that exist go on,
/// those that are parked can still be woken, and the threads end when the last goroutine has.
public final class Scheduler implements AutoCloseable {
  private final Sched sched;

  static {
    Managed.whenUsed(new Jmx());
  }

  Scheduler(Sched sched) {
    this.sched = sched;
  }

  /// Settings for a new scheduler; the defaults are those of {@link Gloom}.
  public static Builder builder() {
    return new Builder();
  }

  /// Settings for a new scheduler.
  public static final class Builder {
    private final Knobs knobs = Knobs.ofProcess();
    private int maxProcs = knobs.maxProcs();

    private Builder() {}

    /// How many goroutines run at once, from 1. The container's CPU quota then changes nothing.
    ///
    /// @throws IllegalArgumentException if it is not from 1 to 65,536
    public Builder maxProcs(int n) {
      maxProcs = Knobs.checkMaxProcs(n);
      return this;
    }

    /// The scheduler. It has no thread before its first goroutine.
    public Scheduler build() {
      return new Scheduler(new Sched(maxProcs, knobs));
    }
  }

  /// As {@link Gloom#run}, here.
  public void run(Body body) throws Exception {
    String deadlock = sched.run(Objects.requireNonNull(body, "run of null body"));
    if (deadlock != null) {
      throw new DeadlockException(deadlock);
    }
  }

  /// As {@link Gloom#go(Body)}, here.
  public Goroutine go(Body body) {
    return new Goroutine(Spawn.go(sched, "", Objects.requireNonNull(body, GO_OF_NULL)));
  }

  /// As {@link Gloom#go(String, Body)}, here.
  public Goroutine go(String name, Body body) {
    Objects.requireNonNull(name, "go with a null name: leave it out instead");
    return new Goroutine(Spawn.go(sched, name, Objects.requireNonNull(body, GO_OF_NULL)));
  }

  /// How many goroutines run at once.
  public int maxProcs() {
    return sched.maxProcs();
  }

  /// As {@link Gloom#maxProcs(int)}, here.
  public int maxProcs(int n) {
    return sched.maxProcs(n);
  }

  /// As {@link Gloom#defaultMaxProcs()}, here.
  public int defaultMaxProcs() {
    return sched.defaultMaxProcs();
  }

  /// Goroutines that have started and not ended.
  public int numGoroutine() {
    return sched.numGoroutine();
  }

  /// Makes threads that are goroutines of this scheduler once started.
  public ThreadFactory threadFactory() {
    return body -> {
      Objects.requireNonNull(body, "newThread of null");
      G g = Spawn.make(sched, "", Executors.callable(body), null);
      return g.thread();
    };
  }

  /// The same for goroutines that are never preempted; see {@link Gloom#nonPreemptible}.
  public ThreadFactory nonPreemptibleThreadFactory() {
    return body -> {
      Objects.requireNonNull(body, "newThread of null");
      return Undisturbed.always(Spawn.make(sched, "", Executors.callable(body), null)).thread();
    };
  }

  /// A new executor that runs each task in a goroutine of its own; its close waits for its tasks.
  public ExecutorService executor() {
    return Executors.newThreadPerTaskExecutor(threadFactory());
  }

  /// What has been counted so far.
  public Stats stats() {
    var c = sched.counters();
    return new Stats(
        c.maxProcs(),
        c.idleProcs(),
        c.searching(),
        c.threads(),
        c.threadsStarted(),
        c.idleThreads(),
        c.goroutines(),
        c.started(),
        c.globalQueue(),
        c.dispatches(),
        c.sameM(),
        c.meetings(),
        c.steals(),
        c.stolen(),
        c.overflows(),
        c.wakeups(),
        c.handoffs(),
        c.alarms(),
        c.alarmsLateNanos(),
        c.blockingCalls(),
        c.overcommitted(),
        c.retaken(),
        c.takenBlocked(),
        c.takenBurning(),
        c.preemptedAtPoints(),
        c.preemptedAtChecks(),
        new Stats.Net(
            c.net().poller(),
            c.net().waiting(),
            c.net().ready(),
            c.net().polls(),
            c.net().blockingPolls(),
            c.net().monitorPolls()),
        c.mount(),
        c.rescues());
  }

  /// As {@link Gloom#dump}, here.
  public String dump() {
    return Dump.of(sched);
  }

  /// Refuses new goroutines; does not wait for those that exist.
  @Override
  public void close() {
    sched.close();
  }

  private static final String GO_OF_NULL = "go of nil func value: the body is null";
}
