package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// What {@link IdleModel} has, and the poller: who waits for a socket, who sleeps in the kernel for
/// it, and how that one is woken.
///
/// Left out: the kernel. Its eventfd is a flag that stays set until somebody takes it, and a sleep
/// there ends if the flag is set; sockets are never ready.
class PollModel extends IdleModel {
  private volatile int waiting;
  private volatile int poller;

  // Of the M that is the poller.
  private volatile boolean inPoll;
  private volatile boolean given;
  private volatile boolean unparked;
  private volatile int event;
  private volatile int blocking;
  private boolean sleeps; // plain: its M writes, the arbiter reads

  PollModel(int idlePs, int searching, int poller, int waiting) {
    super(idlePs, searching);
    this.poller = poller;
    this.waiting = waiting;
  }

  /// One that sleeps in the kernel, and a break on its way to it.
  PollModel() {
    this(0, 0, ANOTHER_M, 1);
    given = true;
    inPoll = true;
    event = 1;
    blocking = 1;
    sleeps = true;
  }

  // A goroutine whose M has no P.

  /// N1 to N4.
  final void waitForSocket() {
    WAITING.getAndAdd(this, 1);
    awaited();
  }

  /// N1 without a fence.
  final void waitForSocketUnfenced() {
    WAITING.setRelease(this, 1);
    awaited();
  }

  /// Idle.awaited: N3 and N4.
  private void awaited() {
    if (poller == NOBODY && idleCount != 0) {
      wake();
    }
  }

  /// Idle.wake for work, when the poller is the only M and the P the last that is idle: it is
  /// taken.
  final void wakeThePoller() {
    lock.acquire();
    boolean found = idlePs == 1 && poller == ANOTHER_M;
    if (found) {
      idlePs = 0;
      idleCount = 0;
      poller = NOBODY;
    }
    lock.held = 0;
  }

  // An M.

  /// Idle.takePost: I7 and I8.
  final void takePost() {
    takePost(wantsPoller());
  }

  /// I7.
  final boolean wantsPoller() {
    return waiting != 0 && poller == NOBODY;
  }

  /// I8.
  final void takePost(boolean wanted) {
    if (!wanted) {
      return;
    }
    lock.acquire();
    if (poller == NOBODY) {
      poller = OUR_M;
    }
    lock.held = 0;
  }

  // The poller and whoever gives it a P.

  /// Idle.start and rouse.
  final void give() {
    given = true;
    if (inPoll) {
      event = 1;
    } else {
      unparked = true;
    }
  }

  /// NetPoll.blockAlone: B1 to B3; the sleep itself is asked for at the end.
  final void block() {
    inPoll = true;
    sleeps = !given;
    if (!sleeps) {
      inPoll = false;
    }
  }

  /// B1 without a fence.
  final void blockUnfenced() {
    IN_POLL.setRelease(this, true);
    sleeps = !given;
    if (!sleeps) {
      inPoll = false;
    }
  }

  /// B2 before B1.
  final void blockLookingFirst() {
    boolean found = given;
    inPoll = true;
    sleeps = !found;
    if (!sleeps) {
      inPoll = false;
    }
  }

  /// The kernel wakes the one that the break is for.
  final void leave() {
    if (EVENT.compareAndSet(this, 1, 0)) {
      sleeps = false;
      inPoll = false;
      blocking = 0;
    }
  }

  /// B0: another one comes to sleep there.
  final void enter() {
    if (BLOCKING.compareAndSet(this, 0, 1)) {
      enterAnyway();
    }
  }

  /// It meets a break, takes it away and goes on.
  final void enterAnyway() {
    EVENT.compareAndSet(this, 1, 0);
  }

  // The end.

  /// Somebody waits, a P is idle, and nobody polls or looks?
  final String polled() {
    if (waiting == 0 || idleCount == 0) {
      return "all busy";
    }
    if (isSearched()) {
      return "searching";
    }
    return poller == NOBODY ? "LOST" : "polled";
  }

  /// Does the poller sleep on what it was given?
  final String told() {
    if (!sleeps) {
      return "saw it";
    }
    return event != 0 ? "told" : "LOST";
  }

  private static final VarHandle WAITING = handle("waiting", int.class);
  private static final VarHandle EVENT = handle("event", int.class);
  private static final VarHandle BLOCKING = handle("blocking", int.class);
  private static final VarHandle IN_POLL = handle("inPoll", boolean.class);

  private static VarHandle handle(String name, Class<?> type) {
    return ConstantBootstraps.fieldVarHandle(
        MethodHandles.lookup(), name, VarHandle.class, PollModel.class, type);
  }
}
