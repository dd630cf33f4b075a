package dev.gloom.runtime;

/// {@link IdleModel} with a P that comes or goes: the steps of `Resize` and of Idle's retirement.
class ResizeModel extends IdleModel {
  private volatile boolean gone;
  private final long[] far = new long[16 * 16];

  // Written by the one who resizes.
  private boolean retired;
  private int surplus;

  ResizeModel(int idlePs, int searching) {
    super(idlePs, searching);
  }

  /// Resize.dropRetired: nobody looks into its queues any more.
  final void noMoreInProcs() {
    gone = true;
  }

  @Override
  boolean hasWorkForOthers() {
    return !gone && super.hasWorkForOthers();
  }

  /// Idle.retire of one P.
  final void retire() {
    lock.acquire();
    if (idlePs != 0) {
      idlePs--;
      idleCount = idleCount - 1;
      retired = true;
    } else {
      surplus++;
    }
    lock.held = 0;
  }

  /// The same, but whether one is idle is asked before the lock is held.
  final void retireAfterALook() {
    boolean found = idleCount != 0;
    lock.acquire();
    if (found) {
      idlePs--;
      idleCount = idleCount - 1;
      retired = true;
    } else {
      surplus++;
    }
    lock.held = 0;
  }

  /// Stores to memory that this core does not have: what it stores next is long in coming out.
  final void delayStores() {
    for (int i = 0; i < far.length; i += 16) {
      far[i] = i;
    }
  }

  /// Idle.add.
  final void addP() {
    lock.acquire();
    idlePs++;
    idleCount = idleCount + 1;
    lock.held = 0;
  }

  /// What became of the only idle P.
  final String fate() {
    if (idlePs < 0) {
      return "TWICE";
    }
    return retired ? "gone at once" : surplus == 1 ? "goes when its thread comes by" : "LOST";
  }
}
