package dev.gloom.runtime;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// The watcher: a thread without a P that looks after what no M can see from inside.
///
/// Each round it asks a P that has spent a whole slice on one goroutine, or on one run-next chain,
/// to let the others go first, and takes the P from a thread that sleeps in the kernel or burns on
/// regardless ({@link Hold}, {@link Orphans}); it tells a busy P whose alarm is due, gives away a
/// run-next that its P keeps but does not run, polls the sockets if nobody does, finishes what a
/// caller without stack left undone, has the container's quota followed, and ends the threads of a
/// closed scheduler. It is also the safety net: goroutines that wait while a P is idle and no M
/// searches for 10 ms would be a bug of ours; it wakes an M, counts a *rescue* and says so once.
///
/// It looks every millisecond, less often while nothing is found or it only asks goroutines that
/// compute to stop, and sleeps deeply while all Ps are idle: the next P that leaves the idle list
/// wakes it.
///
/// Go: `sysmon`, `retake`
@SuppressWarnings("NonAtomicVolatileUpdate") // sysmon is the only writer
final class Sysmon {
  /// How long goroutines that pass the P on through run-next may run together. Go: forcePreemptNS
  static final long SLICE_NANOS = 10_000_000;

  private static final long FIRST_DELAY_NANOS = 1_000_000;

  /// While somebody waits behind a call that holds its thread. No sleep of the system is shorter.
  private static final long SHORT_DELAY_NANOS = 100_000;

  private static final long MAX_DELAY_NANOS = 10_000_000;

  /// Goroutines that block come in crowds: for so long after one, each P is looked at closely.
  private static final long CROWD_NANOS = 2_000_000;

  /// Until one that was asked to stop, and can, has done so.
  private static final long HEED_NANOS = FIRST_DELAY_NANOS / 2;

  /// After it has asked somebody to stop. It knows when to look again, but not when a slice begins
  /// or somebody falls asleep.
  private static final int LOOKS_A_SLICE = 4;

  /// So often between two looks a pair talked at one P: it does little else.
  private static final int MANY_PAIRS = 256;

  private static final int ROUNDS_BEFORE_BACKOFF = 50;
  private static final long DEEP_SLEEP_NANOS = 60_000_000_000L;

  /// Whoever strands a goroutine may have no stack left to wake this thread, so it looks now and
  /// then: 20 us a second.
  private static final long STRANDED_LOOK_NANOS = 1_000_000_000;

  /// How often it looks whether the thread has ended that keeps a deadlock from being certain.
  private static final long THREAD_LOOK_NANOS = 700_000_000;

  private static final long RESCUE_AFTER_NANOS = 10_000_000;

  /// For so long after it has found no memory it does only what needs none. In a full heap each try
  /// costs a collection or two, and a thousand a second would leave the program no time at all.
  private static final long FRUGAL_NANOS = 1_000_000_000;

  private final Sched sched;

  /// Set by this thread before a deep sleep, cleared by whoever starts a P. Partner of Idle's
  /// idleCount: set, then read idleCount; there changed, then this read.
  private volatile boolean asleep;

  /// The thread, or null before the first M and after the last.
  private final AtomicReference<@Nullable Thread> thread = new AtomicReference<>();

  private volatile long rescues;
  private volatile long retaken;

  /// Its number among the Ms, of which it is one in Go.
  private volatile int mid;

  // This thread's own.
  private boolean hurry;
  private boolean soon;
  private boolean asked;
  private boolean kept;
  private boolean frugal;
  private long frugalSinceNanos;
  private long crowdUntilNanos = Long.MIN_VALUE;
  private long sleepsSinceNanos;
  private long delayNanos = FIRST_DELAY_NANOS;
  private int quietRounds;
  private long nextLookNanos = Long.MAX_VALUE;
  private long startsSeen = -1;
  private long strandedWorkSinceNanos;
  private boolean strandedWork;
  private long strandedWorkStarts;

  Sysmon(Sched sched) {
    this.sched = sched;
  }

