package dev.gloom.runtime;

import dev.gloom.jdk.Pollers;
import dev.gloom.jdk.ShutdownHooks;
import dev.gloom.jdk.Vthread;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// Finds out that all goroutines are asleep and nobody is left who could wake one.
///
/// Go can count its threads. Here a goroutine can be woken by any thread of the process, by a
/// timer, a socket, the collector, or the VM, which hands monitors over on its own. A wrong report
/// would end a healthy program, so it is made only if **all** of this holds:
///
/// 1. a platform thread waits in `run` or `join` for a goroutine that has not ended: else there is
///    nobody to tell, and no look is taken at all;
/// 2. in every scheduler of the process all Ps are idle, no M is about to look for work, and
///    nothing is queued or stranded. So one scheduler that has work keeps the report away from all:
///    its goroutines could wake those of another;
/// 3. every goroutine is parked, blocked or waiting, off its thread, for no limited time, and
///    nothing is on the way to it: no permit that it has not yet seen, and it is not on the VM's
///    list of those to unblock. One in native code, or pinned, is on its thread;
/// 4. no virtual thread of the process waits for a socket;
/// 5. every live platform thread is gloom's own, or waits as in 1, or is one of the JDK's that
///    never wake a program's threads ({@link #HARMLESS}); and the program has no shutdown hook: a
///    common way to wait for the end is a latch that a hook counts down on SIGTERM;
/// 6. the JDK's thread that hands over monitors sleeps in the kernel;
/// 7. 100 ms later all of this holds again, and between the two looks no P has left the idle list
///    (so nothing was made runnable and nothing ran) and the thread of 6 has not moved;
/// 8. no goroutine waits in `ReferenceQueue.remove`: the collector may wake it.
///
/// **Why this is enough.** Whoever makes a goroutine runnable is a thread. At the second look all
/// goroutines are off their threads; all Ms are idle, since `starts` has not moved; the platform
/// threads of 1 stay where they are until a goroutine ends or somebody interrupts them; and the
/// others wake nobody, except those of 4 and 6 and the JDK's timer thread, and these have nothing
/// to do. A hand-over of a monitor is first in the VM's list (3), then in the hands of the thread
/// of 6, then a permit (3), then an `execute` (7). It cannot pass between two looks unseen: it
/// would have to be in the VM at the first, before the list, for 100 ms. What cannot be seen is a
/// native thread that is not attached to the JVM and later calls in, or a signal handler of the
/// program's own: `gloom.deadlock=off` is for such programs.
///
/// **When it looks.** Sysmon asks before it goes to sleep with all Ps idle. It looks when that has
/// lasted 100 ms, and again 100 ms later. If the answer is no, it asks again only when something
/// may have changed it: a P was started; another thread began to wait; another scheduler came to
/// rest; the platform thread that kept the report away has ended. What gives no sign (somebody
/// else's virtual thread on a socket) is asked for a few times, less and less often, and then no
/// more: a process at rest stays at rest.
///
/// The verdict reaches the waiting threads by an interrupt, which they take back. The scheduler
/// lives on, its goroutines stay as they are.
///
/// Go: `checkdead`
final class Deadlock {
  /// There is nothing to look at until something happens.
  static final long NEVER = Long.MAX_VALUE;

  /// Between the looks; longer than any hand-over takes.
  private static final long LOOK_NANOS = 100_000_000;

  private static final long MAX_LOOK_NANOS = 10_000_000_000L;

  private static final String MASTER_POLLER = "MasterPoller";
  private static final String READ_POLLER = "Read-Poller";
  private static final String WRITE_POLLER = "Write-Poller";

  /// Threads of the JDK that never wake a program's threads, or only those that 3, 4 and 6 see.
  private static final Set<String> HARMLESS =
      Set.of(
          "Reference Handler",
          "Finalizer",
          "Signal Dispatcher",
          "Common-Cleaner",
          "Notification Thread",
          "Service Thread",
          "Attach Listener",
          "DestroyJavaVM",
          "VirtualThread-unblocker",
          "VirtualThread-unparker",
          MASTER_POLLER,
          READ_POLLER,
          WRITE_POLLER);

  private final Sched sched;
  private final boolean detects;

