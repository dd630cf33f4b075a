package dev.gloom.runtime;

import dev.gloom.Scheduler;
import java.lang.reflect.Field;
import java.util.concurrent.locks.LockSupport;

/// Has the pairs of a scheduler live on two Ps all the time, whatever sysmon thinks of it, so that
/// a test meets {@link Meeting} on its way.
public final class Apart implements AutoCloseable {
  private final Thread thread;
  private volatile boolean ended;

  public Apart(Scheduler scheduler) {
    this(sched(scheduler));
  }

  Apart(Sched sched) {
    thread = Thread.ofPlatform().daemon().name("keeps pairs apart").start(() -> insist(sched));
  }

  private void insist(Sched sched) {
    while (!ended) {
      sched.apart.on = true;
      for (P p : sched.procs().all) {
        p.looks = 0;
      }
      LockSupport.parkNanos(20_000);
    }
  }

  private static Sched sched(Scheduler scheduler) {
    try {
      Field field = Scheduler.class.getDeclaredField("sched");
      field.setAccessible(true);
      return (Sched) field.get(scheduler);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    ended = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
