package dev.gloom.runtime;

import dev.gloom.jdk.Container;
import dev.gloom.jdk.JdkMount;
import dev.gloom.jdk.LeanMount;
import dev.gloom.jdk.Mount;
import dev.gloom.jdk.Thrown;
import dev.gloom.jdk.Vthread;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// One scheduler: its processors, its queues, its threads. Several can live in one process.
///
/// Threads are made when they are first needed and kept; an unused scheduler has none. A closed one
/// starts no goroutine, goes on with those it has, and lets its threads end with the last of them.
///
/// Go: `schedt`, `schedinit`, `procresize`
public final class Sched {
  /// An M that is told to end has nothing left to do but that.
  private static final Duration LAST_M_PATIENCE = Duration.ofSeconds(10);

  private static final AtomicInteger NAMES = new AtomicInteger();
  private static final AtomicReference<@Nullable Sched> DEFAULT = new AtomicReference<>();

  /// Those of this process that have threads. Written by their sysmons.
  static final Set<Sched> LIVE = ConcurrentHashMap.newKeySet();

  final String name;
  final long seed;
  final Clock clock;
  final Parker parker;
  final Kernel kernel;
  final Mount mount;
  final boolean exitOnPanic;
  final Fatal fatal;

  /// Whether brisk Ps share their short rings, and whether pairs that talk live on two Ps: sysmon
  /// tries it.
  final Trial sharing;

  final Trial apart;

  private final int maxThreads;
  private final int maxOvercommit;

  /// Whether goroutines that nobody can wake any more stay. See Registry.
  final boolean keepsAll;

  final GlobalQueue global = new GlobalQueue();
  final Registry registry;
  final Idle idle = new Idle(this);
  final Sysmon sysmon = new Sysmon(this);
  final NetPoll netPoll = new NetPoll(this);
  final Hogs hogs;
  final Managed managed = new Managed();
  final Resize resize;
  final Orphans orphans = new Orphans(this);
  final Cpus cpus;
  final CpuFollower cpuFollower = new CpuFollower(this);
  final Schedtrace trace;
  final Deadlock deadlock;
  final Container container;

  /// A G somewhere could not be queued for lack of stack: sysmon looks for it.
  volatile boolean stranded;

  /// The time a few milliseconds ago, for whoever cannot afford to read the clock: written by
  /// sysmon at each round, and by whoever ends its deep sleep.
  long coarseNanos;

  private volatile boolean saidThreadLimit;
  private volatile Procs procs;
  private volatile boolean closed;
  private final AtomicLong ids = new AtomicLong(1);

  /// Goroutines that run although their M has no P. See Blocking.
  final AtomicInteger overcommitted = new AtomicInteger();

  private final AtomicInteger mCount = new AtomicInteger();
  private final AtomicInteger mIds = new AtomicInteger();

  /// All Ms, oldest first. Replaced as a whole, by the Starter, when one is added; those that have
  /// ended go then.
  private volatile M[] ms = {};

  /// All Ps that may hold work, and the order in which to steal from them. Replaced as a whole.
  static final class Procs {
    private static final P[] NONE = {};

    final P[] all;
    final int max;
    final StealOrder order;

    /// Those whose slot has another P now, and whose M may still put something there.
    final P[] orphans;

    /// What those have counted that are no longer here. They go and are counted in one step, so
    /// that no figure ever goes back.
    final Totals gone;

    Procs(P[] all, int max, P[] orphans, Totals gone) {
      this.all = all;
      this.max = max;
      this.orphans = orphans;
      this.gone = gone;
      this.order = new StealOrder(all.length);
    }
  }

  /// The scheduler that is meant where none is named. Made at the first use, not in a static
  /// initialiser: a wrong setting is then reported to every caller as what it is, not as a
  /// NoClassDefFoundError. Two that race make two; one is dropped before it has a thread.
  public static Sched byDefault() {
    Sched existing = DEFAULT.get();
    if (existing != null) {
      return existing;
    }
    Knobs knobs = Knobs.ofProcess();
    Sched made = new Sched(knobs.maxProcs(), knobs);
    Sched winner = DEFAULT.compareAndExchange(null, made);
    return winner == null ? made : winner;
  }

  /// A scheduler on real time and real threads; maxProcs is {@link Knobs#BY_DEFAULT} or a number.
  public Sched(int maxProcs, Knobs knobs) {
    this(maxProcs, knobs, System.nanoTime(), Clock.SYSTEM, Parker.SYSTEM);
  }