  /// The platform threads that wait in `run` or `join`.
  private final Set<Waiter> waiters = ConcurrentHashMap.newKeySet();

  /// Counts what may change the answer and is no start of a P. Partner of Sysmon's `asleep`: here
  /// changed, then that read; there set, then this read.
  private final AtomicInteger news = new AtomicInteger();

  // Sysmon only.
  private int newsSeen;
  private long startsSeen = -1;
  private boolean settled;
  private boolean othersToTell;
  private @Nullable Look first;
  private long sinceNanos;
  private long waitNanos;
  private @Nullable Thread obstacle;

  Deadlock(Sched sched, boolean detects) {
    this.sched = sched;
    this.detects = detects;
  }

  // What the threads that wait call.

  /// Waits until `g` has ended: null then. If all goroutines are asleep for good: their dump.
  @Nullable String await(G g) throws InterruptedException {
    Thread caller = Thread.currentThread();
    if (!detects || caller.isVirtual() || Vthread.terminated(g.thread())) {
      g.thread().join();
      return null;
    }
    var waiter = new Waiter(caller, g);
    waiters.add(waiter);
    tellNews();
    try {
      g.thread().join();
      waiter.leave();
      return null;
    } catch (InterruptedException e) {
      if (waiter.leave()) {
        throw e;
      }
      return Dump.of(sched);
    } finally {
      waiters.remove(waiter);
    }
  }

  /// The answer may be another now.
  private void tellNews() {
    news.getAndIncrement();
    sched.sysmon.somethingStarts();
  }

  /// A platform thread that waits for a goroutine.
  private static final class Waiter {
    private static final int WAITS = 0;
    private static final int LEFT = 1;
    private static final int TOLD = 2;
    private static final int INTERRUPTED = 3;

    final Thread thread;
    private final G g;
    private final AtomicInteger state = new AtomicInteger(WAITS);

    Waiter(Thread thread, G g) {
      this.thread = thread;
      this.g = g;
    }

    /// Whether it will wait until `g` ends: it has not been woken, by whomever.
    boolean isStuck() {
      return thread.getState() == Thread.State.WAITING
          && !thread.isInterrupted()
          && !Vthread.terminated(g.thread());
    }

    /// The verdict.
    void tell() {
      if (state.compareAndSet(WAITS, TOLD)) {
        thread.interrupt();
        state.set(INTERRUPTED);
      }
    }

    /// False if the verdict has come; its interrupt is taken back.
    boolean leave() {
      if (state.compareAndSet(WAITS, LEFT)) {
        return true;
      }
      while (state.get() != INTERRUPTED) {
        Thread.onSpinWait();
      }
      Thread.interrupted();
      return false;
    }
  }

  // What sysmon calls.

  /// All Ps are idle and nothing has started since the last call. Answers when to call again, in
  /// nanoseconds.
  long look(long now) {
    if (sched.idle.starts() != startsSeen) {
      startsSeen = sched.idle.starts();
      othersToTell = true;
      restart(now);
    }
    if (news.get() != newsSeen || obstacleIsGone()) {
      newsSeen = news.get();
      restart(now);
    }
    long left = waitNanos - (now - sinceNanos);
    if (othersToTell && othersWait()) {
      if (left > 0) {
        return left;
      }
      othersToTell = false;
      tellOthers();
    }
    if (settled || !detects || waiters.isEmpty()) {
      return NEVER;
    }
    return left > 0 ? left : judge(now);
  }

  private long judge(long now) {
    Look second = take();
    if (second == null) {
      settled |= 2 * waitNanos > MAX_LOOK_NANOS;
      return settled ? NEVER : lookAgain(null, now, 2 * waitNanos);
    }
    if (!second.equals(first)) {
      return lookAgain(second, now, LOOK_NANOS);
    }
    settled = true;
    if (!somebodyWaitsForTheCollector()) {
      waiters.forEach(Waiter::tell);
    }
    return NEVER;
  }

  private void restart(long now) {
    settled = false;
    obstacle = null;
    lookAgain(null, now, LOOK_NANOS);
  }

  private long lookAgain(@Nullable Look seen, long now, long nanos) {
    first = seen;
    sinceNanos = now;
    waitNanos = nanos;
    return nanos;
  }

