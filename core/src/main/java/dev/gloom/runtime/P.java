package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// A processor: the right to run goroutines, with a run queue of its own. There are `maxProcs` of
/// them; an M runs goroutines only while it holds one, and then it alone writes here.
///
/// **Yielding.** Whoever yields belongs at the tail of the global queue. Going there one by one
/// makes all Ps fight for its lock, so a P gathers them in a second ring, `yielded`, and takes from
/// it when the global queue is empty: what is in the latter was there first. They go to the global
/// queue itself when the ring is full, and one at every 61st tick. Thieves take from the ring too.
///
/// **Whom run-next keeps.** A goroutine that is made ready usually runs here next, since the one
/// that made it ready parks. Waking a thread for it each time is wasted, and the thread would only
/// carry it off to another core. So a P that has run its own run-next a few times in a row wakes
/// nobody for it alone; if the running goroutine goes on computing instead, sysmon notices within a
/// millisecond and the P starts to learn anew. (Go wakes a thread each time; its users ask for
/// this, issue 54622.)
///
/// **What a brisk P keeps.** If the goroutines here run for less than a microsecond each before
/// they park, whoever waits behind a few of them runs before a thread has woken up, and on the core
/// that has its data. So a P that was so quick lately wakes nobody for a short ring either. It
/// takes the time every 61 dispatches; sysmon looks after it as above, and tries now and then
/// whether they would get on faster if such rings were shared ({@link Trial}).
///
/// Go: `p`
final class P {
  /// Sysmon asks: this P has run one slice without a tick, so its run-next chain goes to the back.
  static final int PREEMPT = 1;

  /// maxProcs shrinks: the holder asks whether this P goes, and then gives everything away.
  static final int RETIRE = 2;

  /// Sysmon says: an alarm is due, of this P or of one that does not get to it.
  static final int TIMERS = 4;

  /// There was one P and now there are more: what the holder put into its rings without a word is
  /// to be told.
  static final int TELL = 8;

  /// Enough that a thousand goroutines that only yield stay on their P.
  private static final int YIELDED_CAPACITY = 1024;

  /// Long enough that a wrong guess is rare, short enough that a chain of a dozen profits.
  private static final int KEEPS_NEXT_AFTER = 8;

  /// Ids are handed out in blocks, so that a spawn touches no shared counter.
  private static final int ID_BLOCK = 16;

  /// To read the clock costs a tenth of a switch: with alarms pending, it is read at every 16th
  /// dispatch, when there is nothing else to do, and when sysmon says so.
  private static final int TIMERS_EVERY = 16;

  /// A look at the sockets costs three switches: while somebody waits for one, it is taken at every
  /// 61st dispatch.
  private static final int POLL_EVERY = 61;

  /// Up to so many wait behind the running one of a brisk P and nobody is woken for them.
  private static final int FEW = 8;

  /// Whatever a P has kept runs here within so many dispatches: run-next, the few behind it, and
  /// who comes between them from the global queue.
  static final int LAST_KEPT = 2 * FEW;

  /// The most that a dispatch takes on a brisk P, goroutine and all: a fifth of what it takes to
  /// wake a thread.
  static final long BRISK_NANOS = 1_000;

  final int id;
  final Sched sched;
  final RunQueue queue = new RunQueue();
  final RunQueue yielded = new RunQueue(YIELDED_CAPACITY);
  final TimerHeap timers;
  final Rand rand;

  /// An M holds it, and alone writes here.
  static final int HELD = 0;

  /// Its M is in a call that holds the thread, and has left it for whoever takes it. See Blocking.
  static final int BLOCKED = 1;

  /// On the way to another M, in the idle list, which Idle's lock guards, or out of use.
  static final int FREE = 2;

  /// Another P has its slot, and its M does not know that yet. See Orphans.
  static final int ORPHAN = 3;

  /// Its M has noticed that it is an orphan, and has emptied it.
  static final int ABANDONED = 4;

  /// One of these. Its M leaves HELD by a CAS, since sysmon may orphan it at any moment.
  volatile int status;

  /// The M that holds it while it is HELD. Written by that M before the status, or right after it
  /// at the end of a call, where it mostly stands already. A guess for sysmon.
  @Nullable M holder;

