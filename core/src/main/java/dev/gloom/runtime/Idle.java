package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// Who sleeps, who searches, and whom to wake.
///
/// The aim: no P idle while a goroutine waits for one, and no thread awake for nothing. Refused:
///
/// - *one shared queue*: no lock there scales, and a goroutine loses the core that has its data;
/// - *hand the goroutine to a new thread at each ready*: the ready one usually runs here next,
///   since the one that made it ready is about to park;
/// - *wake a thread at each ready*: most would find nothing, and a wake-up costs microseconds.
///
/// So: whoever makes a goroutine runnable wakes one M **if a P is idle and no M searches**. The one
/// that is woken searches; when it finds something and sees more, it wakes the next.
///
/// A thread that is no M cannot run what it submits. If it submits several, a chain in which each M
/// wakes the next would start the second only when the first is awake, tens of microseconds later,
/// and the kernel tends to put it on the core of the one that wakes it, which is busy. So such a
/// thread wakes on **while fewer Ms search than goroutines wait in the global queue**, up to half
/// as many as Ps are busy, and one.
///
/// **No lost wake-up.** Work is published in a queue, and three words decide: `idleCount`,
/// `searching`, and the queues themselves.
///
/// ```
/// submitter                          M without work
/// S1 publish work; full fence        I1 idleCount++ ; full fence
/// S2 idleCount == 0? done            I2 searching-- if it searched ; full fence
/// S3 enough searching? done          I3 look at all queues again; work there? take a P back
/// S4 wake an M                       I4 sleep
/// ```
///
/// If S2 misses I1, or S3 sees a searcher that I2 removes, then S1 came before I1 or I2, so I3 sees
/// the work (or another M has it already). Every M does I3, whether or not it searched; that makes
/// Go's `needspinning` unnecessary. There are two more ways to lose the searcher that S3 relied on:
/// a searcher that *found* work looks again too and wakes another ({@link #foundWork}); and in
/// {@link #wake} whoever counted itself as searcher, but found no idle P any more, starts over if
/// there is one now. Enough is one at least, so whoever wants more only wakes more.
///
/// The fence in S1: into run-next by an atomic swap; into the global queue by the volatile release
/// of its lock; into a ring by a fence of its own, for whom run-next pushed out as for one that
/// yielded or a batch from the global queue. Whoever moves goroutines from one queue to another
/// submits them again, since for a moment they are in neither. What a P keeps to itself ({@link
/// P}), its run-next or a short ring, it neither calls `wake` for nor is asked for in I3: sysmon
/// watches over that, and a P that keeps it no longer submits it; if Ps begin to share their rings
/// ({@link Trial}), sysmon does. A P that goes straight from one M to another ({@link #handOff},
/// {@link #give}) was busy all the while; {@link ThreadLock} has the argument.
///
/// **The watcher.** While a P is idle and an alarm is pending, one idle M, the watcher, sleeps only
/// until the first alarm, `watchUntil`; then it takes an idle P and rings it, whichever P's it is.
/// While no P is idle there is no need for one: the Ps look themselves. Whoever arms an alarm that
/// is the earliest of its P, and every M that goes idle, sees to it:
///
/// ```
/// arms an alarm                      M that goes idle              watcher
/// A1 into the heap; full fence       I1 idleCount++; full fence    W1 watchUntil = earliest; fence
/// A2 idleCount == 0? done            I5 earliest of all heaps      W2 earliest of all heaps
/// A3 watchUntil early enough? done   I6 watchUntil too late?       W3 not watchUntil? to W1
/// A4 wake the watcher, or any M         be the watcher: to W2      W4 sleep until then
/// ```
///
/// If A2 misses I1, then I5 sees A1. If A3 sees a time that W1 is about to replace by a later one,
/// A1 came before W1, and W2 sees it. A searcher counts as one that will go idle: A4 wakes nobody
/// then, and the searcher does I5 if it finds nothing, and else looks whether a watcher is missing
/// ({@link #foundWork}). {@link #wake} takes the watcher only if that leaves no P idle; then there
/// is no need for it, and it goes before the Ms that have slept for longer: else a third M would
/// take turns with the two that two Ps need.
///
/// **The poller.** While all Ps are idle and a goroutine waits for a socket, one idle M, the
/// poller, sleeps in the kernel until one is ready; then it takes an idle P and makes its goroutine
/// runnable there ({@link NetPoll}). It is not the watcher, as it is in Go: the kernel's wait for
/// sockets counts in milliseconds, and a sleep of 100 us would take 1 ms.
///
/// ```
/// waits for a socket                 M that goes idle              poller
/// N1 waiting++; full fence           I1 idleCount++; full fence    B0 alone in there? else later
/// N2 its M has a P? done             I7 waiting != 0, no poller?   B1 inPoll = true; full fence
/// N3 a poller, or no idle P? done    I8 be the poller: to B0       B2 given, ending, not it? done
/// N4 wake an M                                                     B3 sleep in the kernel
///                                                                  B4 an idle P? take it. Deliver
/// ```
///
/// The kernel remembers what becomes ready, also for a descriptor that is armed while the poller
/// sleeps; so it is enough that there is one. If its M has a P, that P goes idle later, and I7 sees
/// N1. If not (back from a call without a P), N3 or I7 sees the other. N4 wakes nobody while one
/// searches: that one goes idle, or its P is busy and goes idle later. The poller ends at B4 if it
/// gets a P, which goes idle later, or if all Ps are busy; and when {@link #wake} takes it, for the
/// last idle P. Whoever takes it gives, then reads `inPoll`; so either B2 sees what was given or
/// the giver sees B1 and writes to the eventfd, which stays readable until B3 returns. B0: of two
/// that sleep in the kernel it may wake the wrong one, which takes the break away; so the next
/// poller waits until the last one, which {@link #wake} has taken, is out.
///
/// While only *some* Ps are idle there need not be a poller: to wake an M each time the last one
/// found something would cost more than it brings. The busy Ps look themselves, and if a P stays
/// busy for a round of sysmon's while another is idle, sysmon has an M woken ({@link
/// NetPoll#monitor}).
///
/// Go: `wakep`, `startm`, `stopm`, `pidleput`, `pidleget`, `mput`, `mget`, `resetspinning`,
/// `wakeNetPoller`, `pollUntil`
@SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only, read without
final class Idle {
  /// How long an M sleeps that is one of too many, before it ends.
  static final long EXPIRE_NANOS = 10_000_000_000L;

