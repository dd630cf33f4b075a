package dev.gloom.bench.cases;

import java.lang.management.ManagementFactory;
import java.util.concurrent.FutureTask;
import jdk.management.VirtualThreadSchedulerMXBean;

/// Virtual threads on the JDK's own scheduler.
public final class JdkThreads implements Threads {
  @Override
  public void run(Runnable root) throws Exception {
    var task = new FutureTask<Void>(root, null);
    Thread.startVirtualThread(task);
    task.get();
  }

  @Override
  public void start(Code body) {
    Thread.startVirtualThread(body);
  }

  @Override
  public void yield() {
    Thread.yield();
  }

  @Override
  public int procs() {
    return ManagementFactory.getPlatformMXBean(VirtualThreadSchedulerMXBean.class).getParallelism();
  }

  @Override
  public String version() {
    return Jvm.version();
  }
}
