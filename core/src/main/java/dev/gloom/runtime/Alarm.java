package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// Something to be done at a time: the end of a sleep, a time-out, a tick. One object is for one
/// appointment: it is armed once, and then rings or is cancelled.
///
/// It waits in the heap of the P on which it was armed ({@link TimerHeap}). To cancel it takes one
/// CAS and no lock, since most time-outs are cancelled: the heap drops it later.
///
/// Go: `timer`
public abstract class Alarm {
  /// Later than any time.
  static final long NEVER = Long.MAX_VALUE;

  private static final int FRESH = 0;
  private static final int ARMED = 1;
  private static final int DONE = 2; // has rung, or will not

  /// On the scheduler's clock; set before it is in a heap, then fixed.
  long when;

  /// The heap that it was put into last. Only for that heap's count of cancelled ones.
  @Nullable TimerHeap heap;

  /// Next of those that a heap has given out.
  @Nullable Alarm link;

  private volatile int state;

  /// Not armed.
  protected Alarm() {}

  /// What it is for. Called at most once, on a thread of the scheduler without a goroutine, which
  /// all goroutines behind it wait for: it must neither block nor throw. To make a goroutine
  /// runnable, or to start one, is what it is meant for.
  protected abstract void ring();

  /// Lets it ring at a time of `System.nanoTime`. From any thread: on the scheduler of the calling
  /// goroutine, or else on the default one.
  public static void arm(Alarm alarm, long whenNanos) {
    armAfter(alarm, whenNanos - System.nanoTime());
  }

  /// The same after a delay; if it is zero or less, as soon as possible.
  public static void armAfter(Alarm alarm, long delayNanos) {
    Headroom.checkAhead(); // the heap must not be left half changed, nor a sleeper untold
    M m = M.current();
    Sched sched = m == null ? Sched.byDefault() : m.sched;
    alarm.prepare(sched.clock, delayNanos);
    sched.arm(m, alarm);
  }

  /// Lets it ring once more. Only inside its {@link #ring}, when it is in no heap.
  protected final void again(long delayNanos) {
    assert state == DONE : "does not ring";
    state = FRESH;
    armAfter(this, delayNanos);
  }

  /// Makes sure that it does not ring; false if it is too late for that.
  public final boolean cancel() {
    if (!claim()) {
      return false;
    }
    TimerHeap h = heap;
    if (h != null) {
      h.cancelledOne();
    }
    return true;
  }

  final void prepare(Clock clock, long delayNanos) {
    assert state == FRESH : "armed twice";
    long now = clock.nanoTime();
    long at = now + Math.max(0, delayNanos);
    when = at < 0 ? NEVER - 1 : Math.min(at, NEVER - 1);
    STATE.setRelease(this, ARMED);
  }

  final boolean isArmed() {
    return state == ARMED;
  }

  /// Whether the caller is the one who ends it.
  final boolean claim() {
    return STATE.compareAndSet(this, ARMED, DONE);
  }

  private static final VarHandle STATE =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "state", VarHandle.class, Alarm.class, int.class);
}
