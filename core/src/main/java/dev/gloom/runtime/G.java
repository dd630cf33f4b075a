package dev.gloom.runtime;

import dev.gloom.jdk.Vthread;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// A goroutine: one virtual thread, and at the same time that thread's scheduler, and, where the
/// mount lets it, the task that this scheduler gets.
///
/// The JDK calls {@link #execute} on a virtual thread's scheduler each time the thread can
/// continue: started, unparked, unblocked, yielded. Here the scheduler of a thread is its own G, so
/// `execute` *is* Go's `ready(g)`: no map from thread to goroutine, no wrapper, one object.
///
/// What a goroutine is doing (running, waiting, …) is not stored but read from its thread. What is
/// stored is the **word**, which says where the G is in the scheduler and lets one M at a time into
/// its task:
///
/// ```
/// NEW     -> QUEUED    started: counted and queued                        execute
/// IDLE    -> QUEUED    can continue: queued by whoever wins this CAS      execute
/// QUEUED  -> RUNNING   an M took it from a queue                          M.dispatch
/// RUNNING -> AGAIN     can continue, says a thread that is not its M      execute
/// RUNNING -> IDLE      off its M                                          M.dispatch
/// RUNNING -> QUEUED    off its M, and its own M queues it: it yielded     M.dispatch
/// AGAIN   -> QUEUED    off its M, which queues it                         M.dispatch
/// RUNNING -> DEAD      ended; a stray execute finds nothing to do        M.dispatch
/// ```
///
/// **`execute` is not exact.** `Thread.getStackTrace` submits a runnable thread a second time, as
/// late as it likes; so a G can be queued although its thread cannot continue, and running the task
/// then does nothing. Two things must hold all the same: a G is in at most one queue (the CAS out
/// of IDLE), and a wake-up is never dropped because of such a stray entry. The second is a race:
///
/// ```
/// waker                              M that took a stray entry
/// W1 thread.state = UNPARKED         M1 word = RUNNING      (release: no fence)
///    full fence (a CAS)              M2 reads thread.state  (task returns if it cannot continue)
/// W2 reads word                      M3 CAS word RUNNING -> IDLE, a full fence
///                                    M4 reads thread.state: can continue? then as execute
/// ```
///
/// If W2 sees QUEUED, it does nothing and relies on the M. M1 may still be in the M's store buffer
/// then, and M2 may have read the old state. But W2 came before M1 took effect, hence before M3,
/// and W1 before W2: M4 sees W1. Without M4 the wake-up is lost (`WordStress` shows it). If W2 sees
/// RUNNING, its CAS to AGAIN makes M3 fail, and the M queues the G.
///
/// **A stack overflow** can strike at any call inside `execute`. Queue operations take effect in
/// one instruction or not at all, so the catch block knows what is left to do, and notes it with
/// two field stores (it cannot call anything): sysmon does the rest ({@link
/// Sched#recoverStranded}).
///
/// Go: `g`, `ready`
public final class G implements Executor, Runnable {
  private static final int NEW = 0;
  private static final int IDLE = 1;
  private static final int QUEUED = 2;
  private static final int DEAD = 3;
  private static final int RUNNING = 4;
  private static final int AGAIN = 5; // after RUNNING: `>= RUNNING` means on an M

  static final byte STRANDED_CLAIMED = 1;
  private static final byte STRANDED_UNCLAIMED = 2;

  // What every switch touches comes first: the JVM lays out references in this order, and the fewer
  // cache lines a thousand goroutines take, the better.
  private final Thread thread;
  private final Runnable task;

  /// The M of the last dispatch. Written by that M before the word says RUNNING, so whoever is on
  /// this M and sees RUNNING is on the way out of this G's task. An M keeps no reference to the G
  /// that it runs: with G1 that store would cost a fence each time, this one only when a G moves.
  @Nullable M lastM;

  /// The M that it is locked to, which then is its last one; null if it runs anywhere. Written by
  /// the goroutine itself. See ThreadLock.
  @Nullable M lockedM;

  private volatile int word;

  /// The next in a chain or in the global queue; belongs to whoever holds that.
  @Nullable G link;

  /// A few places further in the same chain, if they left a ring together; null once it is out of
  /// the global queue. For {@link GlobalQueue#takeChain}.
  @Nullable G ahead;

  final Sched sched;

  /// Unique in its scheduler, from 1.
  public final long id;

  /// The goroutine that started this one; 0 if none did.
  public final long parentId;

  /// Where it was started, if known.
  public final @Nullable StackTraceElement site;

  /// Why it waits, if it waits through gloom: a {@link WaitReason#code}, else 0. Written by the
  /// goroutine itself, before it parks and again after; others read it a little late. A number,
  /// since with G1 the store of a reference into an old goroutine costs a fence.
  byte waitReason;

  /// When it last went to wait, by the scheduler's coarse clock. Written by its M while the word is
  /// still RUNNING.
  private long waitingSinceNanos;

  /// What every thread that is made here runs. It knows by the thread whose body that is.
  private static final Runnable BODY = new Start();

