package dev.gloom.agent;

import dev.gloom.jdk.Mounted;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;

/// `mode=observe`: watches the JDK's scheduler without touching it, and says when virtual threads
/// wait because others hold every carrier: what gloom would have shared out or compensated.
///
/// A thread of its own looks ten times a second at the length of the queues, which costs nothing.
/// Only if something waits does it look for those that are mounted, among all virtual threads; and
/// it sleeps a hundred times as long as that took, so that it never takes more than a hundredth of
/// a CPU. The JDK keeps no count of mounts, so "held" is seen, not read: the same virtual threads
/// are on the same carriers at each of a dozen looks, a millisecond apart, and the queue is never
/// empty. The queue is first in, first out: a thread that had let go would be behind the others.
final class Observer implements Runnable {
  private static final long LOOK_MILLIS = 100;
  private static final long REPORT_NANOS = 1_000_000_000;

  /// Go's slice: who runs longer while others wait is asked to stop, on gloom.
  private static final int SLICE_MILLIS = 10;

  private static final int LOOKS = SLICE_MILLIS + 2;
  private static final int FRAMES = 12;

  private final ForkJoinPool jdk;
  private long lastReport = System.nanoTime() - REPORT_NANOS;

  private Observer(ForkJoinPool jdk) {
    this.jdk = jdk;
  }

  static void start(ForkJoinPool jdk) {
    Mounted.require();
    Thread t =
        Thread.ofPlatform()
            .daemon()
            .name("gloom-observer")
            .inheritInheritableThreadLocals(false)
            .unstarted(new Observer(jdk));
    t.setContextClassLoader(ClassLoader.getSystemClassLoader());
    t.start();
  }

  @Override
  public void run() {
    try {
      for (; ; ) {
        long cost = look();
        Thread.sleep(Math.max(LOOK_MILLIS, TimeUnit.NANOSECONDS.toMillis(cost * 100)));
      }
    } catch (InterruptedException _) {
      // somebody wants it to end
    }
  }

  /// Answers what it took, in nanoseconds.
  private long look() throws InterruptedException {
    if (waiting() == 0) {
      return 0;
    }
    long start = System.nanoTime();
    List<Holder> holders = holders();
    long cost = System.nanoTime() - start;
    if (holders.size() >= jdk.getParallelism()
        && start - lastReport >= REPORT_NANOS
        && areHeld(holders)) {
      lastReport = System.nanoTime();
      System.err.print(report(holders));
    }
    return cost;
  }

  private long waiting() {
    return jdk.getQueuedTaskCount() + jdk.getQueuedSubmissionCount();
  }

  private List<Holder> holders() {
    var holders = new ArrayList<Holder>();
    for (Thread vthread : Mounted.on(jdk)) {
      Thread carrier = Mounted.carrier(vthread);
      if (carrier != null) {
        holders.add(new Holder(vthread, carrier));
      }
    }
    return holders;
  }

  private boolean areHeld(List<Holder> holders) throws InterruptedException {
    for (int i = 0; i < LOOKS; i++) {
      Thread.sleep(1);
      if (waiting() == 0) {
        return false;
      }
      for (Holder h : holders) {
        if (Mounted.carrier(h.vthread) != h.carrier) {
          return false;
        }
      }
    }
    return true;
  }

  private String report(List<Holder> holders) {
    var text = new StringBuilder();
    text.append(
        "gloom: observe: %d virtual threads wait while all %d carriers are held for %d ms or more by%n"
            .formatted(waiting(), holders.size(), SLICE_MILLIS));
    for (Holder h : holders) {
      text.append(
          "  #%d \"%s\" on %s%n"
              .formatted(h.vthread.threadId(), h.vthread.getName(), h.carrier.getName()));
      StackTraceElement[] stack = h.vthread.getStackTrace();
      for (int i = 0; i < Math.min(stack.length, FRAMES); i++) {
        text.append("      at ").append(stack[i]).append(System.lineSeparator());
      }
    }
    return text.toString();
  }

  private record Holder(Thread vthread, Thread carrier) {}
}