  /// As many as one for each P and a few more stay for good.
  private static final int SPARE_MS = 2;

  private final Sched sched;
  private final SpinLock lock = new SpinLock();

  // Guarded by lock; last in, first out, since that one's caches are warm.
  private @Nullable P idlePs;
  private @Nullable M idleMs;
  private int idleMCount;
  private long wakeups;
  private long handoffs;

  /// Ps that are still to be taken out of use: the first ones whose M comes by. Written under the
  /// lock.
  private volatile int surplus;

  /// The M that sleeps only until the first alarm; written under the lock. It is not in the idle
  /// list.
  private volatile @Nullable M watcher;

  /// The M that sleeps in the kernel until a socket is ready; written under the lock. It is not in
  /// the idle list.
  private volatile @Nullable M poller;

  /// Until when; written under the lock.
  private volatile long watchUntil = Alarm.NEVER;

  /// Ps in the idle list; written under the lock.
  private volatile int idleCount;

  /// Ms that search, or have been woken to.
  private volatile int searching;

  /// Ms between the moment they stop counting as busy or searching and the end of their last look
  /// around (I3). The kernel may hold such an M up for as long as it likes; the work that it is
  /// about to see is not lost. For sysmon.
  private volatile int deciding;

  /// Times that a P left the idle list; written under the lock. Sysmon sees by it whether anything
  /// happened.
  private volatile long starts;

  Idle(Sched sched) {
    this.sched = sched;
  }

  /// Called after work was published with a full fence: S2 to S4.
  void wake() {
    wake(1);
  }

  /// The same from a thread that is no M, after it put something into the global queue.
  void wakeFromOutside() {
    int busy = sched.maxProcs() - idleCount;
    wake(Math.max(1, Math.min(sched.global.size(), (busy + 1) / 2 + 1)));
  }

