package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// The watcher's protocol of `Idle`: whoever arms an alarm against an M that goes idle, searches or
/// watches. Never is there an alarm, an idle P, and nobody who looks or sleeps only until then.
/// {@link AlarmBrokenStress} is the twin.
public class AlarmStress {
  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("an alarm is armed while an M goes idle")
  @State
  public static class AgainstIdle extends IdleModel {
    private final Alarm alarm = alarm(5);

    public AgainstIdle() {
      super(0, 0);
      heaps = new TimerHeap[] {new TimerHeap()};
    }

    @Actor
    public void armer() {
      arm(heaps[0], alarm);
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
  @JCStressMeta(Grading.Sound.class)
  @Description("beside an idle P, while the M that searched goes idle")
  @State
  public static class AgainstSearcher extends IdleModel {
    private final Alarm alarm = alarm(5);

    public AgainstSearcher() {
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
      release(true);
      await();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = watched();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("the searcher that an armer relied on finds something and stops")
  @State
  public static class AgainstFoundWork extends IdleModel {
    private final Alarm alarm = alarm(5);

    public AgainstFoundWork() {
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
      foundWork();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = watched();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("while the watcher chooses a later time than it had")
  @State
  public static class AgainstWatcher extends IdleModel {
    private final Alarm alarm = alarm(5);

    public AgainstWatcher() {
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
      await();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = watched();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("while the watcher stops, since there is no alarm any more")
  @State
  public static class AgainstTheEndOfTheWatch extends IdleModel {
    private final Alarm alarm = alarm(5);

    public AgainstTheEndOfTheWatch() {
      super(1, 0, OUR_M, 3); // for one that has been cancelled since
      heaps = new TimerHeap[] {new TimerHeap()};
    }

    @Actor
    public void armer() {
      arm(heaps[0], alarm);
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
  @JCStressMeta(Grading.Sound.class)
  @Description("an earlier one, while the watcher goes to sleep")
  @State
  public static class EarlierAgainstWatcher extends IdleModel {
    private final Alarm alarm = alarm(5);

    public EarlierAgainstWatcher() {
      super(1, 0, OUR_M, 9);
      heaps = new TimerHeap[] {new TimerHeap(), new TimerHeap()};
      heaps[1].add(alarm(9));
    }

    @Actor
    public void armer() {
      arm(heaps[0], alarm);
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
  @JCStressMeta(Grading.Sound.class)
  @Description("the watcher is woken for work, which leaves no P idle, while another M goes idle")
  @State
  public static class WatcherTaken extends IdleModel {
    public WatcherTaken() {
      super(1, 0, ANOTHER_M, 5);
      heaps = new TimerHeap[] {new TimerHeap()};
      heaps[0].add(alarm(5));
    }

    @Actor
    public void submitter() {
      wake();
      stopSearching(); // and has found it
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
  @JCStressMeta(Grading.Sound.class)
  @Description("an alarm moves to another P, since its own goes, while an M goes idle")
  @State
  public static class MovedAgainstIdle extends IdleModel {
    public MovedAgainstIdle() {
      super(0, 0);
      heaps = new TimerHeap[] {new TimerHeap(), new TimerHeap()};
      heaps[0].add(alarm(5));
    }

    @Actor
    public void mover() {
      arm(heaps[1], heaps[0].close()); // Resize.moveAlarms
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
}