  /// The same with its seams given, for tests.
  Sched(int maxProcs, Knobs knobs, long seed, Clock clock, Parker parker) {
    this(maxProcs, knobs, seed, clock, parker, Cpus.ofProcess(), Kernel.SYSTEM);
  }

  Sched(
      int maxProcs, Knobs knobs, long seed, Clock clock, Parker parker, Cpus cpus, Kernel kernel) {
    Vthread.require();
    Starter.init();
    Managed.init();
    ParkTimers.install();
    NetPoll.install();
    int number = NAMES.getAndIncrement();
    this.name = number == 0 ? "gloom" : "gloom" + number;
    this.seed = seed;
    this.clock = clock;
    this.parker = parker;
    this.kernel = kernel;
    this.mount = knobs.leanMount() ? LeanMount.orJdks() : new JdkMount("gloom.mount=jdk is set");
    this.exitOnPanic = knobs.exitOnPanic();
    this.fatal = new Fatal(this, knobs.haltOnBug());
    this.sharing = new Trial(clock.nanoTime(), Trial.LONGEST_SHARING_PAUSE_NANOS, 0);
    this.apart =
        new Trial(clock.nanoTime(), Trial.LONGEST_APART_PAUSE_NANOS, Trial.APART_COLD_STEPS);
    Meeting.init();
    this.keepsAll = knobs.keepsAll();
    this.registry = keepsAll ? new StrongRegistry() : new WeakRegistry();
    this.maxThreads = knobs.maxThreads();
    this.maxOvercommit = knobs.maxOvercommit();
    this.deadlock = new Deadlock(this, knobs.detectDeadlock());
    this.hogs = new Hogs(knobs.preemption());
    this.trace = new Schedtrace(this, knobs.debug());
    if (knobs.dumpSignal() != null) {
      DumpSignal.install(knobs.dumpSignal());
    }
    this.container = new Container(name, this::threads);
    this.cpus = cpus;
    boolean custom = maxProcs != Knobs.BY_DEFAULT;
    this.resize = new Resize(this, custom);
    P[] all = resize.newProcs(new P[0], custom ? Knobs.checkMaxProcs(maxProcs) : cpus.now());
    this.procs = new Procs(all, all.length, Procs.NONE, new Totals());
    idle.add(all, 0);
  }

  // Running goroutines.

  /// Runs `body` as a goroutine and waits for it; what it throws is thrown here. Answers null; or,
  /// on a platform thread, when all goroutines are asleep for good, their dump.
  public @Nullable String run(Callable<?> body) throws Exception {
    var outcome = new Outcome(body);
    G g = Spawn.go(this, "", outcome);
    String deadlock = g.join();
    if (deadlock == null) {
      outcome.rethrow();
    }
    return deadlock;
  }

  private static final class Outcome implements Callable<@Nullable Object> {
    private final Callable<?> body;
    private @Nullable Throwable thrown; // published by the end of the thread

    Outcome(Callable<?> body) {
      this.body = body;
    }

    @Override
    public @Nullable Object call() {
      try {
        body.call();
      } catch (Throwable e) {
        thrown = e;
      }
      return null;
    }

    void rethrow() throws Exception {
      if (thrown != null) {
        throw Thrown.unchecked(thrown); // may be neither an Exception nor an Error
      }
    }
  }

  /// The goroutine that calls, of whichever scheduler; null on a thread that is none.
  public static @Nullable G currentG() {
    Thread t = Thread.currentThread();
    return t.isVirtual() && Vthread.scheduler(t) instanceof G g ? g : null;
  }

  /// The scheduler of the calling goroutine; null on a thread that is none.
  public static @Nullable Sched current() {
    G g = currentG();
    return g == null ? null : g.sched;
  }

  /// Lets others run. Returns at once if there is nobody; else the caller goes to the tail of the
  /// global queue. Go: `Gosched`
  public static void gosched() {
    M m = M.current();
    if (m == null) {
      notOurs();
      return;
    }
    P p = m.p;
    if (p != null
        && !p.yielded.hasSome()
        && p.request == 0
        && !p.wantsToLookAtTimers()
        && !p.wantsToPoll()
        && p.queue.isEmpty()
        && m.sched.global.isEmpty()) {
      return;
    }
    m.sched.mount.suspendRunnable();
  }

