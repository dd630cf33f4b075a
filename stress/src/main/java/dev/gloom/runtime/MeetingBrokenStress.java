package dev.gloom.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// The twin of {@link MeetingStress} in which values get lost.
public class MeetingBrokenStress {
  private MeetingBrokenStress() {}

  @JCStressTest
  @JCStressMeta(Grading.Broken.class)
  @Description("the receiver looks, and then leaves by a store")
  @State
  public static class LeavesByStore {
    private static final VarHandle SLOT;

    static {
      try {
        SLOT = MethodHandles.lookup().findVarHandle(LeavesByStore.class, "slot", Object.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    private final Object waits = new Object();
    private volatile Object slot;
    private int given;
    private int received;

    @Actor
    public void sender() {
      for (int i = 0; i < 3 && given == 0; i++) {
        given += SLOT.compareAndSet(this, waits, "value") ? 1 : 0;
      }
    }

    @Actor
    public void receiver() {
      slot = waits;
      received += slot == waits ? 0 : 1;
      slot = null;
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = MeetingStress.outcome(given, received);
    }
  }
}