  private @Nullable Callable<?> body;

  /// Whether its wait for a socket is NetPoll's, and whether it is over before it began; the
  /// goroutine's own.
  boolean inNetPoll;

  boolean needNotWait;

  /// Set when `execute` ran out of stack; sysmon looks when {@link Sched#stranded} is set.
  volatile byte strandedAs;

  /// Set when the wake-up of this goroutine failed for lack of stack ({@link Waiter}); as above.
  volatile boolean unwoken;

  /// Its entry in a registry that does not keep it; null in one that does. Set at its start.
  WeakRegistry.@Nullable Entry entry;

  // The other registry's: a doubly linked list, under its shard's lock.
  @Nullable G registryNext;
  @Nullable G registryPrevious;
  byte shard = -1; // it is in none

  /// Whether it is not to be preempted. Its own, or whoever made it. See Undisturbed.
  boolean undisturbed;

  /// Whether its P had been taken from it when it last came to a check. Its own, and the helper's
  /// to read.
  boolean stopsLate;

  /// A goroutine with a thread of its own, not started.
  @SuppressWarnings("this-escape") // its thread gets it as scheduler and cannot use it before start
  G(
      Sched sched,
      long id,
      long threadId,
      long parentId,
      @Nullable StackTraceElement site,
      String name,
      Callable<?> body) {
    this.sched = sched;
    this.id = id;
    this.parentId = parentId;
    this.site = site;
    this.body = body;
    this.thread = sched.mount.make(this, name, BODY, this, threadId);
    this.task = Vthread.task(thread);
  }

  /// A goroutine for a virtual thread that somebody else made, and that has not run yet.
  G(Sched sched, long id, long parentId, Thread thread, Runnable task) {
    this.sched = sched;
    this.id = id;
    this.parentId = parentId;
    this.site = null;
    this.thread = thread;
    this.task = task;
  }

  // What the JDK calls.

  /// Makes the goroutine runnable. Called by the JDK, from any thread, also a virtual one, which
  /// does not leave its carrier meanwhile; also when there is nothing to do. Never blocks, parks or
  /// allocates, and throws only at a start that is refused.
  @Override
  public void execute(Runnable submitted) {
    if (submitted != task) {
      Spawn.adopt(this, submitted);
      return;
    }
    boolean claimed = false;
    boolean published = false;
    int w = word;
    if (w == NEW) {
      admit();
      claimed = true;
    }
    try {
      M m = M.current();
      if (w >= RUNNING && m == lastM && m != null) {
        // The JDK, on the way out of the task, which is on this M: it yielded, or was woken before
        // it was quite parked.
        m.requeue = true;
        return;
      }
      if (!claimed && !claim()) {
        return;
      }
      claimed = true;
      boolean tellOthers = sched.enqueue(m, this);
      published = true;
      if (tellOthers) {
        if (m == null) {
          sched.idle.wakeFromOutside();
        } else {
          sched.idle.wake();
        }
      }
    } catch (StackOverflowError e) {
      // No call in here: there is no stack for one.
      if (!published) {
        strandedAs = claimed ? STRANDED_CLAIMED : STRANDED_UNCLAIMED;
        if (entry != null) {
          entry.held = this;
        }
      }
      sched.stranded = true;
      try {
        // Only in case all Ps are idle, and sysmon with them; if there is no stack for this either,
        // the next thing that happens wakes it.
        sched.sysmon.somethingStarts();
      } catch (StackOverflowError again) {
        // nothing is lost by it
      }
    }
  }

  /// Its task as the JDK sees it, given to `execute` and never run: its M resumes the thread
  /// itself.
  @Override
  public void run() {
    throw new UnsupportedOperationException("gloom: only its scheduler resumes a goroutine");
  }

  /// The body of the virtual thread. An exception goes on to the thread's uncaught handler.
  private static final class Start implements Runnable {
    @Override
    public void run() {
      G g = Sched.currentG();
      if (g == null) {
        throw new IllegalStateException("gloom: the body of a goroutine on a thread that is none");
      }
      Callable<?> b = g.body;
      g.body = null; // the closure may be large, and the G outlives it in a Goroutine that is kept
      try {
        if (b != null) {
          b.call();
        }
      } catch (Throwable e) {
        throw Panic.leave(g, e);
      }
    }
  }

  /// Starts it; whoever made it does that at once. It counts from now on.
  void start() {
    if (sched.mount.start(thread, sched.container)) {
      execute(task);
    }
  }

  private void admit() {
    if (sched.isClosed()) {
      throw new RejectedExecutionException("gloom: scheduler is closed: it starts no goroutine");
    }
    sched.registry.add(this);
    try {
      setQueued();
    } catch (Throwable e) { // no stack for the call; it counts already, so it must get to a queue
      word = QUEUED;
    }
  }