  /// What others ask of the holder; looked at before every dispatch.
  volatile int request;

  /// Slices begun: a dispatch that inherits its slice through run-next does not count. Owner
  /// writes, sysmon reads.
  long tick;

  /// The tick at which this P next looks at the global queue first. Owner only.
  long globalAt;

  /// An alarm was armed here that is earlier than all others here, and nobody has been told. Owner
  /// only.
  boolean newEarliest;

  /// Dispatches before this P next reads the clock for its alarms. Owner only.
  private int untilTimers;

  /// Dispatches before this P next looks at the sockets. Owner only.
  private int untilPoll;

  /// How often in a row this P ran its own run-next; owner counts up, whoever takes it away resets.
  private int ownNext;

  /// Up to this dispatch something may lie here that was kept; others write it, and sysmon reads
  /// it.
  private long keptUntil = -1;

  /// Whether the last dispatches were quick ones. Owner says so, sysmon and thieves take it back.
  private boolean brisk;

  /// How often it put one into its ring without a word. Sysmon reads it.
  int kept;

  /// When the count of dispatches began by which that is judged; 0 if this P was idle since. Owner
  /// only.
  private long paceSinceNanos;

  /// Whether the G that FindWork returned last inherits the slice. Owner only.
  boolean inherit;

  /// How often a goroutine here was about to wait, at a channel without capacity, for the only
  /// other one that is here. Owner writes, sysmon reads.
  int pairs;

  /// Looks around that were taken here while somebody waited for another in a {@link Meeting},
  /// since sysmon last judged that. Owner writes, sysmon clears it.
  int looks;

  /// How often somebody was about to wait there. Owner only.
  int stays;

  /// How long the present stay may last. Owner only.
  long stayUntilNanos;

  // Counters: owner writes, stats reads them, a little late.
  long inherited;
  long met;
  long moved;
  long steals;
  long stolen;
  long overflows;
  long rang;
  long calls;
  long stoppedAtPoints;
  long stoppedAtChecks;

  private long nextId;
  private long lastId;
  private long nextThreadId;
  private long lastThreadId;

  // Sysmon only: the tick that it saw last, and when it saw it first.
  long seenTick = -1;
  long seenSinceNanos;
  long seenDispatches;
  int seenKept;
  int seenPairs;

  // Sysmon only: the dispatches when it was asked to stop, if the helper has not been told; or -1.
  long askedAt = -1;

  // Sysmon only: when the helper was last told of the one that has it. See Hogs.
  long triedNanos;

  // Sysmon only: the dispatch whose goroutine has opted out, and when it was seen to. See Hogs.
  long undisturbedAt = -1;
  long undisturbedSinceNanos;

  // Sysmon only: the calls that it saw last, and when it saw that number first.
  long seenCalls;
  long seenCallsSinceNanos;

  /// What sysmon knows about the thread that holds it.
  final Hold hold = new Hold();

  /// Sysmon has asked it to stop and wants the helper to see to it. See Hogs.
  volatile boolean caught;

  /// The tick of the slice whose goroutine is known not to stop; -1 before the first. See Hogs.
  volatile long stuckAt = -1;

  /// Whether it was so the last time too; written before that.
  boolean stuckAgain;

  // Guarded by Idle's lock.
  @Nullable P link;

  /// Out of use, for good; written under Idle's lock.
  volatile boolean retired;

  /// Next in the Starter's stack.
  @Nullable P startLink;

  P(Sched sched, int id, TimerHeap timers) {
    this.sched = sched;
    this.id = id;
    this.timers = timers;
    this.rand = new Rand(sched.seed + id);
  }

  /// Its holder lets go of it; false if it is an orphan.
  boolean free() {
    return casStatus(HELD, FREE);
  }

  boolean casStatus(int from, int to) {
    return STATUS.compareAndSet(this, from, to);
  }

  /// Makes `m`, the caller, its holder.
  void heldBy(M m) {
    holder = m;
    STATUS.setRelease(this, HELD); // pairs with sysmon's read of the status
    m.p = this;
  }

