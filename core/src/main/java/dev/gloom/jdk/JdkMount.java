package dev.gloom.jdk;

import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;

/// Mounts by the JDK's own `runContinuation`, with all of its bookkeeping: debuggers, JFR, thread
/// dumps and interrupts see exactly what they see on the JDK's scheduler.
public final class JdkMount implements Mount {
  private final String why;

  /// For this reason, and not the other one.
  public JdkMount(String why) {
    this.why = why;
  }

  @Override
  public String description() {
    return "jdk: " + why;
  }

  @Override
  public long takeThreadIds(int n) {
    return 0; // the JDK gives them out itself
  }

  @Override
  public Thread make(Executor scheduler, String name, Runnable body, Runnable task, long threadId) {
    return Vthread.make(scheduler, name, body); // with a task of its own
  }

  @Override
  public boolean start(Thread vthread, Container container) {
    container.start(vthread);
    return false;
  }

  @Override
  public boolean resume(Thread vthread) {
    Vthread.run(vthread);
    return false; // who knows
  }

  @Override
  public boolean warm(Thread vthread) {
    return false; // left to the JDK
  }

  @Override
  public boolean reclaim(Thread vthread) {
    return Vthread.runnable(vthread);
  }

  @Override
  @SuppressWarnings("ThreadPriorityCheck") // a virtual thread's yield is a scheduling operation
  public void suspendRunnable() {
    Thread.yield();
  }

  @Override
  public void suspendWaiting() {
    LockSupport.park();
  }

  @Override
  public boolean wake(Thread vthread) {
    VarHandle.fullFence();
    LockSupport.unpark(vthread);
    return false;
  }
}