  /// Starts the thread if there is none; called by the Starter after it has counted a new M.
  void ensureRunning() {
    if (thread.get() == null) {
      Thread t = Starter.newThread(sched.name + "-sysmon", this::loop);
      if (thread.compareAndSet(null, t)) {
        mid = sched.newMid();
        try {
          t.start();
        } catch (Throwable e) {
          thread.set(null);
          throw e;
        }
      }
    }
  }

  /// A P leaves the idle list. Called on the ready path.
  void somethingStarts() {
    if (asleep) {
      wake();
    }
  }

  /// Ends a deep sleep.
  void wake() {
    sched.coarseNanos = sched.clock.nanoTime(); // nobody else has written it during the sleep
    asleep = false;
    Thread t = thread.get();
    if (t != null) {
      sched.parker.unpark(t);
    }
  }

  /// Has it look at once, if it looks at all.
  void lookNow() {
    Thread t = thread.get();
    if (t != null) {
      sched.parker.unpark(t);
    }
  }

  @Nullable Thread thread() {
    return thread.get();
  }

  int mid() {
    return mid;
  }

  long rescues() {
    return rescues;
  }

  /// How often it took a P from a call that was announced.
  long retaken() {
    return retaken;
  }

  private void loop() {
    try {
      do {
        Sched.LIVE.add(sched);
        while (!sched.endThreadsIfDone()) {
          try {
            sleep();
            long now = sched.clock.nanoTime();
            sched.coarseNanos = now;
            round(now);
            sched.trace.look(now);
          } catch (OutOfMemoryError e) {
            outOfMemory(sched.clock.nanoTime());
          }
        }
        Sched.LIVE.remove(sched);
        sched.deadlock.tellOthers();
        // A start that slipped past the closing may have made a new M. It counts the M and then
        // looks for this thread; here it is the other way round, so one of the two sees it.
        thread.set(null);
      } while (!sched.hasNoThreads() && thread.compareAndSet(null, Thread.currentThread()));
      sched.closeNetPoll();
    } catch (Throwable e) {
      sched.fatal.bug("sysmon", e);
    }
  }

  /// What asks the kernel, makes a P or reads the quota can be done at another time; the rest of a
  /// round allocates nothing.
  void outOfMemory(long now) {
    frugal = true;
    frugalSinceNanos = now;
  }

  private void sleep() {
    long starts = sched.idle.starts();
    boolean quiet = starts == startsSeen && !hurry;
    startsSeen = starts;
    long now = sched.clock.nanoTime();
    long nextLook = quiet && allIdle() && !frugal ? sched.deadlock.look(now) : Deadlock.NEVER;
    if (quiet && allIdle() && !sched.isClosed() && !sched.trace.on()) {
      asleep = true;
      if (allIdle() && !sched.isClosed() && !sched.stranded && sched.deadlock.hasNoNews()) {
        sleepDeeply(now + Math.min(nextLook, DEEP_SLEEP_NANOS));
      }
      asleep = false;
      delayNanos = FIRST_DELAY_NANOS;
      if (sched.clock.nanoTime() - now >= SLICE_NANOS) {
        quietRounds = 0; // something new begins; else it is a goroutine that sleeps for short times
      }
    }
    sleepsSinceNanos = sched.clock.nanoTime();
    sched.parker.parkNanos(hurry ? SHORT_DELAY_NANOS : untilNextLook(sleepsSinceNanos));
    hurry = false;
    nextLookNanos = Long.MAX_VALUE;
  }

  /// The usual delay, or less if a look is due before: a slice may be shorter than the delay.
  private long untilNextLook(long now) {
    return nextLookNanos == Long.MAX_VALUE
        ? delayNanos
        : Math.min(delayNanos, Math.max(nextLookNanos - now, SHORT_DELAY_NANOS));
  }

