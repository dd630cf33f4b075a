package dev.gloom.jdk;

/// Mounts by the JDK's own `runContinuation`, with all of its bookkeeping: debuggers, JFR, thread
/// dumps and interrupts see exactly what they see on the JDK's scheduler.
public final class JdkMount implements Mount {
  @Override
  public void resume(Thread vthread) {
    Vthread.run(vthread);
  }

  @Override
  @SuppressWarnings("ThreadPriorityCheck") // a virtual thread's yield is a scheduling operation
  public void suspendRunnable() {
    Thread.yield();
  }
}
