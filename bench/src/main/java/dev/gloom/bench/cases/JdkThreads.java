package dev.gloom.bench.cases;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import jdk.management.VirtualThreadSchedulerMXBean;

/// Virtual threads on the JDK's own scheduler.
public final class JdkThreads implements Threads {
  private final Channels channels;
  private final String versionPrefix;

  /// With the channels of java.util.concurrent.
  public JdkThreads() {
    this(new JdkChannels(), "");
  }

  /// With the channels of a library.
  ///
  /// @param versionPrefix its name and version, with what links it to the JVM's
  public JdkThreads(Channels channels, String versionPrefix) {
    this.channels = channels;
    this.versionPrefix = versionPrefix;
  }

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
  public void sleep(Duration duration) {
    try {
      Thread.sleep(duration);
    } catch (InterruptedException e) {
      throw Channels.unexpected(e);
    }
  }

  @Override
  public Channels channels() {
    return channels;
  }

  @Override
  public int procs() {
    return ManagementFactory.getPlatformMXBean(VirtualThreadSchedulerMXBean.class).getParallelism();
  }

  @Override
  public String version() {
    return versionPrefix + Jvm.version();
  }
}
