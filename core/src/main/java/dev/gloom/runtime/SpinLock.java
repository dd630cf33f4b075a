package dev.gloom.runtime;

import dev.gloom.jdk.Carrier;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// A lock for a few instructions, safe on a goroutine's ready path.
///
/// Why not `synchronized` or `ReentrantLock`: the caller may be a mounted goroutine (it unparks
/// another one), and both would suspend it in the middle of the scheduler. This lock never touches
/// the goroutine: a waiter spins, then gives its core to another OS thread.
///
/// The rule that keeps it safe against a `StackOverflowError`, which can strike at any call: **a
/// critical section contains no call.** Only field and array accesses and branches; the lock is
/// released by the plain Java statement `lock.held = 0`, a volatile store and so a full fence. With
/// no call inside there is nothing that can throw, and no section needs `finally`.
///
/// ```
/// lock.acquire();
/// ... fields only ...
/// lock.held = 0;
/// ```
///
/// A section that does call something stands in a `try`, takes effect as a whole or not at all, and
/// has a handler that says `lock.held = 0`; {@link Channel} shows how. It may end with {@link
/// #release}, which is cheaper: a release store instead of a full fence.
///
/// A channel is its own lock: one object and one load less for each operation.
sealed class SpinLock permits Channel {
  /// 300 polls are some microseconds, longer than any critical section; after that the holder has
  /// lost its core and only the kernel can help.
  private static final int SPINS = 300;

  /// Who has found it held looks again after 8, 16, 32 … polls, at most so many: a microsecond or
  /// more. Each look fetches the line from the core that works with it; left alone, that core gets
  /// dozens of operations done (`./gloom bench mpmc/2p`: 26 ns a message; 66 after 1, 2, 4 … 16
  /// polls). Go looks after 30 polls each time.
  private static final int FIRST_AWAY = 8;

  private static final int MOST_AWAY = 64;

  /// 1 while somebody is inside. Written by `acquire`, and as 0 by the holder itself.
  volatile int held;

  void acquire() {
    if (!HELD.compareAndSet(this, 0, 1)) {
      acquireSlow();
    }
  }

  /// Lets go, without a fence behind it. A call, so not for a section that has no handler.
  void release() {
    HELD.setRelease(this, 0);
  }

  private void acquireSlow() {
    int away = FIRST_AWAY;
    for (int spins = 0; ; spins += away) {
      if (held == 0 && HELD.compareAndSet(this, 0, 1)) {
        return;
      }
      if (spins < SPINS) {
        for (int i = 0; i < away; i++) {
          Thread.onSpinWait();
        }
        away = Math.min(2 * away, MOST_AWAY);
      } else {
        Carrier.yieldToOs();
      }
    }
  }

  private static final VarHandle HELD =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "held", VarHandle.class, SpinLock.class, int.class);
}
