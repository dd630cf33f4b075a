package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// The words of `Idle` that decide who is woken and who watches, its methods step by step, the
/// queues of one busy P, and the timer heaps of some. Lock, queues and heaps are the real ones.
///
/// Left out: threads (an M that is woken or takes a P back is counted as a searcher and then stands
/// still, as it does in Idle until it finds something; our M, when it parks, stays parked), the
/// lists of Ps and Ms (a count, and whether our M is in its list), time (nothing is ever due),
/// `deciding`, sysmon. Retired Ps are {@link ResizeModel}'s.
class IdleModel {
  final GlobalQueue global = new GlobalQueue();
  final RunQueue queue = new RunQueue(4);
  final RunQueue yielded = new RunQueue(4);

  static final int NOBODY = 0;
  static final int OUR_M = 1;
  static final int ANOTHER_M = 2;

  /// Those of the Ps; tests without alarms need none.
  TimerHeap[] heaps = {};

  final SpinLock lock = new SpinLock();
  int idlePs; // guarded by lock
  int otherMs; // in the idle list beside ours; guarded by lock
  private boolean inIdleList; // guarded by lock

  volatile int idleCount;
  private volatile int searching;
  private volatile int watcher;
  private volatile long watchUntil;

  /// Whether the watcher has been unparked, and has not parked since.
  private volatile boolean permit;

  // Plain, each written by one actor.
  private boolean woken;
  private boolean tookBack;
  private long parkedUntil;

  IdleModel(int idlePs, int searching) {
    this(idlePs, searching, NOBODY, Alarm.NEVER);
  }

  /// With somebody who watches from the beginning.
  IdleModel(int idlePs, int searching, int watcher, long watchUntil) {
    this.idlePs = idlePs;
    this.idleCount = idlePs;
    this.searching = searching;
    this.watcher = watcher;
    this.watchUntil = watchUntil;
    this.parkedUntil = watchUntil;
  }

  /// An alarm that is armed, and in no heap yet.
  static Alarm alarm(long when) {
    var alarm =
        new Alarm() {
          @Override
          protected void ring() {}
        };
    alarm.prepare(() -> 0, when);
    return alarm;
  }

  static G newG(int id) {
    return new G(null, id, 0, null, null);
  }

  // Whoever has published work.

  /// Idle.wake: S2 to S4.
  final void wake() {
    wake(1);
  }

  /// Idle.wakeFromOutside, with many busy Ps.
  final void wakeFromOutside() {
    wake(Math.max(1, global.size()));
  }

  private void wake(int enough) {
    for (int s = searching; idleCount != 0 && s < enough; s = searching) {
      if (SEARCHING.compareAndSet(this, s, s + 1)) {
        if (startOne()) {
          return;
        }
        SEARCHING.getAndAdd(this, -1);
      }
    }
  }

  /// Idle.wake that does not start over when it found no P.
  final void wakeWithoutStartingOver() {
    if (idleCount != 0 && searching == 0 && SEARCHING.compareAndSet(this, 0, 1) && !startOne()) {
      SEARCHING.getAndAdd(this, -1);
    }
  }

  /// False if there is no P; the caller counts as a searcher.
  private boolean startOne() {
    boolean found = false;
    lock.acquire();
    if (idlePs != 0) {
      idlePs--;
      idleCount = idleCount - 1;
      found = true;
      if (idleCount == 0 && watcher != NOBODY) {
        watcher = NOBODY;
        watchUntil = Alarm.NEVER;
      } else if (inIdleList) {
        inIdleList = false;
      } else if (otherMs != 0) {
        otherMs--;
      } // else a new M is started
    }
    lock.held = 0;
    if (found) {
      woken = true;
    }
    return found;
  }

  /// Into a heap, and Idle.armed: A1 to A4. As Sched.arm.
  final void arm(TimerHeap heap, Alarm alarm) {
    if (heap.add(alarm) == TimerHeap.Added.EARLIEST) {
      armed(alarm.when);
    }
  }

  /// Idle.armed: A2 to A4.
  final void armed(long when) {
    if (idleCount != 0 && watchUntil > when) {
      if (watcher == NOBODY) {
        wake();
      } else {
        permit = true;
      }
    }
  }

  /// Sched.publishedInRing.
  final void publishedInRing() {
    VarHandle.fullFence();
    wake();
  }

  // An M.

  /// Idle.release: I1 to I3.
  final void release(boolean spinning) {
    giveUpP();
    if (spinning) {
      stopSearching();
    }
    if (hasQueuedWork()) {
      takeBack();
    } else {
      watch();
    }
  }