  private void sleepDeeply(long until) {
    long most = sched.deadlock.waitsForAThread() ? THREAD_LOOK_NANOS : STRANDED_LOOK_NANOS;
    for (long now = sched.clock.nanoTime();
        asleep && !sched.stranded && until - now > 0 && !sched.deadlock.obstacleIsGone();
        now = sched.clock.nanoTime()) {
      sched.parker.parkNanos(Math.min(most, until - now));
      sched.cpuFollower.look(sched.clock.nanoTime());
      sched.managed.look(sched.clock.nanoTime());
      sched.registry.sweep();
    }
  }

  private boolean allIdle() {
    return sched.idle.idleProcs() == sched.maxProcs();
  }

  /// One look at everything. If it comes late, the whole process was held up, by a debugger, the
  /// collector or its container's quota, and nobody had a chance to get on: then nobody is blamed
  /// for that time. Under a small quota every round comes late.
  void round(long now) {
    boolean acted = false;
    frugal &= now - frugalSinceNanos < FRUGAL_NANOS;
    if (sched.stranded && !frugal) {
      sched.recoverStranded();
      acted = true;
    }
    if (!frugal) {
      sched.cpuFollower.look(now);
      sched.managed.look(now);
    }
    sched.registry.sweep();
    long lost = now - sleepsSinceNanos - delayNanos;
    boolean late = lost > SLICE_NANOS;
    if (late) {
      forgive(lost, now);
    }
    acted |= watchProcs(now, late);
    tryOut(now, late);
    acted |= sched.netPoll.monitor();
    acted |= !late && rescue(now);
    sleepsSinceNanos = now;
    backOff(acted);
  }

  /// So much time has passed in which nothing could happen.
  private void forgive(long lostNanos, long now) {
    for (P p : sched.procs().all) {
      p.seenSinceNanos += lostNanos;
      p.seenCallsSinceNanos += lostNanos;
      p.seenDispatches = p.dispatches();
      p.hold.forgetSleep();
      // The first of two looks; on a busy machine every round comes late.
      if (p.status == P.HELD && !frugal) {
        p.hold.isAsleep(p, sched.kernel, now, 0);
        hurry |= p.hold.suspected();
      }
    }
    strandedWork = false;
  }

  private boolean watchProcs(long now, boolean late) {
    boolean acted = false;
    for (P p : sched.procs().all) {
      if (p.retired) {
        continue; // it went late, and is listed until the next change
      }
      boolean due = p.timers.earliest() <= now;
      if (p.status == P.BLOCKED) {
        acted |= retake(p, now, due);
        continue;
      }
      boolean nobodyWatches = due && sched.idle.watchUntil() > now;
      if (nobodyWatches) {
        tellOfAlarm(p);
        soon = true; // to see whether it got to it
      }
      if (p.status == P.HELD && !frugal && takeFromSleeper(p, now, due)) {
        acted = true;
        continue;
      }
      acted |= preempt(p, now, nobodyWatches);
      acted |= !late && giveUpKept(p, now);
    }
    return acted | sched.orphans.look(now, frugal);
  }

  /// Tells a P that an alarm of its own is due; and if it has not got to it since the last round,
  /// all others too: its goroutine computes, or its thread waits for a core.
  private void tellOfAlarm(P p) {
    if ((p.request & P.TIMERS) == 0) {
      p.ask(P.TIMERS);
      return;
    }
    for (P q : sched.procs().all) {
      if (q.status == P.HELD) {
        q.ask(P.TIMERS);
      }
    }
  }

  /// Takes a P from an M that sleeps in the kernel without having said so.
  private boolean takeFromSleeper(P p, long now, boolean due) {
    boolean waits = due || !p.isEmpty() || !sched.global.isEmpty();
    boolean covered = !waits && (sched.idle.idleProcs() > 0 || sched.idle.searching() > 0);
    boolean crowd = now < crowdUntilNanos;
    long patience = covered ? SLICE_NANOS : crowd ? 0 : 1;
    if (!p.hold.isAsleep(p, sched.kernel, now, patience)) {
      hurry |= p.hold.suspected() && !covered || crowd;
      return false;
    }
    if (!sched.mayUseAnotherM() || !sched.orphans.take(p, false)) {
      return false;
    }
    crowdUntilNanos = now + CROWD_NANOS;
    hurry = true;
    return true;
  }