  /// Wakes an M if a P is idle and fewer than `enough` search.
  private void wake(int enough) {
    for (int s = searching; idleCount != 0 && s < enough; s = searching) {
      Headroom.check(); // a P taken from the list must reach an M
      if (!SEARCHING.compareAndSet(this, s, s + 1)) {
        continue; // somebody began to search, or ended
      }
      lock.acquire();
      P p = idlePs;
      M m = null;
      if (p != null) {
        idlePs = p.link;
        p.link = null;
        idleCount = idleCount - 1;
        starts = starts + 1;
        boolean last = idleCount == 0;
        m = last ? watcher : null;
        if (m != null) {
          watcher = null;
          watchUntil = Alarm.NEVER;
        } else {
          m = idleMs;
          if (m != null) {
            idleMs = m.idleNext;
            if (idleMs != null) {
              idleMs.idlePrevious = null;
            }
            m.idleNext = null;
            m.inIdleList = false;
            idleMCount--;
          } else if (last) {
            m = poller;
            poller = null;
          }
        }
        wakeups++;
      }
      lock.held = 0;
      if (p != null) {
        start(p, m);
        return;
      }
      // Somebody else got the P. Work that was published while we counted as a searcher relied on
      // us, so look at idleCount once more.
      SEARCHING.getAndAdd(this, -1);
    }
  }

  private void start(P p, @Nullable M m) {
    sched.sysmon.somethingStarts();
    if (m != null) {
      startOn(m, p);
    } else {
      Starter.start(p);
    }
  }

  private void startOn(M m, P p) {
    m.givenSpinning = true;
    m.given = p;
    rouse(m);
  }

  /// Gives a P for which a new M was wanted to one that has gone to sleep meanwhile, if there is
  /// one.
  boolean startSleeper(P p) {
    M m = null;
    lock.acquire();
    if (idleMs != null) {
      m = idleMs;
      unlink(m);
    }
    lock.held = 0;
    if (m == null) {
      return false;
    }
    startOn(m, p);
    return true;
  }

  /// Wakes an M that was given something, or is to end. It sets `inPoll` and then looks at what it
  /// was given; here it was given and then `inPoll` is read: one of the two sees the other.
  private void rouse(M m) {
    if (m.inPoll) {
      sched.netPoll.interrupt();
    } else {
      sched.parker.unpark(m);
    }
  }

  /// Gives it to the watcher or the poller, if no other M sleeps and there may be no new one: this
  /// P counts as a searcher, so whoever makes work ready relies on it and wakes nobody. And so does
  /// whoever arms an alarm: see {@link #foundWork}.
  boolean startWatcher(P p) {
    lock.acquire();
    M m = watcher;
    if (m == null) {
      m = poller;
      poller = null;
    }
    watcher = null;
    watchUntil = Alarm.NEVER;
    lock.held = 0;
    if (m == null) {
      return false;
    }
    startOn(m, p);
    return true;
  }

  /// Whether one more M may search: at most half as many as Ps that are busy, so that searching
  /// costs less than what it can find.
  boolean maySearch(M m) {
    if (m.spinning) {
      return true;
    }
    if (2 * searching >= sched.maxProcs() - idleCount) {
      return false;
    }
    m.spinning = true;
    SEARCHING.getAndAdd(this, 1);
    return true;
  }

  /// A searcher has found work, so it searches no longer. What was published meanwhile relied on
  /// it: if there is more, or alarms that nobody watches, another one searches on.
  void foundWork(M m) {
    DECIDING.getAndAdd(this, 1);
    stopSearching(m);
    if (sched.hasQueuedWork() || watchUntil > sched.earliestAlarm()) {
      wake();
    }
    DECIDING.getAndAdd(this, -1);
  }