  /// Idle.handOff of a P without work: I1 and I3 of an M that cannot take it back.
  final void handOff() {
    giveUpP();
    if (hasQueuedWork()) {
      wake();
    }
  }

  /// Idle.foundWork.
  final void foundWork() {
    stopSearching();
    if (hasQueuedWork() || watchUntil > earliestAlarm()) {
      wake();
    }
  }

  /// I1.
  final void giveUpP() {
    lock.acquire();
    idlePs++;
    idleCount = idleCount + 1;
    inIdleList = true;
    lock.held = 0;
  }

  /// I2.
  final void stopSearching() {
    SEARCHING.getAndAdd(this, -1);
  }

  /// Idle.takeBack.
  final void takeBack() {
    boolean found = false;
    lock.acquire();
    if (inIdleList && idlePs != 0) {
      idlePs--;
      idleCount = idleCount - 1;
      inIdleList = false;
      found = true;
    }
    lock.held = 0;
    if (found) {
      tookBack = true;
      SEARCHING.getAndAdd(this, 1);
    }
  }

  /// Idle.watch: I5 and I6.
  final void watch() {
    long earliest = earliestAlarm();
    if (watchUntil <= earliest) {
      return;
    }
    lock.acquire();
    if (inIdleList && watchUntil > earliest) {
      inIdleList = false;
      if (watcher != NOBODY) {
        otherMs++;
      }
      watcher = OUR_M;
      watchUntil = earliest;
    }
    lock.held = 0;
  }

  /// Whether somebody sleeps only until the first alarm.
  final boolean isWatched() {
    return watchUntil <= earliestAlarm();
  }

  /// Idle.await until it parks.
  final void await() {
    while (watcher == OUR_M) {
      long earliest = earliestAlarm();
      if (earliest == watchUntil) { // W2
        if (!permit) {
          parkedUntil = earliest; // W4
          return;
        }
        permit = false;
      } else {
        keepWatch(earliest); // W3
        if (earliest == Alarm.NEVER) {
          watch();
        }
      }
    }
    parkedUntil = Alarm.NEVER;
  }

  /// Idle.keepWatch, the part under the lock: W1.
  final void keepWatch(long earliest) {
    lock.acquire();
    if (watcher == OUR_M) {
      watchUntil = earliest;
      if (earliest == Alarm.NEVER) {
        watcher = NOBODY;
        inIdleList = true;
      }
    }
    lock.held = 0;
  }

  /// For twins that do not look again: parks with the time that it has chosen.
  final void parkUntil(long when) {
    parkedUntil = when;
  }

  /// Sched.earliestAlarm.
  final long earliestAlarm() {
    long earliest = Alarm.NEVER;
    for (TimerHeap heap : heaps) {
      earliest = Math.min(earliest, heap.earliest());
    }
    return earliest;
  }

  /// Another M leaves the idle list with its P and has found what it was woken for.
  final void leaveIdleList() {
    lock.acquire();
    if (idlePs != 0) {
      idlePs--;
      idleCount = idleCount - 1;
    }
    lock.held = 0;
  }

  /// Sched.hasQueuedWork.
  final boolean hasQueuedWork() {
    return !global.isEmpty() || hasWorkForOthers();
  }

  /// P.hasWorkForOthers of a P that does not keep its run-next.
  boolean hasWorkForOthers() {
    return !yielded.isEmpty() || !queue.isEmpty();
  }

  // The end.

  /// The question that Sysmon.rescue asks: work, an idle P, and nobody who looks?
  final String outcome() {
    if (!hasQueuedWork()) {
      return "no work left";
    }
    if (searching != 0) {
      return woken ? tookBack ? "woken, took back" : "woken" : tookBack ? "took back" : "searching";
    }
    return idleCount != 0 ? "LOST" : "all busy";
  }

  final boolean isSearched() {
    return searching != 0;
  }

  /// The same for alarms: is there one, an idle P, and nobody who looks or sleeps only until then?
  final String watched() {
    return watched(earliestAlarm());
  }

  final String watched(long earliest) {
    if (idleCount == 0) {
      return "all busy";
    }
    if (searching != 0) {
      return woken ? "woken" : "searching";
    }
    if (watcher == OUR_M) {
      return parkedUntil <= earliest ? "watched" : permit ? "told" : "LOST";
    }
    if (watcher == ANOTHER_M) {
      return watchUntil <= earliest ? "watched by another" : permit ? "told" : "LOST";
    }
    return "LOST";
  }

  private static final VarHandle SEARCHING =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "searching", VarHandle.class, IdleModel.class, int.class);
}