  /// Whether the caller has to queue this G.
  private boolean claim() {
    for (; ; ) {
      int w = word;
      if (w == IDLE) {
        if (casWord(IDLE, QUEUED)) {
          return true;
        }
      } else if (w == RUNNING) {
        if (casWord(RUNNING, AGAIN)) {
          return false;
        }
      } else {
        return false;
      }
    }
  }

  /// Lets it go on, if it waits by {@link dev.gloom.jdk.Mount#suspendWaiting} or is about to.
  void wake() {
    if (sched.mount.wake(thread)) {
      execute(task);
    }
  }

  /// Finishes what an `execute` or a wake-up without stack left undone. For sysmon.
  void recover() {
    if (entry != null) {
      entry.held = null; // first: header of WeakRegistry
    }
    if (unwoken) {
      unwoken = false;
      LockSupport.unpark(thread);
      execute(task); // in case that the first unpark got half way
    }
    int as = strandedAs;
    if (as != 0) {
      strandedAs = 0;
      if (as == STRANDED_CLAIMED) {
        sched.global.put(this);
        sched.idle.wake();
      } else {
        execute(task);
      }
    }
  }

  // What its M calls.

  /// QUEUED -> RUNNING. A release store is enough: see the header.
  void setRunning() {
    assert word == QUEUED : this;
    WORD.setRelease(this, RUNNING);
  }

  /// RUNNING or AGAIN -> QUEUED. The queue that it goes to next publishes this.
  void setQueued() {
    WORD.setRelease(this, QUEUED);
  }

  /// RUNNING or AGAIN -> DEAD.
  void setDead() {
    WORD.setRelease(this, DEAD);
  }

  /// RUNNING -> IDLE, or false if somebody wants it to run again.
  boolean setIdle() {
    waitingSinceNanos = sched.coarseNanos; // published by the CAS
    return casWord(RUNNING, IDLE);
  }

  /// Instead of {@link #reclaim}, if somebody wants it to run again.
  void settle() {
    VarHandle.fullFence(); // a CAS that failed is none
    sched.mount.reclaim(thread);
  }

  /// Whether its thread can continue although it is in no queue; if so, the caller queues it. After
  /// {@link #setIdle}, whose CAS is the full fence that this needs.
  boolean reclaim() {
    return sched.mount.reclaim(thread) && claim();
  }

  // What everybody may ask.

  /// Whether its thread has ended.
  boolean ended() {
    return Vthread.terminated(thread);
  }

  /// Whether it is on no M and in no queue.
  boolean isIdle() {
    return word == IDLE && strandedAs == 0;
  }

  /// The M that runs it at this moment, or null; a moment's view.
  @Nullable M runsOn() {
    return word >= RUNNING ? lastM : null;
  }

  /// Its virtual thread.
  public Thread thread() {
    return thread;
  }

  /// Waits until it has ended: null then, and it is not counted any more. On a platform thread,
  /// when all goroutines are asleep for good: their dump.
  public @Nullable String join() throws InterruptedException {
    String deadlock = sched.deadlock.await(this);
    if (deadlock == null) {
      sched.registry.remove(this);
    }
    return deadlock;
  }

  /// The same for at most a time; false if it is over.
  public boolean join(Duration atMost) throws InterruptedException {
    if (!thread.join(atMost)) {
      return false;
    }
    sched.registry.remove(this);
    return true;
  }

  /// Why it waits, if it waits through gloom.
  public @Nullable WaitReason waitReason() {
    return WaitReason.of(waitReason);
  }

  /// What it is doing, in Go's terms, read from its thread.
  public Status status() {
    return switch (Vthread.phase(thread)) {
      case NEW -> Status.IDLE;
      case RUNNABLE -> Status.RUNNABLE;
      case RUNNING -> isInCall() ? Status.SYSCALL : Status.RUNNING;
      case WAITING, PINNED -> Status.WAITING;
      case ENDED -> Status.DEAD;
    };
  }

  private boolean isInCall() {
    M m = lastM;
    return m != null && m.left != null;
  }

  /// For how long it has waited; 0 while it is on an M or in a queue, also one that is pinned.
  long waitedNanos() {
    return word == IDLE ? Math.max(0, sched.clock.nanoTime() - waitingSinceNanos) : 0;
  }

  /// Go's states of a goroutine, as far as they exist here.
  public enum Status {
    /// Not started.
    IDLE,
    /// Can run, waits for its turn.
    RUNNABLE,
    /// Runs.
    RUNNING,
    /// In a call that holds its thread.
    SYSCALL,
    /// Parked, asleep, blocked.
    WAITING,
    /// Ended.
    DEAD;

    /// In Go's words.
    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @Override
  public String toString() {
    String where =
        switch (word) {
          case NEW -> "new";
          case IDLE -> "idle";
          case QUEUED -> "queued";
          case DEAD -> "dead";
          case RUNNING -> "running";
          default -> "again";
        };
    return "G" + id + "[" + where + ", " + thread + "]";
  }

  private boolean casWord(int from, int to) {
    return WORD.compareAndSet(this, from, to);
  }

  private static final VarHandle WORD =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "word", VarHandle.class, G.class, int.class);
}
