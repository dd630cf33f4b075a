package dev.gloom.runtime;

import dev.gloom.jdk.Vthread;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/// What a goroutine waits for, in a word.
///
/// What waits through gloom has said so ({@link WaitReason}). What waits through Java's own classes
/// is read from its thread when somebody asks: from its state, the object it is parked on, and the
/// frames of the JDK at the top of its stack. Of those the outermost that the table knows counts: a
/// join waits in a latch, but it is a join.
///
/// | word | the goroutine is in |
/// |---|---|
/// | a Go word, see {@link WaitReason} | a wait of gloom's own |
/// | `monitor enter` | `synchronized`, held by another |
/// | `Object.wait` | `Object.wait` |
/// | `lock` | a ReentrantLock, ReentrantReadWriteLock or StampedLock, held by another |
/// | `condition` | `Condition.await`; also the blocking queues that are built on one |
/// | `semaphore` | `Semaphore.acquire` |
/// | `latch` | `CountDownLatch.await`, and the close of an executor |
/// | `barrier` | `CyclicBarrier.await` |
/// | `phaser` | `Phaser.awaitAdvance` and its like |
/// | `exchange` | `Exchanger.exchange` |
/// | `queue` | a SynchronousQueue or LinkedTransferQueue |
/// | `future` | `get` or `join` of a FutureTask, CompletableFuture or ForkJoinTask |
/// | `join` | `Thread.join`, `Goroutine.join`, and a `run` inside a goroutine |
/// | `process` | `Process.waitFor` |
/// | `reference queue` | `ReferenceQueue.remove` |
/// | `IO wait` | a read, write, accept, connect or select on a socket |
/// | `sleep` | `Thread.sleep` |
/// | `park` | `LockSupport.park` of anybody else's making |
public final class Waits {
  static final String REFERENCE_QUEUE = "reference queue";
  static final String IO = WaitReason.IO.text;

  private static final Map<String, String> BY_CLASS =
      Map.ofEntries(
          Map.entry("java.util.concurrent.locks.ReentrantLock", "lock"),
          Map.entry("java.util.concurrent.locks.ReentrantReadWriteLock", "lock"),
          Map.entry("java.util.concurrent.locks.StampedLock", "lock"),
          Map.entry(
              "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", "condition"),
          Map.entry(
              "java.util.concurrent.locks.AbstractQueuedLongSynchronizer$ConditionObject",
              "condition"),
          Map.entry("java.util.concurrent.Semaphore", "semaphore"),
          Map.entry("java.util.concurrent.CountDownLatch", "latch"),
          Map.entry("java.util.concurrent.CyclicBarrier", "barrier"),
          Map.entry("java.util.concurrent.Phaser", "phaser"),
          Map.entry("java.util.concurrent.Exchanger", "exchange"),
          Map.entry("java.util.concurrent.SynchronousQueue", "queue"),
          Map.entry("java.util.concurrent.LinkedTransferQueue", "queue"),
          Map.entry("java.util.concurrent.FutureTask", "future"),
          Map.entry("java.util.concurrent.CompletableFuture", "future"),
          Map.entry("java.util.concurrent.ForkJoinTask", "future"),
          Map.entry("java.lang.ProcessImpl", "process"),
          Map.entry("java.lang.ref.ReferenceQueue", REFERENCE_QUEUE),
          Map.entry("sun.nio.ch.Poller", IO));

  private static final Map<String, String> BY_METHOD =
      Map.of(
          "java.lang.Thread.sleep", "sleep",
          "java.lang.Thread.sleepNanos", "sleep",
          "java.lang.Thread.join", "join");

  /// These classes also run what others wait in.
  private static final Set<String> ALSO_RUNS =
      Set.of("java.util.concurrent.FutureTask.run", "java.util.concurrent.ForkJoinTask.doExec");

  private Waits() {}

  /// The word for `g` at this moment; "" if it does not wait.
  public static String of(G g) {
    return g.status() == G.Status.WAITING ? of(g, g.thread().getStackTrace()) : "";
  }

  /// The same for one that waits, with its stack at hand.
  static String of(G g, StackTraceElement[] stack) {
    WaitReason own = g.waitReason();
    if (own != null) {
      return own.text;
    }
    String word = "";
    for (StackTraceElement f : stack) {
      if (Frames.isProgram(f)) {
        break;
      }
      String known = known(f);
      word = known.isEmpty() ? word : known;
    }
    return word.isEmpty() ? byThread(g.thread()) : word;
  }

  /// The same without a look at the stack, which may have to wait for the goroutine: a little less
  /// is known.
  static String quick(G g) {
    WaitReason own = g.waitReason();
    return own == null ? byThread(g.thread()) : own.text;
  }

  private static String known(StackTraceElement f) {
    String method = f.getClassName() + "." + f.getMethodName();
    if (ALSO_RUNS.contains(method)) {
      return "";
    }
    String word = BY_METHOD.get(method);
    return word == null ? byClass(f.getClassName()) : word;
  }

  private static String byThread(Thread thread) {
    return switch (Vthread.wait(thread)) {
      case NONE -> "";
      case MONITOR -> "monitor enter";
      case OBJECT, TIMED_OBJECT -> "Object.wait";
      case PARK, TIMED_PARK -> byBlocker(thread);
    };
  }

  private static String byBlocker(Thread thread) {
    Object blocker = LockSupport.getBlocker(thread);
    String word = blocker == null ? "" : byClass(blocker.getClass().getName());
    return word.isEmpty() ? "park" : word;
  }

  private static String byClass(String name) {
    String word = BY_CLASS.get(name);
    if (word == null) {
      int nested = name.indexOf('$');
      word = nested < 0 ? null : BY_CLASS.get(name.substring(0, nested));
    }
    return word == null ? "" : word;
  }
}