  /// Gives up the P of an M that found nothing: I1 to I3. Afterwards the M either has a P again, as
  /// a searcher, or is in the idle list.
  void release(M m, P p) {
    if (!p.free()) {
      Orphans.exchange(m, p);
      return;
    }
    assert p.isEmpty() : p;
    m.p = null;
    DECIDING.getAndAdd(this, 1);
    putAway(p, m);
    if (m.spinning) {
      stopSearching(m);
    }
    if (sched.hasQueuedWork()) {
      takeBack(m);
    } else {
      takePost(m);
    }
    DECIDING.getAndAdd(this, -1);
  }

  /// I1: into the idle list with a P that nobody holds any more, unless too many are in use; and
  /// with the M that held it, if that has nothing else to do.
  private void putAway(P p, @Nullable M m) {
    p.forgetTaken();
    p.forgetPace();
    p.newEarliest = false; // see watch
    boolean retired = false;
    lock.acquire();
    if (surplus > 0) {
      surplus = surplus - 1;
      p.retired = true;
      retired = true;
    } else {
      p.link = idlePs;
      idlePs = p;
      idleCount = idleCount + 1;
    }
    if (m != null) {
      push(m);
    }
    lock.held = 0;
    if (retired) {
      sched.resize.moveAlarms(p);
    }
  }

  /// Whether this P, whose M asks, goes. Then what it had is given to others, and the M, which has
  /// no P now, is idle. Meanwhile sysmon does not take what is on its way for lost.
  boolean leaves(M m, P p) {
    if (!p.free()) {
      return false; // an orphan; its M will notice
    }
    DECIDING.getAndAdd(this, 1);
    boolean goes = retires(p);
    if (goes) {
      p.drain();
      m.p = null;
      sched.resize.moveAlarms(p);
      join(m);
    } else {
      p.heldBy(m);
    }
    DECIDING.getAndAdd(this, -1);
    return goes;
  }

  /// An M whose P went joins the idle list; what the P had is in the global queue.
  void join(M m) {
    lock.acquire();
    push(m);
    lock.held = 0;
    if (m.spinning) {
      stopSearching(m);
    }
    wake();
  }

  /// Passes on `p`, whose M cannot use it now and keeps out of the idle list: to another M if there
  /// is work, else to the idle list, as in {@link #release}. Its M has let go of it. Header of
  /// {@link ThreadLock}. Go: `handoffp`
  void handOff(P p) {
    if ((p.request & P.RETIRE) != 0 && retires(p)) {
      p.drain();
      sched.resize.moveAlarms(p);
      wake();
    } else if (p.isEmpty() && sched.global.isEmpty()) {
      shelve(p);
    } else {
      pass(p);
    }
  }

  /// I1, I3 and I5 for an M that cannot take the P back, nor be the watcher.
  private void shelve(P p) {
    DECIDING.getAndAdd(this, 1);
    putAway(p, null);
    if (sched.hasQueuedWork()) {
      wake();
    } else {
      armed(sched.earliestAlarm());
      awaited();
    }
    DECIDING.getAndAdd(this, -1);
  }

  /// To an M that sleeps, which does not count as a searcher: what it is to run is there. A new M
  /// starts as one, so it is counted.
  private void pass(P p) {
    lock.acquire();
    handoffs++;
    M m = idleMs;
    if (m != null) {
      idleMs = m.idleNext;
      if (idleMs != null) {
        idleMs.idlePrevious = null;
      }
      m.idleNext = null;
      m.inIdleList = false;
      idleMCount--;
    } else if (idleCount == 0) {
      m = watcher;
      watcher = null;
      watchUntil = Alarm.NEVER;
      if (m == null) {
        m = poller;
        poller = null;
      }
    }
    lock.held = 0;
    if (m != null) {
      hand(p, m);
    } else {
      SEARCHING.getAndAdd(this, 1);
      Starter.start(p);
    }
  }

  /// `m` gives its P to `owner`, which waits for just that, and joins the idle list. It does so
  /// first: `owner` may soon pass the P on, and would have a new thread made if it found none.
  void give(M m, P p, M owner) {
    m.p = null;
    lock.acquire();
    handoffs++;
    push(m);
    lock.held = 0;
    hand(p, owner);
  }

  private void hand(P p, M m) {
    assert m.given == null : m;
    m.givenSpinning = false;
    m.given = p;
    rouse(m);
  }