  /// Makes `g` the next to run; whom it pushes out goes to the tail. Answers whether others are to
  /// be told: not if this P is known to run `g` itself in a moment.
  boolean putNext(G g) {
    if (keepsNext() && queue.offerNext(g)) {
      return false;
    }
    boolean keeps = brisk && queue.size() < FEW && !sched.sharing.on;
    G kicked = queue.swapNext(g); // from here on g is published: no call outside the try
    if (kicked == null) {
      return true;
    }
    try {
      put(kicked);
      if (keeps) {
        kept++;
        return false;
      }
      VarHandle.fullFence(); // S1 in Idle: an M that goes to sleep may look at the ring only
    } catch (StackOverflowError e) {
      // As in G.execute: no call, there is no stack for one.
      kicked.strandedAs = G.STRANDED_CLAIMED;
      if (kicked.entry != null) {
        kicked.entry.held = kicked;
      }
      sched.stranded = true;
    }
    return true;
  }

  /// Takes the run-next goroutine.
  @Nullable G takeNext() {
    G g = queue.takeNext();
    if (g != null && ownNext < KEEPS_NEXT_AFTER) {
      ownNext++;
    }
    return g;
  }

  boolean keepsNext() {
    return brisk || ownNext == KEEPS_NEXT_AFTER;
  }

  /// What it kept waited too long, or somebody else took it: from now on others are told at once.
  void keepNothing() {
    ownNext = 0;
    brisk = false;
    keptUntil = dispatches() + LAST_KEPT;
  }

  /// Whether something may lie here that nobody was told of. Also for a while after it was told to
  /// keep nothing: it may have asked itself just before, and put something down just after.
  boolean mayKeep() {
    return keepsNext() || dispatches() <= keptUntil;
  }

  boolean isBrisk() {
    return brisk;
  }

  /// Whether it keeps its ring, which is short, to itself.
  boolean keepsRing() {
    return brisk && queue.size() <= FEW && !sched.sharing.on;
  }

  /// Every so many dispatches: how quick were they? A P that is no longer brisk tells of what it
  /// kept.
  private void takePace() {
    if (sched.maxProcs() == 1) {
      return; // there is nobody to tell
    }
    long now = sched.clock.nanoTime();
    long took = now - paceSinceNanos;
    boolean was = brisk;
    brisk = paceSinceNanos != 0 && took > 0 && took < POLL_EVERY * BRISK_NANOS;
    paceSinceNanos = now;
    if (was && !brisk && !queue.isEmpty()) {
      sched.publishedInRing();
    }
  }

  /// It goes idle.
  void forgetPace() {
    brisk = false;
    paceSinceNanos = 0;
  }

  /// Whether a thread without work should come here for some.
  boolean hasWorkForOthers() {
    if (!yielded.isEmpty()) {
      return true;
    }
    return keepsNext() ? queue.size() != 0 && !keepsRing() : !queue.isEmpty();
  }

  /// How many goroutines this P has put on an M, inherited slices included. By this, not by ticks,
  /// others see whether it gets on.
  long dispatches() {
    return tick + inherited;
  }

  /// How many goroutines wait here; a moment's view.
  int queued() {
    return queue.size() + yielded.size() + (queue.peekNext() == null ? 0 : 1);
  }

  boolean isEmpty() {
    return yielded.isEmpty() && queue.isEmpty();
  }

  /// Before each dispatch: rings what is due, now and then.
  void lookAtTimers() {
    if (wantsToLookAtTimers()) {
      ringDue(timers);
    }
  }

  /// Whether it is time to read the clock. Owner only.
  boolean wantsToLookAtTimers() {
    return timers.earliest() != Alarm.NEVER && --untilTimers < 0;
  }

  /// Whether it is time to look at the sockets. Owner only.
  boolean wantsToPoll() {
    if (--untilPoll >= 0) {
      return false;
    }
    takePace();
    if (sched.netPoll.wantsPoll()) {
      return true;
    }
    untilPoll = POLL_EVERY;
    return false;
  }

  /// Before each dispatch: looks at the sockets, now and then.
  void lookAtNet(M m) {
    if (wantsToPoll()) {
      untilPoll = POLL_EVERY;
      sched.netPoll.poll(m);
    }
  }