  /// Pauses the caller, and says so.
  public static void sleep(Duration duration) throws InterruptedException {
    G g = currentG();
    if (g == null) {
      Thread.sleep(duration);
      return;
    }
    g.waitReason = WaitReason.SLEEP.code;
    try {
      Thread.sleep(duration);
    } finally {
      g.waitReason = 0;
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // what a thread that is no goroutine can do instead
  private static void notOurs() {
    Thread.yield();
  }

  // The way into the queues.

  /// Makes a G that is claimed runnable on the calling M.
  void ready(M m, G g) {
    if (enqueue(m, g)) {
      idle.wake();
    }
  }

  /// To run-next of the calling M's P; from anywhere else to the global queue. Answers whether an
  /// idle P is to be woken for it; if so, it has been published with a full fence.
  boolean enqueue(@Nullable M m, G g) {
    if (m != null && m.sched == this) {
      P p = m.p;
      if (p != null) {
        if (m.delivers == M.NOTHING) {
          return p.putNext(g);
        }
        if (m.delivers == M.INTO_RING) {
          p.put(g); // one of a batch, which is published as a whole
          return false;
        }
      }
    }
    global.put(g);
    return true;
  }

  /// A place where the calling goroutine may be asked to let others run: it has had its slice.
  static void preemptionPoint() {
    try {
      M m = M.current();
      P p = m == null ? null : m.p;
      if (m != null && p != null && (p.request & P.PREEMPT) != 0) {
        letOthersRun(m, p);
      } else if (m != null && p == null && m.overcommitted) {
        getP(m);
      }
    } catch (StackOverflowError | OutOfMemoryError e) {
      // The stack is too full, or too deep to be put aside: at another time then. What the caller
      // did before, a start, has happened and must not look as if it had not.
    }
  }

  /// The calling goroutine, on `m`, lets those run that it has started.
  static void stepBack(M m) {
    try {
      G g = currentG();
      if (g != null && !g.undisturbed) {
        m.sched.mount.suspendRunnable();
      }
    } catch (StackOverflowError | OutOfMemoryError e) {
      // As above.
    }
  }

  /// The calling goroutine runs without a P, and is counted: there may be one now, else it waits
  /// for one.
  static void getP(M m) {
    Headroom.check(); // a P taken from the list must become its own
    P p = m.sched.idle.acquire();
    if (p == null) {
      m.sched.mount.suspendRunnable();
    } else {
      p.heldBy(m);
      m.overcommitted = false;
      m.sched.overcommitted.getAndDecrement();
    }
  }

  private static void letOthersRun(M m, P p) {
    G g = currentG();
    if (g != null && g.undisturbed) {
      return;
    }
    if (p.status == P.ORPHAN) {
      Headroom.checkAhead();
      Orphans.abandon(m, p);
      m.overcommitted = true;
      m.sched.overcommitted.getAndIncrement();
      Hogs.SIGN.raise();
      getP(m);
      return;
    }
    try {
      m.sched.mount.suspendRunnable();
      // The request is served in FindWork, which also sends this one's run-next to the back: else
      // the chain of those that start each other would go on with a new slice.
    } finally {
      if (M.current() == m && m.p == p) {
        p.served(P.PREEMPT); // it could not, it is pinned or too deep: not again in this slice
      }
    }
  }

  /// The calling M has put goroutines into a ring of its P. With one P there is nobody to tell.
  void publishedInRing() {
    if (procs.max > 1) {
      VarHandle.fullFence();
      idle.wake();
    }
  }

  /// Whether any queue holds a goroutine. Called after a full fence, see Idle.
  boolean hasQueuedWork() {
    if (!global.isEmpty()) {
      return true;
    }
    Procs now = procs;
    for (P p : now.all) {
      if (p.hasWorkForOthers()) {
        return true;
      }
    }
    for (P p : now.orphans) {
      if (!p.isEmpty()) {
        return true;
      }
    }
    return false;
  }

  // Alarms.

  /// Puts an alarm that is prepared into the heap of the calling M's P, or else of any.
  void arm(@Nullable M m, Alarm alarm) {
    P p = m == null ? null : m.p;
    if (p != null && p.sched == this) {
      TimerHeap.Added added = p.timers.add(alarm);
      if (added == TimerHeap.Added.EARLIEST) {
        idle.armed(alarm.when);
      }
      if (added != TimerHeap.Added.CLOSED) { // it is if the P is an orphan and its slot has gone
        return;
      }
    }
    if (addToAny(alarm) == TimerHeap.Added.EARLIEST) {
      idle.armed(alarm.when);
    }
  }

  TimerHeap.Added addToAny(Alarm alarm) {
    for (int i = (int) alarm.when; ; i++) {
      P[] all = procs.all;
      TimerHeap.Added added = all[Math.floorMod(i, all.length)].timers.add(alarm);
      if (added != TimerHeap.Added.CLOSED) {
        return added;
      }
    }
  }

  /// When the first of all alarms is due; NEVER if there is none.
  long earliestAlarm() {
    long earliest = Alarm.NEVER;
    for (P p : procs.all) {
      earliest = Math.min(earliest, p.timers.earliest());
    }
    return earliest;
  }

  /// Whether an alarm is pending; cancelled ones do not count.
  boolean hasAlarms() {
    for (P p : procs.all) {
      if (p.timers.sweep() != 0) {
        return true;
      }
    }
    return false;
  }

  /// Queues what execute could not queue for lack of stack. For sysmon.
  void recoverStranded() {
    stranded = false; // before the look: what comes later sets it again
    try {
      for (G g : registry.snapshot()) {
        g.recover();
      }
    } catch (OutOfMemoryError e) {
      stranded = true;
      throw e;
    }
    if (hasQueuedWork()) {
      idle.wake();
    }
  }

  // Processors and threads.

  Procs procs() {
    return procs;
  }

  /// How many goroutines run at once.
  public int maxProcs() {
    return procs.max;
  }

  /// Changes that number and answers the old one; less than 1 only reads. The number is the
  /// caller's from now on, also if it is the old one: it no longer follows the CPUs. Go:
  /// `GOMAXPROCS`
  public int maxProcs(int n) {
    return n < 1 ? maxProcs() : resize.to(Knobs.checkMaxProcs(n));
  }

  /// Goes back to the default number, answers it, and follows the CPUs from now on. Go:
  /// `SetDefaultGOMAXPROCS`
  public int defaultMaxProcs() {
    return resize.toDefault();
  }

  /// Replaces the Ps by what `change` makes of them, and answers that. It may be called again, if
  /// somebody else was quicker.
  Procs procs(UnaryOperator<Procs> change) {
    for (; ; ) {
      Procs before = procs;
      Procs after = change.apply(before);
      if (PROCS.compareAndSet(this, before, after)) {
        return after;
      }
    }
  }

  /// Whether a P that is taken from its M would find another: one that sleeps, or a new one.
  boolean mayUseAnotherM() {
    return idle.idleMs() > 0 || mayStartM();
  }

  /// Whether there may be one more thread; says so once if not. Go: `checkmcount`
  boolean mayStartM() {
    if (mCount.get() < maxThreads) {
      return true;
    }
    if (!saidThreadLimit) {
      saidThreadLimit = true;
      sayThreadLimit();
    }
    return false;
  }

  private void sayThreadLimit() {
    try {
      System.err.printf(
          "gloom: program exceeds %d-thread limit: goroutines wait until a thread is free. Too many"
              + " of them block at once (Gloom.dump() shows where); or raise -Dgloom.maxthreads%n",
          maxThreads);
    } catch (OutOfMemoryError e) {
      // No memory for words; sysmon and the Starter, who ask, must go on.
    }
  }

  /// Whether one more goroutine may run without a P, because it does not stop.
  boolean mayOvercommit() {
    int most = maxOvercommit == Knobs.OVERCOMMIT_BY_DEFAULT ? 4 * maxProcs() : maxOvercommit;
    return overcommitted.get() + orphans.awake() < most;
  }

  /// Starts a thread for `p`; false if there may be no more. For the Starter, whose thread it comes
  /// from.
  boolean startM(P p) {
    if (!mayStartM()) {
      return false;
    }
    var m = new M(this, newMid(), p, true);
    m.setContextClassLoader(ClassLoader.getSystemClassLoader());
    mCount.incrementAndGet();
    coarseNanos = clock.nanoTime();
    M[] more = withoutEnded(1);
    more[more.length - 1] = m;
    try {
      sysmon.ensureRunning();
      m.start(); // last: the Starter tries again after a failure, and a P has one M
      ms = more;
    } catch (Throwable e) {
      mCount.decrementAndGet();
      throw e;
    }
    return true;
  }

  int newMid() {
    return mIds.getAndIncrement();
  }

  /// The Ms that live, oldest first.
  M[] ms() {
    return withoutEnded(0);
  }

  /// The Ms and sysmon.
  Set<Thread> ownThreads() {
    Set<Thread> own = new HashSet<>(Arrays.asList(ms()));
    own.add(sysmon.thread());
    return own;
  }

  private M[] withoutEnded(int room) {
    M[] all = ms;
    M[] living = new M[all.length + room];
    int n = 0;
    for (M m : all) {
      if (m.isAlive()) {
        living[n++] = m;
      }
    }
    return Arrays.copyOf(living, n + room);
  }

  long takeIds(int n) {
    return ids.getAndAdd(n);
  }

  /// Waits without sleeping: for a few microseconds, which no sleep of the system can do.
  void pause(long nanos) {
    long until = clock.nanoTime() + nanos;
    while (until - clock.nanoTime() > 0) {
      Thread.onSpinWait();
    }
  }

  // The end.

  /// Refuses new goroutines from now on; those that exist go on.
  public void close() {
    closed = true;
    sysmon.wake();
  }

  boolean isClosed() {
    return closed;
  }

  /// Ends the threads of a closed scheduler if its last goroutine has ended. For sysmon.
  boolean endThreadsIfDone() {
    if (!closed
        || registry.size() != 0
        || hasQueuedWork()
        || idle.idleProcs() != maxProcs()
        || hasAlarms()) {
      return false;
    }
    mCount.addAndGet(-idle.endIdleMs());
    return hasNoThreads();
  }

  /// Gives the poller's descriptors back, once no M can be in the kernel with them. For sysmon, at
  /// its end.
  void closeNetPoll() throws InterruptedException {
    if (netPoll.isOpen()) {
      for (M m : ms()) {
        if (!m.join(LAST_M_PATIENCE)) {
          return; // rather leave them than close what is in use
        }
      }
      netPoll.close();
    }
  }

  /// A thread ends before all others do.
  void threadEnds() {
    mCount.decrementAndGet();
  }

  boolean hasNoThreads() {
    return mCount.get() == 0;
  }

  // Seeing it.

  /// Those of this process that have threads, and the default one if it has been made.
  public static Set<Sched> live() {
    Set<Sched> all = new HashSet<>(LIVE);
    Sched byDefault = DEFAULT.get();
    if (byDefault != null) {
      all.add(byDefault);
    }
    return all;
  }

  /// Who overruns its slice, and the settings for that.
  public Hogs hogs() {
    return hogs;
  }

  /// Its name, as its threads begin.
  public String name() {
    return name;
  }

  /// How many goroutines have started and not ended. Go: `NumGoroutine`
  public int numGoroutine() {
    return registry.size();
  }

  /// What has been counted so far.
  public Counters counters() {
    Procs now = procs;
    var total = new Totals(now.gone);
    long local = 0;
    for (P p : now.all) {
      total.addSlot(p);
      local += p.queued();
    }
    for (P p : now.orphans) {
      total.add(p);
      local += p.queued();
    }
    return new Counters(
        now.max,
        idle.idleProcs(),
        idle.searching(),
        mCount.get(),
        mIds.get(),
        idle.idleMs(),
        registry.size(),
        registry.started(),
        global.size(),
        local,
        total.dispatches,
        total.dispatches - total.moved,
        total.met,
        total.steals,
        total.stolen,
        total.overflows,
        idle.wakeups(),
        idle.handoffs(),
        total.rang,
        total.lateNanos,
        total.calls,
        overcommitted.get() + orphans.awake(),
        sysmon.retaken(),
        orphans.takenBlocked(),
        orphans.takenBurning(),
        now.orphans.length,
        total.stoppedAtPoints,
        total.stoppedAtChecks,
        netPoll.figures(),
        mount.description(),
        sysmon.rescues());
  }

  /// A moment's figures of a scheduler; dev.gloom.Stats says what they mean.
  public record Counters(
      int maxProcs,
      int idleProcs,
      int searching,
      int threads,
      long threadsStarted,
      int idleThreads,
      int goroutines,
      long started,
      int globalQueue,
      long localQueues,
      long dispatches,
      long sameM,
      long meetings,
      long steals,
      long stolen,
      long overflows,
      long wakeups,
      long handoffs,
      long alarms,
      long alarmsLateNanos,
      long blockingCalls,
      int overcommitted,
      long retaken,
      long takenBlocked,
      long takenBurning,
      int orphans,
      long preemptedAtPoints,
      long preemptedAtChecks,
      NetPoll.Figures net,
      String mount,
      long rescues) {}

  /// The state of the scheduler in text, for bug reports.
  String describe() {
    var text =
        new StringBuilder(name + ": " + counters() + " closed=" + closed + " seed=" + seed + "\n");
    Procs now = procs;
    for (P p : now.all) {
      text.append("  ").append(p).append('\n');
    }
    for (P p : now.orphans) {
      text.append("  orphan ").append(p).append('\n');
    }
    return text.toString();
  }

  /// Those that were started with `Thread.start` are in another container's list.
  private Stream<Thread> threads() {
    return Arrays.stream(registry.snapshot())
        .map(G::thread)
        .filter(t -> container.holds(t) && t.isAlive());
  }

  private static final VarHandle PROCS =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "procs", VarHandle.class, Sched.class, Procs.class);
}