  /// An idle P for an M whose goroutine goes on without; null if there is none. The caller becomes
  /// its holder.
  @Nullable P acquire() {
    if (idleCount == 0) {
      return null;
    }
    lock.acquire();
    P p = idlePs;
    if (p != null) {
      idlePs = p.link;
      p.link = null;
      idleCount = idleCount - 1;
      starts = starts + 1;
    }
    lock.held = 0;
    if (p != null) {
      sched.sysmon.somethingStarts();
    }
    return p;
  }

  /// An M whose P was taken is free: it takes an idle P, or joins the idle list.
  void comeBack(M m) {
    decides();
    if (m.spinning) {
      stopSearching(m); // what relied on it: see search; and without an idle P nobody had to look
    }
    P p = null;
    lock.acquire();
    if (idlePs == null) {
      push(m);
    } else {
      p = takeIdleP();
    }
    lock.held = 0;
    if (p != null) {
      search(m, p);
    }
    decided();
  }

  /// Goroutines are on the way from one queue to another, and whoever moves them wakes somebody
  /// afterwards: until {@link #decided} sysmon does not take them for lost.
  void decides() {
    DECIDING.getAndAdd(this, 1);
  }

  void decided() {
    DECIDING.getAndAdd(this, -1);
  }

  private void stopSearching(M m) {
    m.spinning = false;
    SEARCHING.getAndAdd(this, -1);
  }

  private void takeBack(M m) {
    P p = null;
    lock.acquire();
    if (m.inIdleList && idlePs != null) {
      p = takeIdleP();
      unlink(m);
    }
    lock.held = 0;
    if (p != null) {
      search(m, p);
    }
  }

  private void search(M m, P p) {
    p.heldBy(m);
    m.spinning = true;
    SEARCHING.getAndAdd(this, 1);
    sched.sysmon.somethingStarts();
  }

  /// An alarm was armed that is the earliest of its heap: A2 to A4.
  void armed(long when) {
    if (idleCount != 0 && watchUntil > when) {
      M w = watcher;
      if (w == null) {
        wake();
      } else {
        sched.parker.unpark(w);
      }
    }
  }

  /// A goroutine waits for a socket: N2 to N4.
  void awaited() {
    if (poller == null && idleCount != 0 && sched.netPoll.isAwaited()) {
      wake();
    }
  }

  /// An idle M becomes the watcher if there is none, or one that sleeps for too long: I5 and I6;
  /// and the poller if there is none: I7 and I8. This one is awake already, so the other watcher
  /// need not be woken, except if this one has to be the poller: then that one chooses its time
  /// anew, and if there is none, somebody else becomes it.
  private void takePost(M m) {
    long earliest = sched.earliestAlarm();
    boolean polls = sched.netPoll.isAwaited() && poller == null;
    if (watchUntil <= earliest && !polls) {
      return;
    }
    M other = null;
    boolean unwatched = false;
    lock.acquire();
    if (m.inIdleList) {
      unwatched = watchUntil > earliest;
      if (polls && poller == null) {
        unlink(m);
        poller = m;
        other = watcher;
      } else if (unwatched) {
        unlink(m);
        if (watcher != null) {
          push(watcher);
        }
        watcher = m;
        watchUntil = earliest;
        unwatched = false;
      }
    }
    lock.held = 0;
    if (unwatched) {
      if (other == null) {
        recruit();
      } else {
        sched.parker.unpark(other);
      }
    }
  }

  /// Has an M look around that has no post, a new one if all have: it takes the post that is
  /// vacant. {@link #wake} might take the only poller for it, and this would never end.
  private void recruit() {
    P p = null;
    M m = null;
    lock.acquire();
    if (idlePs != null) {
      p = takeIdleP();
      m = idleMs;
      if (m != null) {
        unlink(m);
      }
      wakeups++;
    }
    lock.held = 0;
    if (p != null) {
      SEARCHING.getAndAdd(this, 1);
      start(p, m);
    }
  }

