package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The heap of alarms in the interleavings of small scenarios and on real threads.
///
/// To ring all that is due is not one step, and need not be, so operations answer nothing. What is
/// checked, at the end of each interleaving: every alarm has rung once, or was cancelled, and no
/// heap keeps one that is due. As in {@link RunQueueLincheckTest} there are faults that it must
/// find.
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TimerHeapLincheckTest {
  private static final String[] SCENARIOS = {
    "add add | ring | cancel | cancel", // who ends it
    "add | ring | ring | cancel",
    "add add | close | add ring | cancel ring", // a P that goes
    "add | close | ring | add",
    "add add add | sweep | cancel ring | add",
    " | add ring | add cancel | close",
  };

  @Test
  void everyAlarmEndsOnceInEveryInterleaving() {
    check(modelChecking(), Ops.class);
  }

  @Test
  void everyAlarmEndsOnceOnRealThreads() {
    check(stress(), Ops.class);
  }

  @Test
  void cancelThatLooksFirstIsFound() {
    assertThrows(LincheckAssertionError.class, () -> check(modelChecking(), LooksFirst.class));
  }

  @Test
  void heapThatIsNotClosedForLateOnesIsFound() {
    assertThrows(LincheckAssertionError.class, () -> check(modelChecking(), EmptiedOnly.class));
  }

  private static <O extends Options<O, ?>> void check(O options, Class<?> ops) {
    Scenario.add(options, ops, SCENARIOS).check(ops);
  }

  /// What any thread may do. Each adds alarms of its own, and cancels the one it added last.
  @Param(name = "thread", gen = ThreadIdGen.class)
  public static class Ops {
    private static final int EACH = 8;

    final TimerHeap first = new TimerHeap();
    final TimerHeap second = new TimerHeap();
    private final Counted[] alarms = new Counted[5 * EACH]; // before, three threads, after
    private final int[] made = new int[5];

    @Operation
    public void add(@Param(name = "thread") int thread) {
      var alarm = new Counted();
      alarm.prepare(() -> 0, thread % 2); // due, and some at the same time
      alarms[thread * EACH + made[thread]++] = alarm;
      put(alarm);
    }

    void put(Alarm alarm) {
      if (first.add(alarm) == TimerHeap.Added.CLOSED) {
        second.add(alarm);
      }
    }

    @Operation
    public void cancel(@Param(name = "thread") int thread) {
      // Of another thread if there is one: those of `before` are known to all.
      Counted alarm = made[0] > 0 ? alarms[made[0] - 1] : last(thread);
      if (alarm != null && cancelled(alarm)) {
        alarm.ended.incrementAndGet();
      }
    }

    private Counted last(int thread) {
      return made[thread] == 0 ? null : alarms[thread * EACH + made[thread] - 1];
    }

    boolean cancelled(Counted alarm) {
      return alarm.cancel();
    }

    @Operation
    public void ring() {
      first.ringDue(1);
      second.ringDue(1);
    }

    @Operation
    public void sweep() {
      first.sweep();
    }

    @Operation
    public void close() {
      for (Alarm a = first.close(); a != null; ) {
        Alarm next = a.link;
        a.link = null;
        second.add(a);
        a = next;
      }
    }

    @Validate
    public void everyAlarmEndedOnce() {
      ring();
      for (Counted alarm : alarms) {
        if (alarm != null && alarm.ended.get() != 1) {
          throw new IllegalStateException("ended " + alarm.ended + " times");
        }
      }
    }
  }

  /// Counts its ends.
  private static final class Counted extends Alarm {
    final AtomicInteger ended = new AtomicInteger();

    @Override
    protected void ring() {
      ended.incrementAndGet();
    }
  }

  /// Two steps instead of a CAS.
  @Param(name = "thread", gen = ThreadIdGen.class)
  public static class LooksFirst extends Ops {
    @Override
    boolean cancelled(Counted alarm) {
      return alarm.isArmed() && (alarm.cancel() || true);
    }
  }

  /// A heap that gives out what it has and goes on: what comes later is rung by nobody.
  @Param(name = "thread", gen = ThreadIdGen.class)
  public static class EmptiedOnly extends Ops {
    private volatile boolean gone;

    @Override
    void put(Alarm alarm) {
      if (gone) {
        second.add(alarm);
      } else {
        first.add(alarm); // CLOSED is not looked at
      }
    }

    @Override
    public void close() {
      gone = true;
      super.close();
    }
  }

  private static ModelCheckingOptions modelChecking() {
    return new ModelCheckingOptions()
        .invocationsPerIteration(Seed.times(100))
        .iterations(1)
        .threads(3)
        .actorsBefore(2)
        .actorsPerThread(2)
        .actorsAfter(0);
  }

  private static StressOptions stress() {
    return new StressOptions()
        .invocationsPerIteration(Seed.times(200))
        .iterations(1)
        .threads(3)
        .actorsBefore(2)
        .actorsPerThread(2)
        .actorsAfter(0);
  }
}
