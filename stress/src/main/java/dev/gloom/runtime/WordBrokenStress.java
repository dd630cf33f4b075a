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

/// Twins of {@link WordStress} that lose wake-ups. In all of them the M's store is still in its
/// store buffer when it reads the state of the thread.
public class WordBrokenStress {
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("unpark; the M does not look at the thread again (no M4)")
  @State
  public static class UnparkWithoutReclaim extends WordModel {
    public UnparkWithoutReclaim() {
      super(PARKED);
    }

    @Actor
    public void waker() {
      unpark();
    }

    @Actor
    public void m() {
      dispatchWithoutReclaim();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("stack trace; the M does not look at the thread again (no M4)")
  @State
  public static class StackTraceWithoutReclaim extends WordModel {
    public StackTraceWithoutReclaim() {
      super(UNPARKED);
    }

    @Actor
    public void tracer() {
      stackTrace();
    }

    @Actor
    public void m() {
      dispatchWithoutReclaim();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome();
    }
  }

  /// The other design, one flag instead of the word: right only if the M clears it by a full fence.
  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("a flag queued, cleared by a release store before the task is run")
  @State
  public static class FlagClearedByRelease {
    private volatile boolean queued = true;
    private volatile boolean canContinue;
    private boolean queuedByWaker;
    private boolean ran;

    @Actor
    public void waker() {
      CAN_CONTINUE.compareAndSet(this, false, true);
      queuedByWaker = QUEUED.compareAndSet(this, false, true);
    }

    @Actor
    public void m() {
      QUEUED.setRelease(this, false);
      ran = canContinue;
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = ran ? "ran" : queuedByWaker ? "queued" : "LOST";
    }

    private static final VarHandle QUEUED = handle("queued");
    private static final VarHandle CAN_CONTINUE = handle("canContinue");

    private static VarHandle handle(String name) {
      return ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), name, VarHandle.class, FlagClearedByRelease.class, boolean.class);
    }
  }
}