  /// One turn of the watcher: W2 to W4, or W1 and another turn.
  private void keepWatch(M m) {
    long earliest = sched.earliestAlarm();
    if (earliest == watchUntil) {
      long nanos = earliest - sched.clock.nanoTime();
      if (nanos > 0) {
        sched.parker.parkNanos(nanos);
      } else {
        endWatch(m);
      }
      return;
    }
    boolean over = earliest == Alarm.NEVER;
    lock.acquire();
    if (watcher == m) {
      watchUntil = earliest;
      if (over) {
        watcher = null;
        push(m);
      }
    }
    lock.held = 0;
    if (over) {
      takePost(m); // W2, for one that is no longer the watcher
    }
  }

  /// An alarm is due. If no P is idle any more, the Ps see to it.
  private void endWatch(M m) {
    P p = null;
    lock.acquire();
    if (watcher == m) {
      watcher = null;
      watchUntil = Alarm.NEVER;
      if (idlePs == null) {
        push(m);
      } else {
        p = takeIdleP();
      }
    }
    lock.held = 0;
    if (p != null) {
      search(m, p);
    }
  }

  /// One turn of the poller: B1 to B4.
  private void keepPolling(M m) {
    int n = sched.netPoll.block(m);
    if (n == 0) {
      return; // a P was given, or it is to end, or nothing at all
    }
    P p = null;
    lock.acquire();
    if (poller == m) {
      poller = null;
      if (idlePs == null) {
        push(m);
      } else {
        p = takeIdleP();
      }
    }
    lock.held = 0;
    if (p != null) {
      search(m, p);
    }
    sched.netPoll.deliver(m, n);
  }

  /// Sleeps until this M has a P again; false if it is to end instead.
  boolean await(M m) {
    P p;
    while ((p = m.given) == null) {
      if (m.ending) {
        return false;
      }
      if (watcher == m) {
        keepWatch(m);
        if (m.p != null) {
          return true;
        }
      } else if (poller == m) {
        keepPolling(m);
        if (m.p != null) {
          return true;
        }
      } else if (m.expires) {
        sleepUntilItExpires(m);
      } else {
        sched.parker.park();
      }
      // A goroutine's interrupt never stays on its carrier, but an outsider can interrupt an M; a
      // pending interrupt would turn this loop into a spin.
      Thread.interrupted();
    }
    m.given = null;
    p.heldBy(m);
    m.spinning = m.givenSpinning;
    return true;
  }

  /// Also an M that was the watcher until now and has become one of too many: its time begins here.
  private void sleepUntilItExpires(M m) {
    long until = sched.clock.nanoTime() + EXPIRE_NANOS;
    while (m.given == null && !m.ending) {
      long left = until - sched.clock.nanoTime();
      if (left <= 0) {
        expire(m);
        return;
      }
      sched.parker.parkNanos(left);
      Thread.interrupted();
    }
  }

  /// Ends an M that was not needed for long: there had been a crowd of calls that hold their
  /// thread.
  private void expire(M m) {
    boolean ends = false;
    lock.acquire();
    if (m.inIdleList) {
      unlink(m);
      m.ending = true;
      ends = true;
    }
    lock.held = 0;
    if (ends) {
      sched.threadEnds();
    }
  }

  /// Adds Ps that have just been made.
  void add(P[] ps, int from) {
    for (int i = from; i < ps.length; i++) {
      ps[i].status = P.FREE;
      lock.acquire();
      ps[i].link = idlePs;
      idlePs = ps[i];
      idleCount = idleCount + 1;
      lock.held = 0;
    }
  }

  /// Takes `n` Ps out of use: idle ones at once, answered as a chain; for the rest, whoever comes
  /// by first.
  @Nullable P retire(int n) {
    P chain = null;
    int left = n;
    lock.acquire();
    while (left > 0 && idlePs != null) {
      P p = idlePs;
      idlePs = p.link;
      idleCount = idleCount - 1;
      p.retired = true;
      p.link = chain;
      chain = p;
      left--;
    }
    surplus = surplus + left;
    lock.held = 0;
    return chain;
  }

  /// Takes back a demand for `n` Ps to go; false, and nothing is changed, if fewer are left to go.
  boolean keep(int n) {
    lock.acquire();
    boolean kept = n <= surplus;
    if (kept) {
      surplus = surplus - n;
    }
    lock.held = 0;
    return kept;
  }