  /// Takes a P from an M that has been in a call for a round, if somebody waits for it; and after a
  /// slice in any case, so that all Ps can be idle and this thread can sleep.
  private boolean retake(P p, long now, boolean due) {
    boolean waits = due || !p.isEmpty() || !sched.global.isEmpty();
    hurry |= waits;
    if (p.calls != p.seenCalls) {
      p.seenCalls = p.calls;
      p.seenCallsSinceNanos = now;
      return false;
    }
    boolean covered = !waits && (sched.idle.idleProcs() > 0 || sched.idle.searching() > 0);
    if (covered && now - p.seenCallsSinceNanos < SLICE_NANOS || !Blocking.take(p)) {
      return false;
    }
    retaken = retaken + 1;
    sched.idle.handOff(p);
    return true;
  }

  /// Asks a P that has not begun a slice for the length of one, if anybody waits for it.
  private boolean preempt(P p, long now, boolean due) {
    long tick = p.tick;
    if (tick != p.seenTick) {
      p.seenTick = tick;
      p.seenSinceNanos = now;
      return false;
    }
    if (p.isEmpty() && sched.global.isEmpty() && !due) {
      return false;
    }
    boolean told = tellIfItGoesOn(p, now);
    long slice = sched.hogs.sliceNanos();
    if (!frugal
        && sched.idle.idleProcs() == 0
        && p.status == P.HELD
        && p.hold.burns(p, sched.kernel, now, sched.hogs.patienceNanos(p))
        && sched.hogs.mayBeTakenFrom(sched, p, now)
        && sched.mayOvercommit()
        && sched.mayUseAnotherM()
        && sched.orphans.take(p, true)) {
      return true;
    }
    long ends = p.seenSinceNanos + slice;
    if (now - ends < 0) {
      lookAt(Hogs.isStuck(p) ? Math.min(now + sched.hogs.patienceNanos(p), ends) : ends);
      return false;
    }
    p.ask(P.PREEMPT);
    p.seenSinceNanos = now;
    asked = true;
    if (!Hogs.hasHelper() || Hogs.isStuck(p)) {
      goesOn(p, now);
    } else if (!told) {
      p.askedAt = p.dispatches();
      lookAt(now + FIRST_DELAY_NANOS);
    }
    return false;
  }

  /// One that was asked to stop has a moment to do so, before anybody is told that it goes on.
  private boolean tellIfItGoesOn(P p, long now) {
    if (p.askedAt != p.dispatches()) {
      return false;
    }
    if (now - p.seenSinceNanos < HEED_NANOS) {
      lookAt(p.seenSinceNanos + FIRST_DELAY_NANOS);
      return false;
    }
    p.askedAt = -1;
    goesOn(p, now);
    return true;
  }

  private void lookAt(long nanos) {
    nextLookNanos = Math.min(nextLookNanos, nanos);
  }

  /// It has been asked to let others run and does not, or nothing but taking its P will help.
  private void goesOn(P p, long now) {
    if (!frugal) {
      p.hold.asked(p, sched.kernel, now);
    }
    sched.hogs.goesOn(p, now);
  }

  /// A P that keeps what it has for itself but does not get to it, or not as quickly as it did,
  /// gives it up to an idle one. While it gets on and others are idle the next look comes soon; not
  /// for one that is idle itself, as the P of a goroutine that sleeps in a loop nearly always is.
  private boolean giveUpKept(P p, long now) {
    long dispatches = p.dispatches();
    long ran = dispatches - p.seenDispatches;
    boolean moved = ran != 0;
    p.seenDispatches = dispatches;
    boolean keptSome = p.kept != p.seenKept;
    p.seenKept = p.kept;
    if (!p.mayKeep() || sched.idle.idleProcs() == 0) {
      return false;
    }
    kept |= keptSome;
    boolean brisk = p.isBrisk();
    if (brisk && sched.sharing.on && p.queue.size() != 0) {
      VarHandle.fullFence(); // it may have asked itself before, and put something down just now
      sched.idle.wake();
    }
    boolean slow = brisk ? 2 * ran * P.BRISK_NANOS < now - sleepsSinceNanos : !moved;
    if (slow && (brisk || !p.keepsNext() ? !p.isEmpty() : p.queue.peekNext() != null)) {
      p.keepNothing();
      VarHandle.fullFence(); // S1 in Idle: only now does it count as work for others
      sched.idle.wake();
      return true;
    }
    soon |= moved && !sched.idle.contains(p);
    return false;
  }