  /// Whether nothing has happened since the last look that sysmon must not sleep over.
  boolean hasNoNews() {
    return news.get() == newsSeen;
  }

  /// Whether a platform thread keeps the report away, whose end gives no sign.
  boolean waitsForAThread() {
    return obstacle != null;
  }

  boolean obstacleIsGone() {
    return obstacle != null && !obstacle.isAlive();
  }

  /// This scheduler has come to rest, or is gone: others may have waited for that.
  void tellOthers() {
    for (Sched other : Sched.LIVE) {
      if (other != sched && !other.deadlock.waiters.isEmpty()) {
        other.deadlock.tellNews();
      }
    }
  }

  private boolean othersWait() {
    for (Sched other : Sched.LIVE) {
      if (other != sched && !other.deadlock.waiters.isEmpty()) {
        return true;
      }
    }
    return false;
  }

  // A look.

  /// What must be the same at both.
  private record Look(Map<Sched, Long> starts, Set<Waiter> waiters, String unblocker) {}

  /// 1 to 6; null if anything is against it.
  private @Nullable Look take() {
    Map<Sched, Long> starts = new HashMap<>();
    Set<Thread> known = new HashSet<>();
    Set<Waiter> stuck = new HashSet<>();
    for (Sched s : Sched.LIVE) {
      starts.put(s, s.idle.starts()); // first: what happens from here on is seen at the next look
      if (!isAtRest(s) || !allWait(s)) {
        return null;
      }
      known.addAll(s.ownThreads());
      for (Waiter waiter : s.deadlock.waiters) {
        if (!waiter.isStuck()) {
          return null;
        }
        known.add(waiter.thread);
        stuck.add(waiter);
      }
    }
    if (ShutdownHooks.ofApplication()) {
      settled = true;
      return null;
    }
    if (!othersAreHarmless(known)) {
      return null;
    }
    String unblocker = Unblocker.asleep();
    return unblocker == null ? null : new Look(starts, stuck, unblocker);
  }

  private boolean isAtRest(Sched s) {
    if (s.hasAlarms()) {
      settled |= s == sched; // when it rings, a P starts
      return false;
    }
    if (s.netPoll.isAwaited()) {
      settled |= s == sched; // when its socket is ready, a P starts
      return false;
    }
    return s.idle.idleProcs() == s.maxProcs()
        && !s.idle.somebodyLooks()
        && !s.stranded
        && !s.hasQueuedWork();
  }

  private static boolean allWait(Sched s) {
    for (G g : s.registry.snapshot()) {
      if (!g.isIdle() || !Vthread.waitsForGood(g.thread())) {
        return false;
      }
    }
    return true;
  }

  private boolean othersAreHarmless(Set<Thread> known) {
    for (Thread t : Starter.allThreads()) {
      if (known.contains(t) || Starter.isThread(t) || Managed.isThread(t) || !t.isAlive()) {
        continue;
      }
      if (!isHarmless(t)) {
        obstacle = t;
        settled = true;
        return false;
      }
      if (isPoller(t) && Pollers.registered() > 0) {
        return false;
      }
    }
    return true;
  }

  /// By name, and by what a program's own threads are not: of the system's groups.
  private static boolean isHarmless(Thread t) {
    String name = t.getName();
    ThreadGroup group = t.getThreadGroup();
    return HARMLESS.contains(name)
        && (group == null // it has just ended
            || group.getName().equals("system")
            || group.getName().equals("InnocuousThreadGroup")
            || name.equals("DestroyJavaVM"));
  }

  private static boolean isPoller(Thread t) {
    String name = t.getName();
    return name.equals(MASTER_POLLER) || name.equals(READ_POLLER) || name.equals(WRITE_POLLER);
  }

  /// 8. Last, since only this needs the stacks, and those are off their threads: nobody waits.
  private static boolean somebodyWaitsForTheCollector() {
    for (Sched s : Sched.LIVE) {
      for (G g : s.registry.snapshot()) {
        if (Waits.of(g).equals(Waits.REFERENCE_QUEUE)) {
          return true;
        }
      }
    }
    return false;
  }
}
