package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// The words of `Idle` that decide who is woken, its methods step by step, and the queues of one
/// busy P. Lock and queues are the real ones.
///
/// Left out: threads (an M that is woken or takes a P back is counted as a searcher and then stands
/// still, as it does in Idle until it finds something), the lists of Ps and Ms (a count, and
/// whether our M is in its list), `deciding`, retired Ps, sysmon.
class IdleModel {
  final GlobalQueue global = new GlobalQueue();
  final RunQueue queue = new RunQueue(4);
  final RunQueue yielded = new RunQueue(4);

  private final SpinLock lock = new SpinLock();
  private int idlePs; // guarded by lock
  private boolean inIdleList; // guarded by lock

  private volatile int idleCount;
  private volatile int searching;

  // Plain, each written by one actor.
  private boolean woken;
  private boolean tookBack;

  IdleModel(int idlePs, int searching) {
    this.idlePs = idlePs;
    this.idleCount = idlePs;
    this.searching = searching;
  }

  static G newG(int id) {
    return new G(null, id, 0, null, null);
  }

  // Whoever has published work.

  /// Idle.wake: S2 to S4.
  final void wake() {
    while (idleCount != 0 && searching == 0) {
      if (wakeOnce()) {
        return;
      }
      SEARCHING.getAndAdd(this, -1);
    }
  }

  /// Idle.wake that does not start over when it found no P.
  final void wakeWithoutStartingOver() {
    if (idleCount != 0 && searching == 0 && !wakeOnce()) {
      SEARCHING.getAndAdd(this, -1);
    }
  }

  /// False if the caller counts as a searcher and has found no P.
  private boolean wakeOnce() {
    if (!SEARCHING.compareAndSet(this, 0, 1)) {
      return true;
    }
    boolean found = false;
    lock.acquire();
    if (idlePs != 0) {
      idlePs--;
      idleCount = idleCount - 1;
      inIdleList = false;
      found = true;
    }
    lock.held = 0;
    if (found) {
      woken = true;
    }
    return found;
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
    if (hasQueuedWork()) {
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

  private static final VarHandle SEARCHING =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "searching", VarHandle.class, IdleModel.class, int.class);
}
