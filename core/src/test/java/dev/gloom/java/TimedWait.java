package dev.gloom.java;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import java.lang.ref.ReferenceQueue;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.Exchanger;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/// A wait with a time limit, of which nothing comes: each kind that a goroutine can be in.
///
/// @param name the call
/// @param unit the unit in which the call takes its limit
/// @param zeroIsForEver whether a limit of 0 means none
/// @param call waits for at most so many units, and answers how that ended
record TimedWait(String name, TimeUnit unit, boolean zeroIsForEver, Call call) {
  /// Answers what it returned.
  @FunctionalInterface
  interface Call {
    Object atMost(long amount) throws Exception;
  }

  @FunctionalInterface
  private interface VoidCall {
    void atMost(long amount) throws Exception;
  }

  /// How it ended: what was returned, or the exception.
  String outcome(long amount) {
    try {
      return String.valueOf(call.atMost(amount));
    } catch (Exception e) {
      return e.getClass().getName();
    }
  }

  /// What is done with a list of waits.
  @FunctionalInterface
  interface Body<T> {
    T run(List<TimedWait> waits) throws Exception;
  }

  /// Hands `body` one wait of each kind. They are not for the calling thread: it holds the locks
  /// that they wait for.
  static <T> T with(Crew crew, Body<T> body) throws Exception {
    var gate = new CountDownLatch(1);
    Goroutine never = Gloom.go(gate::await);
    Thread neverEither =
        crew.start(
            () -> {
              try {
                gate.await();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            });
    try {
      return body.run(all(neverEither, never));
    } finally {
      gate.countDown();
      never.join();
      neverEither.join();
    }
  }

  private static List<TimedWait> all(Thread never, Goroutine neverEither) {
    var held = new ReentrantLock();
    var heldForWriting = new ReentrantReadWriteLock();
    var stamped = new StampedLock();
    var empty = new Semaphore(0);
    var closed = new CountDownLatch(1);
    held.lock();
    heldForWriting.writeLock().lock();
    stamped.writeLock();
    var all = new ArrayList<TimedWait>();
    returning(all, "Thread.sleep(ms)", MILLISECONDS, Thread::sleep);
    returning(all, "Thread.sleep(Duration)", NANOSECONDS, n -> Thread.sleep(Duration.ofNanos(n)));
    returning(all, "TimeUnit.sleep", NANOSECONDS, NANOSECONDS::sleep);
    returning(all, "Gloom.sleep", NANOSECONDS, n -> Gloom.sleep(Duration.ofNanos(n)));
    returning(all, "LockSupport.parkNanos", NANOSECONDS, LockSupport::parkNanos);
    returning(
        all, "LockSupport.parkNanos(blocker)", NANOSECONDS, n -> LockSupport.parkNanos("", n));
    all.add(forEverAtZero("Object.wait(ms)", n -> waitFor(n, 0)));
    all.add(forEverAtZero("Thread.join(ms)", n -> join(never, n)));
    asking(all, "Thread.join(Duration)", NANOSECONDS, n -> never.join(Duration.ofNanos(n)));
    asking(
        all, "Goroutine.join(Duration)", NANOSECONDS, n -> neverEither.join(Duration.ofNanos(n)));
    asking(all, "ReentrantLock.tryLock", NANOSECONDS, n -> held.tryLock(n, NANOSECONDS));
    asking(
        all,
        "ReadLock.tryLock",
        NANOSECONDS,
        n -> heldForWriting.readLock().tryLock(n, NANOSECONDS));
    asking(
        all,
        "WriteLock.tryLock",
        NANOSECONDS,
        n -> heldForWriting.writeLock().tryLock(n, NANOSECONDS));
    asking(all, "StampedLock.tryWriteLock", NANOSECONDS, n -> stamped.tryWriteLock(n, NANOSECONDS));
    asking(all, "StampedLock.tryReadLock", NANOSECONDS, n -> stamped.tryReadLock(n, NANOSECONDS));
    asking(all, "Condition.awaitNanos", NANOSECONDS, n -> locked(c -> c.awaitNanos(n) <= 0));
    asking(all, "Condition.await", NANOSECONDS, n -> locked(c -> c.await(n, NANOSECONDS)));
    asking(all, "Semaphore.tryAcquire", NANOSECONDS, n -> empty.tryAcquire(n, NANOSECONDS));
    asking(all, "CountDownLatch.await", NANOSECONDS, n -> closed.await(n, NANOSECONDS));
    asking(
        all, "CyclicBarrier.await", NANOSECONDS, n -> new CyclicBarrier(2).await(n, NANOSECONDS));
    asking(
        all,
        "Phaser.awaitAdvanceInterruptibly",
        NANOSECONDS,
        n -> new Phaser(1).awaitAdvanceInterruptibly(0, n, NANOSECONDS));
    asking(
        all,
        "Exchanger.exchange",
        NANOSECONDS,
        n -> new Exchanger<>().exchange("", n, NANOSECONDS));
    asking(
        all,
        "ArrayBlockingQueue.poll",
        NANOSECONDS,
        n -> new ArrayBlockingQueue<>(1).poll(n, NANOSECONDS));
    asking(
        all,
        "ArrayBlockingQueue.offer",
        NANOSECONDS,
        n -> new ArrayBlockingQueue<>(1, false, List.of("")).offer("", n, NANOSECONDS));
    asking(
        all,
        "LinkedBlockingQueue.poll",
        NANOSECONDS,
        n -> new LinkedBlockingQueue<>().poll(n, NANOSECONDS));
    asking(
        all,
        "LinkedBlockingDeque.pollLast",
        NANOSECONDS,
        n -> new LinkedBlockingDeque<>().pollLast(n, NANOSECONDS));
    asking(
        all,
        "PriorityBlockingQueue.poll",
        NANOSECONDS,
        n -> new PriorityBlockingQueue<>().poll(n, NANOSECONDS));
    asking(
        all, "DelayQueue.poll", NANOSECONDS, n -> new DelayQueue<Delayed>().poll(n, NANOSECONDS));
    asking(
        all,
        "SynchronousQueue.poll",
        NANOSECONDS,
        n -> new SynchronousQueue<>().poll(n, NANOSECONDS));
    asking(
        all,
        "SynchronousQueue.offer",
        NANOSECONDS,
        n -> new SynchronousQueue<>(true).offer("", n, NANOSECONDS));
    asking(
        all,
        "LinkedTransferQueue.poll",
        NANOSECONDS,
        n -> new LinkedTransferQueue<>().poll(n, NANOSECONDS));
    asking(
        all,
        "LinkedTransferQueue.tryTransfer",
        NANOSECONDS,
        n -> new LinkedTransferQueue<>().tryTransfer("", n, NANOSECONDS));
    asking(all, "FutureTask.get", NANOSECONDS, n -> new FutureTask<>(() -> "").get(n, NANOSECONDS));
    asking(
        all,
        "CompletableFuture.get",
        NANOSECONDS,
        n -> new CompletableFuture<>().get(n, NANOSECONDS));
    return all;
  }

  /// Those whose limit is a point of time or whose zero or negative limit means something else; for
  /// them only ordinary durations are asked.
  static List<TimedWait> others() {
    var all = new ArrayList<TimedWait>();
    returning(
        all,
        "LockSupport.parkUntil",
        MILLISECONDS,
        n -> {
          long deadline = System.currentTimeMillis() + n + 1; // part of this one has passed
          LockSupport.parkUntil(deadline);
          if (System.currentTimeMillis() < deadline) {
            throw new AssertionError("before its deadline");
          }
        });
    asking(
        all,
        "Condition.awaitUntil",
        MILLISECONDS,
        n -> locked(c -> c.awaitUntil(new Date(System.currentTimeMillis() + n + 1))));
    all.add(forEverAtZero("Object.wait(ms, nanos)", n -> waitFor(n - 1, 999_999)));
    all.add(forEverAtZero("ReferenceQueue.remove(ms)", n -> new ReferenceQueue<>().remove(n)));
    asking(
        all,
        "CompletableFuture.orTimeout",
        NANOSECONDS,
        n -> new CompletableFuture<>().orTimeout(n, NANOSECONDS).get());
    all.add(
        forEverAtZero(
            "Selector.select(ms)",
            n -> {
              try (Selector selector = Selector.open()) {
                return selector.select(n);
              }
            }));
    return all;
  }

  private static void returning(List<TimedWait> all, String name, TimeUnit unit, VoidCall call) {
    asking(
        all,
        name,
        unit,
        n -> {
          call.atMost(n);
          return "returned";
        });
  }

  private static void asking(List<TimedWait> all, String name, TimeUnit unit, Call call) {
    all.add(new TimedWait(name, unit, false, call));
  }

  private static TimedWait forEverAtZero(String name, Call call) {
    return new TimedWait(name, MILLISECONDS, true, call);
  }

  private static String waitFor(long millis, int nanos) throws InterruptedException {
    var lock = new Object();
    synchronized (lock) {
      lock.wait(millis, nanos);
    }
    return "returned";
  }

  private static String join(Thread t, long millis) throws InterruptedException {
    t.join(millis);
    return "returned";
  }

  @FunctionalInterface
  private interface OnCondition {
    Object await(Condition condition) throws Exception;
  }

  private static Object locked(OnCondition wait) throws Exception {
    var lock = new ReentrantLock();
    lock.lock();
    try {
      return wait.await(lock.newCondition());
    } finally {
      lock.unlock();
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
