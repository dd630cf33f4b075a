package dev.gloom.runtime;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Twins of {@link AlarmStress} that lose alarms.
public class AlarmBrokenStress {
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("no I5: an M goes idle and does not look at the heaps")
  @State
  public static class NoLook extends IdleModel {
    private final Alarm alarm = alarm(5);

    public NoLook() {
      super(0, 0);
      heaps = new TimerHeap[] {new TimerHeap()};
    }

    @Actor
    public void armer() {
      arm(heaps[0], alarm);
    }

    @Actor
    public void m() {
      giveUpP();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = watched();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("I5 before I2: looks at the heaps while it still counts as a searcher")
  @State
  public static class LookFirst extends IdleModel {
    private final Alarm alarm = alarm(5);

    public LookFirst() {
      super(1, 1);
      heaps = new TimerHeap[] {new TimerHeap()};
      otherMs = 1;
    }

    @Actor
    public void armer() {
      arm(heaps[0], alarm);
    }

    @Actor
    public void m() {
      giveUpP();
      watch();
      stopSearching();
      await();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = watched();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("a searcher that found work does not ask whether somebody watches")
  @State
  public static class FoundWorkAndLeft extends IdleModel {
    private final Alarm alarm = alarm(5);

    public FoundWorkAndLeft() {
      super(1, 1);
      heaps = new TimerHeap[] {new TimerHeap()};
      otherMs = 1;
    }

    @Actor
    public void armer() {
      arm(heaps[0], alarm);
    }

    @Actor
    public void searcher() {
      stopSearching();
      if (hasQueuedWork()) {
        wake();
      }
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = watched();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("no W2: the watcher does not look again after it has said how long it will sleep")
  @State
  public static class NoSecondLook extends IdleModel {
    private final Alarm alarm = alarm(5);

    public NoSecondLook() {
      super(1, 0, OUR_M, 3); // for one that has been cancelled since
      heaps = new TimerHeap[] {new TimerHeap(), new TimerHeap()};
      heaps[1].add(alarm(9));
    }

    @Actor
    public void armer() {
      arm(heaps[0], alarm);
    }

    @Actor
    public void m() {
      long earliest = earliestAlarm();
      keepWatch(earliest);
      parkUntil(earliest);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = watched();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("no W2 for a watcher that stops")
  @State
  public static class NoSecondLookAtTheEnd extends IdleModel {
    private final Alarm alarm = alarm(5);

    public NoSecondLookAtTheEnd() {
      super(1, 0, OUR_M, 3); // for one that has been cancelled since
      heaps = new TimerHeap[] {new TimerHeap()};
    }

    @Actor
    public void armer() {
      arm(heaps[0], alarm);
    }

    @Actor
    public void m() {
      keepWatch(earliestAlarm());
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = watched();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("no A4: the watcher is not unparked")
  @State
  public static class WatcherNotTold extends IdleModel {
    private final Alarm alarm = alarm(5);

    public WatcherNotTold() {
      super(1, 0, OUR_M, 9);
      heaps = new TimerHeap[] {new TimerHeap(), new TimerHeap()};
      heaps[1].add(alarm(9));
    }

    @Actor
    public void armer() {
      heaps[0].add(alarm);
    }

    @Actor
    public void m() {
      await();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = watched();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("an M asks whether somebody watches before it counts as idle")
  @State
  public static class AskedTooEarly extends IdleModel {
    public AskedTooEarly() {
      super(1, 0, ANOTHER_M, 5);
      heaps = new TimerHeap[] {new TimerHeap()};
      heaps[0].add(alarm(5));
    }

    @Actor
    public void submitter() {
      wake();
      stopSearching();
    }

    @Actor
    public void m() {
      boolean nobody = !isWatched();
      giveUpP();
      if (nobody) {
        watch();
      }
      await();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = watched();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("nobody is told of an alarm that has moved, and was nowhere for a moment")
  @State
  public static class SilentMove extends IdleModel {
    public SilentMove() {
      super(0, 0);
      heaps = new TimerHeap[] {new TimerHeap(), new TimerHeap()};
      heaps[0].add(alarm(5));
    }

    @Actor
    public void mover() {
      heaps[1].add(heaps[0].close());
    }

    @Actor
    public void m() {
      release(false);
      await();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = watched();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("into a heap whose lock is given back by a release store, no fence")
  @State
  public static class Unfenced extends IdleModel {
    private final SpinLock heapLock = new SpinLock();
    private volatile long earliest = Alarm.NEVER;
    private boolean watches;

    public Unfenced() {
      super(0, 0);
    }

    @Actor
    public void armer() {
      heapLock.acquire();
      EARLIEST.setRelease(this, 5);
      HELD.setRelease(heapLock, 0);
      armed(5);
    }

    @Actor
    public void m() {
      giveUpP();
      watches = earliest != Alarm.NEVER; // I5
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = watches ? "watched" : watched(earliest);
    }

    private static final VarHandle EARLIEST =
        ConstantBootstraps.fieldVarHandle(
            MethodHandles.lookup(), "earliest", VarHandle.class, Unfenced.class, long.class);
    private static final VarHandle HELD =
        ConstantBootstraps.fieldVarHandle(
            MethodHandles.lookup(), "held", VarHandle.class, SpinLock.class, int.class);
  }
}