  /// Tries whether it pays that brisk Ps share what they keep, or that pairs live apart; one of the
  /// two at a time.
  private void tryOut(long now, boolean late) {
    long starts = sched.idle.starts();
    boolean anyIdle = sched.idle.idleProcs() > 0;
    boolean pairs = false;
    long steps = 0;
    for (P p : sched.procs().all) {
      steps += p.dispatches() + p.met;
      pairs |= p.pairs - p.seenPairs >= MANY_PAIRS;
      p.seenPairs = p.pairs;
    }
    Trial sharing = sched.sharing;
    Trial apart = sched.apart;
    boolean other = sharing.on; // an end of that in this round is no pace to compare with
    boolean begins = sharing.look(now, starts, steps, kept && !apart.on, late);
    kept = false;
    if (sharing.on) {
      lookAt(sharing.untilNanos());
    }
    if (begins) {
      VarHandle.fullFence(); // S1 in Idle: only now does it count as work for others
      sched.idle.wake();
    }
    long judged = apart.untilNanos();
    apart.look(now, starts, steps, pairs && anyIdle && !other && !sharing.on, late);
    if (apart.on) {
      lookAt(apart.untilNanos());
      if (apart.untilNanos() != judged) {
        for (P p : sched.procs().all) {
          p.looks = 0;
        }
      }
    }
  }

  private boolean rescue(long now) {
    long starts = sched.idle.starts();
    boolean lost =
        (sched.hasQueuedWork() || alarmMissed(now))
            && sched.idle.idleProcs() > 0
            && !sched.idle.somebodyLooks();
    if (!lost || !strandedWork || starts != strandedWorkStarts) {
      strandedWork = lost;
      strandedWorkSinceNanos = now;
      strandedWorkStarts = starts;
      return false;
    }
    if (now - strandedWorkSinceNanos < RESCUE_AFTER_NANOS) {
      return false;
    }
    strandedWork = false;
    if (rescues == 0) {
      System.err.println(
          "gloom: goroutines waited although a processor was idle: a bug in gloom, worked around; "
              + "please report it\n"
              + sched.describe());
    }
    rescues = rescues + 1;
    sched.idle.wake();
    return true;
  }

  /// Whether an alarm is due that the watcher does not know of. One that it knows of is not lost,
  /// however late the kernel wakes the watcher.
  private boolean alarmMissed(long now) {
    long earliest = sched.earliestAlarm();
    return earliest <= now && sched.idle.watchUntil() > earliest;
  }

  private void backOff(boolean acted) {
    if (acted || asked) {
      quietRounds = 0;
      long between = acted || soon ? 0 : sched.hogs.sliceNanos() / LOOKS_A_SLICE;
      delayNanos = Math.clamp(between, FIRST_DELAY_NANOS, MAX_DELAY_NANOS);
    } else if (soon) {
      delayNanos = FIRST_DELAY_NANOS; // the next one only: the quiet rounds still count
    } else if (++quietRounds > ROUNDS_BEFORE_BACKOFF) {
      // With a short slice it would not see its end in time.
      long most = Math.clamp(sched.hogs.sliceNanos(), FIRST_DELAY_NANOS, MAX_DELAY_NANOS);
      delayNanos = Math.min(2 * delayNanos, most);
    }
    soon = false;
    asked = false;
  }
}