  /// Whether this P goes: it does while too many are in use.
  boolean retires(P p) {
    boolean goes = false;
    lock.acquire();
    if (surplus > 0) {
      surplus = surplus - 1;
      p.retired = true;
      goes = true;
    }
    lock.held = 0;
    return goes;
  }

  /// How many Ps have still to go.
  int surplus() {
    return surplus;
  }

  /// Lets all sleeping Ms end; new work would make new ones. Answers how many.
  int endIdleMs() {
    lock.acquire();
    M first = idleMs;
    idleMs = null;
    int n = idleMCount;
    idleMCount = 0;
    for (M m = first; m != null; m = m.idleNext) {
      m.inIdleList = false;
      m.ending = true;
    }
    M w = watcher;
    if (w != null) {
      watcher = null;
      watchUntil = Alarm.NEVER;
      w.ending = true;
      n++;
    }
    M polls = poller;
    if (polls != null) {
      poller = null;
      polls.ending = true;
      n++;
    }
    lock.held = 0;
    for (M m = first; m != null; m = m.idleNext) {
      sched.parker.unpark(m);
    }
    if (w != null) {
      sched.parker.unpark(w);
    }
    if (polls != null) {
      rouse(polls);
    }
    return n;
  }

  int idleProcs() {
    return idleCount;
  }

  /// Whether `p` is idle at this moment. For sysmon.
  boolean contains(P p) {
    boolean found = false;
    lock.acquire();
    for (P idle = idlePs; idle != null && !found; idle = idle.link) {
      found = idle == p;
    }
    lock.held = 0;
    return found;
  }

  int searching() {
    return searching;
  }

  /// Whether some M searches, or is about to look around once more.
  boolean somebodyLooks() {
    return searching != 0 || deciding != 0;
  }

  int idleMs() {
    lock.acquire();
    int n = idleMCount;
    if (watcher != null) {
      n++;
    }
    if (poller != null) {
      n++;
    }
    lock.held = 0;
    return n;
  }

  /// Whether an M sleeps in the kernel until a socket is ready, or is about to.
  boolean hasPoller() {
    return poller != null;
  }

  boolean isPoller(M m) {
    return poller == m;
  }

  /// Until when the watcher sleeps; NEVER if there is none. For sysmon.
  long watchUntil() {
    return watchUntil;
  }

  long starts() {
    return starts;
  }

  long wakeups() {
    lock.acquire();
    long n = wakeups;
    lock.held = 0;
    return n;
  }

  long handoffs() {
    lock.acquire();
    long n = handoffs;
    lock.held = 0;
    return n;
  }

  // Calls inside the lock, against SpinLock's rule: their callers are Ms near the bottom of their
  // own stack, never a goroutine.

  private P takeIdleP() {
    P p = idlePs;
    assert p != null : "no idle P";
    idlePs = p.link;
    p.link = null;
    idleCount = idleCount - 1;
    starts = starts + 1;
    return p;
  }

  private void unlink(M m) {
    if (m.idlePrevious == null) {
      idleMs = m.idleNext;
    } else {
      m.idlePrevious.idleNext = m.idleNext;
    }
    if (m.idleNext != null) {
      m.idleNext.idlePrevious = m.idlePrevious;
    }
    m.idleNext = null;
    m.idlePrevious = null;
    m.inIdleList = false;
    idleMCount--;
  }

  private void push(M m) {
    m.expires = idleMCount >= sched.maxProcs() + SPARE_MS; // those below it are woken after it
    m.idlePrevious = null;
    m.idleNext = idleMs;
    if (idleMs != null) {
      idleMs.idlePrevious = m;
    }
    idleMs = m;
    m.inIdleList = true;
    idleMCount++;
  }

  private static final VarHandle SEARCHING = handle("searching");
  private static final VarHandle DECIDING = handle("deciding");

  private static VarHandle handle(String name) {
    return ConstantBootstraps.fieldVarHandle(
        MethodHandles.lookup(), name, VarHandle.class, Idle.class, int.class);
  }
}