  /// Rings what is due in a heap, which may be another P's; what that makes runnable comes into
  /// this P's queue. True if anything rang.
  boolean ringDue(TimerHeap heap) {
    untilTimers = TIMERS_EVERY;
    if (heap.earliest() == Alarm.NEVER) {
      return false;
    }
    int n = heap.ringDue(sched.clock.nanoTime());
    rang += n;
    return n != 0;
  }

  /// Puts `g`, which yielded, behind everybody else. Not published by a fence.
  void putYielded(G g) {
    while (!yielded.offer(g)) {
      flushYielded(Integer.MAX_VALUE);
    }
  }

  /// Moves up to `most` of those that yielded to the global queue. For a moment they are in
  /// neither, so an M that looks around before it sleeps may miss them: whoever calls this calls
  /// `wake` afterwards.
  boolean flushYielded(int most) {
    G chain = yielded.takeChain(most);
    putGlobally(chain, false);
    return chain != null;
  }

  /// Lets go of what was taken from its rings.
  void forgetTaken() {
    queue.forgetTaken();
    yielded.forgetTaken();
  }

  /// Appends `g` to the ring, or, with half the ring, to the global queue.
  void put(G g) {
    while (!queue.offer(g)) {
      if (spill(g)) {
        return;
      }
    }
  }

  /// Moves the older half of a full ring and `g` behind it to the global queue: whoever makes more
  /// work than it does gives the others a large piece at once, not one by one. Go: `runqputslow`
  private boolean spill(G g) {
    Headroom.check(); // from here to the end the goroutines are in no queue
    G first = queue.takeOlderHalf();
    if (first == null) {
      return false;
    }
    G last = first;
    while (last.link != null) {
      last = last.link;
    }
    last.link = g;
    g.link = null;
    overflows++;
    putGlobally(first, false);
    return true;
  }

  /// Gives everything to the front of the global queue: run-next, ring, those that yielded. Go:
  /// `runqdrain`
  void drain() {
    putGlobally(yielded.takeChain(Integer.MAX_VALUE), true);
    putGlobally(queue.takeChain(Integer.MAX_VALUE), true);
    putGlobally(queue.takeNext(), true);
  }

  /// Appends a chain to the global queue, or puts it in front.
  void putGlobally(@Nullable G chain, boolean first) {
    if (chain == null) {
      return;
    }
    int n = 1;
    G last = chain;
    while (last.link != null) {
      last = last.link;
      n++;
    }
    if (first) {
      sched.global.putChainFirst(chain, last, n);
    } else {
      sched.global.putChain(chain, last, n);
    }
  }

  /// An id that no other goroutine has. Owner only.
  long nextId() {
    if (nextId == lastId) {
      nextId = sched.takeIds(ID_BLOCK);
      lastId = nextId + ID_BLOCK;
    }
    return nextId++;
  }

  /// The same for threads.
  long nextThreadId() {
    if (nextThreadId == lastThreadId) {
      nextThreadId = sched.mount.takeThreadIds(ID_BLOCK);
      lastThreadId = nextThreadId + ID_BLOCK;
    }
    return nextThreadId++;
  }

  void ask(int what) {
    REQUEST.getAndBitwiseOr(this, what);
    if ((what & PREEMPT) != 0) {
      Hogs.SIGN.raise();
    }
  }

  void served(int what) {
    REQUEST.getAndBitwiseAnd(this, ~what);
    if ((what & PREEMPT) != 0) {
      Hogs.SIGN.lower(Hogs.ANY_ASKED);
    }
  }

  @Override
  public String toString() {
    return "P%d[tick=%d dispatches=%d ring=%d next=%s yielded=%d request=%d]"
        .formatted(id, tick, dispatches(), queue.size(), queue.peekNext(), yielded.size(), request);
  }

  private static final VarHandle REQUEST = handle("request");
  private static final VarHandle STATUS = handle("status");

  private static VarHandle handle(String name) {
    return ConstantBootstraps.fieldVarHandle(
        MethodHandles.lookup(), name, VarHandle.class, P.class, int.class);
  }
}
