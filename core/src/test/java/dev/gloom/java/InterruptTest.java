package dev.gloom.java;

import static java.util.concurrent.TimeUnit.HOURS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.api.Lab;
import java.lang.ref.ReferenceQueue;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.Exchanger;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// An interrupt in every kind of wait ends it as it does on the JDK's own virtual threads: with the
/// same exception or none, and the same interrupt flag. Afterwards the goroutine goes on.
@Timeout(240)
class InterruptTest {
  /// The calls that no interrupt ends: they return when they may, with the flag set.
  private static final String STUBBORN = "(uninterruptible) ";

  private interface Call {
    Object run() throws Exception;
  }

  private interface VoidCall {
    void run() throws Exception;
  }

  /// A call that waits, and what ends the wait in the ordinary way or clears up after it.
  private record Scene(Call call, VoidCall release) {
    static Scene of(VoidCall call) {
      return of(call, () -> {});
    }

    static Scene of(VoidCall call, VoidCall release) {
      return new Scene(
          () -> {
            call.run();
            return "returned";
          },
          release);
    }

    static Scene asking(Call call) {
      return new Scene(call, () -> {});
    }
  }

  private interface Setting {
    Scene scene(Crew crew) throws Exception;
  }

  private record Wait(String name, Setting setting) {
    boolean stubborn() {
      return name.startsWith(STUBBORN);
    }
  }

  private static List<Wait> waits() {
    var all = new ArrayList<Wait>();
    sleepsAndParks(all);
    monitorsAndJoins(all);
    locks(all);
    synchronizers(all);
    queues(all);
    futures(all);
    channels(all);
    return all;
  }

  private static void add(List<Wait> all, String name, Setting setting) {
    all.add(new Wait(name, setting));
  }

  private static void sleepsAndParks(List<Wait> all) {
    add(all, "Thread.sleep(ms)", _ -> Scene.of(() -> Thread.sleep(3_600_000)));
    add(all, "Thread.sleep(Duration)", _ -> Scene.of(() -> Thread.sleep(Duration.ofHours(1))));
    add(all, "TimeUnit.sleep", _ -> Scene.of(() -> HOURS.sleep(1)));
    add(all, "Gloom.sleep", _ -> Scene.of(() -> Gloom.sleep(Duration.ofHours(1))));
    add(all, "LockSupport.park", _ -> Scene.of(LockSupport::park));
    add(all, "LockSupport.park(blocker)", _ -> Scene.of(() -> LockSupport.park("blocker")));
    add(all, "LockSupport.parkNanos", _ -> Scene.of(() -> LockSupport.parkNanos(HOURS.toNanos(1))));
    add(
        all,
        "LockSupport.parkUntil",
        _ -> Scene.of(() -> LockSupport.parkUntil(System.currentTimeMillis() + 3_600_000)));
  }

  private static void monitorsAndJoins(List<Wait> all) {
    add(
        all,
        "Object.wait",
        _ -> {
          var lock = new Object();
          return Scene.of(
              () -> {
                synchronized (lock) {
                  lock.wait();
                }
              });
        });
    add(
        all,
        "Object.wait(ms)",
        _ -> {
          var lock = new Object();
          return Scene.of(
              () -> {
                synchronized (lock) {
                  lock.wait(3_600_000);
                }
              });
        });
    add(all, "Thread.join", crew -> joining(crew, t -> t.join()));
    add(all, "Thread.join(ms)", crew -> joining(crew, t -> t.join(3_600_000)));
    add(all, "Thread.join(Duration)", crew -> joining(crew, t -> t.join(Duration.ofHours(1))));
    add(all, "TimeUnit.timedJoin", crew -> joining(crew, t -> HOURS.timedJoin(t, 1)));
    add(
        all,
        "Goroutine.join",
        _ -> {
          var gate = new CountDownLatch(1);
          Goroutine g = Gloom.go(gate::await);
          return Scene.of(
              () -> g.join(),
              () -> {
                gate.countDown();
                g.join();
              });
        });
    add(
        all,
        "Goroutine.join(Duration)",
        _ -> {
          var gate = new CountDownLatch(1);
          Goroutine g = Gloom.go(gate::await);
          return new Scene(
              () -> g.join(Duration.ofHours(1)),
              () -> {
                gate.countDown();
                g.join();
              });
        });
  }

  private interface Joining {
    void join(Thread t) throws Exception;
  }

  private static Scene joining(Crew crew, Joining how) {
    var gate = new CountDownLatch(1);
    Thread t = crew.start(() -> awaitQuietly(gate));
    return Scene.of(
        () -> how.join(t),
        () -> {
          gate.countDown();
          t.join();
        });
  }

  private static void awaitQuietly(CountDownLatch gate) {
    try {
      gate.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void locks(List<Wait> all) {
    add(
        all,
        "ReentrantLock.lockInterruptibly",
        _ -> {
          var lock = held(new ReentrantLock());
          return Scene.of(lock::lockInterruptibly);
        });
    add(
        all,
        "ReentrantLock.tryLock(time)",
        _ -> {
          var lock = held(new ReentrantLock(true));
          return Scene.asking(() -> lock.tryLock(1, HOURS));
        });
    add(
        all,
        STUBBORN + "ReentrantLock.lock",
        _ -> {
          var lock = held(new ReentrantLock());
          return Scene.of(lock::lock, lock::unlock);
        });
    add(
        all,
        STUBBORN + "synchronized",
        crew -> {
          var monitor = new Object();
          var held = new CountDownLatch(1);
          var gate = new CountDownLatch(1);
          crew.start(
              () -> {
                synchronized (monitor) {
                  held.countDown();
                  awaitQuietly(gate);
                }
              });
          held.await();
          return Scene.of(
              () -> {
                synchronized (monitor) {
                  Thread.onSpinWait();
                }
              },
              gate::countDown);
        });
    add(
        all,
        "ReadLock.lockInterruptibly",
        _ -> {
          var lock = new ReentrantReadWriteLock();
          lock.writeLock().lock();
          return Scene.of(lock.readLock()::lockInterruptibly);
        });
    add(
        all,
        "WriteLock.tryLock(time)",
        _ -> {
          var lock = new ReentrantReadWriteLock();
          lock.readLock().lock();
          return Scene.asking(() -> lock.writeLock().tryLock(1, HOURS));
        });
    add(
        all,
        STUBBORN + "ReadLock.lock",
        _ -> {
          var lock = new ReentrantReadWriteLock();
          lock.writeLock().lock();
          return Scene.of(lock.readLock()::lock, lock.writeLock()::unlock);
        });
    add(
        all,
        "StampedLock.writeLockInterruptibly",
        _ -> {
          var lock = new StampedLock();
          lock.writeLock();
          return Scene.of(lock::writeLockInterruptibly);
        });
    add(
        all,
        "StampedLock.tryReadLock(time)",
        _ -> {
          var lock = new StampedLock();
          lock.writeLock();
          return Scene.of(() -> lock.tryReadLock(1, HOURS));
        });
    add(
        all,
        STUBBORN + "StampedLock.writeLock",
        _ -> {
          var lock = new StampedLock();
          long stamp = lock.writeLock();
          return Scene.of(lock::writeLock, () -> lock.unlockWrite(stamp));
        });
    add(all, "Condition.await", _ -> conditional(Condition::await));
    add(all, "Condition.await(time)", _ -> conditional(c -> c.await(1, HOURS)));
    add(all, "Condition.awaitNanos", _ -> conditional(c -> c.awaitNanos(HOURS.toNanos(1))));
    add(
        all,
        "Condition.awaitUntil",
        _ -> conditional(c -> c.awaitUntil(new Date(System.currentTimeMillis() + 3_600_000))));
    add(
        all,
        STUBBORN + "Condition.awaitUninterruptibly",
        _ -> conditional(Condition::awaitUninterruptibly));
  }

  private static ReentrantLock held(ReentrantLock lock) {
    lock.lock();
    return lock;
  }

  private interface Waiting {
    void on(Condition condition) throws Exception;
  }

  private static Scene conditional(Waiting waiting) {
    var lock = new ReentrantLock();
    Condition condition = lock.newCondition();
    return Scene.of(
        () -> {
          lock.lock();
          try {
            waiting.on(condition);
          } finally {
            lock.unlock(); // throws if the lock was not taken again
          }
        },
        () -> {
          lock.lock();
          condition.signalAll();
          lock.unlock();
        });
  }

  private static void synchronizers(List<Wait> all) {
    add(all, "Semaphore.acquire", _ -> Scene.of(new Semaphore(0)::acquire));
    add(
        all,
        "Semaphore.tryAcquire(time)",
        _ -> Scene.asking(() -> new Semaphore(0, true).tryAcquire(1, HOURS)));
    add(
        all,
        STUBBORN + "Semaphore.acquireUninterruptibly",
        _ -> {
          var semaphore = new Semaphore(0);
          return Scene.of(semaphore::acquireUninterruptibly, semaphore::release);
        });
    add(all, "CountDownLatch.await", _ -> Scene.of(new CountDownLatch(1)::await));
    add(
        all,
        "CountDownLatch.await(time)",
        _ -> Scene.asking(() -> new CountDownLatch(1).await(1, HOURS)));
    add(all, "CyclicBarrier.await", _ -> Scene.asking(new CyclicBarrier(2)::await));
    add(
        all,
        "CyclicBarrier.await(time)",
        _ -> Scene.asking(() -> new CyclicBarrier(2).await(1, HOURS)));
    add(
        all,
        "Phaser.awaitAdvanceInterruptibly",
        _ -> Scene.asking(() -> new Phaser(1).awaitAdvanceInterruptibly(0)));
    add(
        all,
        "Phaser.awaitAdvanceInterruptibly(time)",
        _ -> Scene.asking(() -> new Phaser(1).awaitAdvanceInterruptibly(0, 1, HOURS)));
    add(
        all,
        STUBBORN + "Phaser.awaitAdvance",
        _ -> {
          var phaser = new Phaser(1);
          return Scene.of(() -> phaser.awaitAdvance(0), phaser::arrive);
        });
    add(all, "Exchanger.exchange", _ -> Scene.asking(() -> new Exchanger<>().exchange("")));
    add(
        all,
        "Exchanger.exchange(time)",
        _ -> Scene.asking(() -> new Exchanger<>().exchange("", 1, HOURS)));
  }

  private static void queues(List<Wait> all) {
    add(all, "ArrayBlockingQueue.take", _ -> Scene.asking(new ArrayBlockingQueue<>(1)::take));
    add(
        all,
        "ArrayBlockingQueue.put",
        _ -> {
          var queue = new ArrayBlockingQueue<>(1, true, List.of(0));
          return Scene.of(() -> queue.put(1));
        });
    add(
        all,
        "ArrayBlockingQueue.offer(time)",
        _ -> {
          var queue = new ArrayBlockingQueue<>(1, false, List.of(0));
          return Scene.asking(() -> queue.offer(1, 1, HOURS));
        });
    add(all, "LinkedBlockingQueue.take", _ -> Scene.asking(new LinkedBlockingQueue<>()::take));
    add(
        all,
        "LinkedBlockingQueue.poll(time)",
        _ -> Scene.asking(() -> new LinkedBlockingQueue<>().poll(1, HOURS)));
    add(
        all,
        "LinkedBlockingDeque.takeLast",
        _ -> Scene.asking(new LinkedBlockingDeque<>()::takeLast));
    add(
        all,
        "LinkedBlockingDeque.pollFirst(time)",
        _ -> Scene.asking(() -> new LinkedBlockingDeque<>().pollFirst(1, HOURS)));
    add(all, "PriorityBlockingQueue.take", _ -> Scene.asking(new PriorityBlockingQueue<>()::take));
    add(all, "DelayQueue.take", _ -> Scene.asking(new DelayQueue<Delayed>()::take));
    add(
        all,
        "DelayQueue.poll(time)",
        _ -> Scene.asking(() -> new DelayQueue<Delayed>().poll(1, HOURS)));
    add(all, "SynchronousQueue.take", _ -> Scene.asking(new SynchronousQueue<>(true)::take));
    add(all, "SynchronousQueue.put", _ -> Scene.of(() -> new SynchronousQueue<>().put("")));
    add(
        all,
        "SynchronousQueue.poll(time)",
        _ -> Scene.asking(() -> new SynchronousQueue<>().poll(1, HOURS)));
    add(all, "LinkedTransferQueue.take", _ -> Scene.asking(new LinkedTransferQueue<>()::take));
    add(
        all,
        "LinkedTransferQueue.transfer",
        _ -> Scene.of(() -> new LinkedTransferQueue<>().transfer("")));
    add(
        all,
        "LinkedTransferQueue.tryTransfer(time)",
        _ -> Scene.asking(() -> new LinkedTransferQueue<>().tryTransfer("", 1, HOURS)));
    add(all, "ReferenceQueue.remove", _ -> Scene.asking(new ReferenceQueue<>()::remove));
    add(
        all,
        "ReferenceQueue.remove(ms)",
        _ -> Scene.asking(() -> new ReferenceQueue<>().remove(3_600_000)));
  }

  private static void futures(List<Wait> all) {
    add(all, "FutureTask.get", _ -> Scene.asking(new FutureTask<>(() -> "")::get));
    add(
        all,
        "FutureTask.get(time)",
        _ -> Scene.asking(() -> new FutureTask<>(() -> "").get(1, HOURS)));
    add(all, "CompletableFuture.get", _ -> Scene.asking(new CompletableFuture<>()::get));
    add(
        all,
        "CompletableFuture.get(time)",
        _ -> Scene.asking(() -> new CompletableFuture<>().get(1, HOURS)));
    add(
        all,
        STUBBORN + "CompletableFuture.join",
        _ -> {
          var future = new CompletableFuture<String>();
          return new Scene(future::join, () -> future.complete("completed"));
        });
    add(
        all,
        "ForkJoinTask.get",
        _ -> {
          Callable<String> never = () -> "";
          ForkJoinTask<String> task = ForkJoinTask.adapt(never); // not forked
          return Scene.asking(() -> task.get(1, HOURS));
        });
    add(
        all,
        "ExecutorService.awaitTermination",
        _ -> {
          ExecutorService executor = Executors.newSingleThreadExecutor();
          return new Scene(() -> executor.awaitTermination(1, HOURS), executor::close);
        });
    add(
        all,
        "ExecutorService.invokeAll",
        crew -> {
          ExecutorService executor = Executors.newThreadPerTaskExecutor(crew.factory());
          return Scene.of(() -> executor.invokeAll(List.of(sleeper(), sleeper())), executor::close);
        });
    add(
        all,
        "ExecutorService.invokeAny(time)",
        crew -> {
          ExecutorService executor = Executors.newThreadPerTaskExecutor(crew.factory());
          return Scene.of(
              () -> executor.invokeAny(List.of(sleeper(), sleeper()), 1, HOURS), executor::close);
        });
    add(
        all,
        "ExecutorService.close",
        crew -> {
          ExecutorService executor = Executors.newThreadPerTaskExecutor(crew.factory());
          FutureTask<String> sleeps = new FutureTask<>(sleeper());
          executor.execute(sleeps);
          return Scene.of(executor::close);
        });
    add(
        all,
        "ExecutorCompletionService.take",
        _ -> {
          var service = new ExecutorCompletionService<String>(Runnable::run);
          return Scene.asking(() -> service.take().resultNow());
        });
  }

  private static Callable<String> sleeper() {
    return () -> {
      HOURS.sleep(1);
      return "";
    };
  }

  private static void channels(List<Wait> all) {
    var here = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    add(
        all,
        "ServerSocketChannel.accept",
        _ -> {
          ServerSocketChannel server = ServerSocketChannel.open().bind(here);
          return Scene.of(server::accept, server::close);
        });
    add(
        all,
        "ServerSocket.accept",
        _ -> {
          var server = new ServerSocket(0, 1, here.getAddress());
          return Scene.of(server::accept, server::close);
        });
    add(
        all,
        "Socket read",
        _ -> {
          var server = new ServerSocket(0, 1, here.getAddress());
          var client = new Socket(here.getAddress(), server.getLocalPort());
          return Scene.of(
              () -> client.getInputStream().read(),
              () -> {
                client.close();
                server.close();
              });
        });
    add(
        all,
        "Pipe read",
        _ -> {
          Pipe pipe = Pipe.open();
          return Scene.of(
              () -> pipe.source().read(ByteBuffer.allocate(1)),
              () -> {
                pipe.source().close();
                pipe.sink().close();
              });
        });
    add(
        all,
        "Selector.select",
        _ -> {
          Selector selector = Selector.open();
          return new Scene(selector::select, selector::close);
        });
  }

  // The test.

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void endsAWaitAsOnTheJdk(int procs) throws Exception {
    var expected = Crew.onTheJdk(0, 1, crew -> outcomes(crew, false));
    assertEquals(waits().size(), expected.size());
    assertEquals(expected, Crew.onGloom(procs, 0, 1, crew -> outcomes(crew, false)));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void thatCameBeforeEndsAWaitAsOnTheJdk(int procs) throws Exception {
    var expected = Crew.onTheJdk(0, 1, crew -> outcomes(crew, true));
    assertEquals(expected, Crew.onGloom(procs, 0, 1, crew -> outcomes(crew, true)));
  }

  /// What the comparison with the JDK cannot see: that the table means what it says.
  @Test
  void isInterruptedExceptionWithTheFlagClearedForMost() throws Exception {
    var outcomes = Crew.onGloom(2, 0, 1, crew -> outcomes(crew, false));
    outcomes.forEach(
        (name, outcome) -> {
          if (name.startsWith(STUBBORN)) {
            assertTrue(outcome.endsWith("flag true, went on"), name + ": " + outcome);
          }
        });
    for (String name :
        List.of(
            "Thread.sleep(ms)",
            "Gloom.sleep",
            "Object.wait(ms)",
            "Goroutine.join",
            "Goroutine.join(Duration)",
            "ReentrantLock.lockInterruptibly",
            "ArrayBlockingQueue.take",
            "FutureTask.get(time)")) {
      assertEquals("java.lang.InterruptedException, flag false, went on", outcomes.get(name), name);
    }
    assertEquals("returned, flag true, went on", outcomes.get("LockSupport.park"));
  }

  private static TreeMap<String, String> outcomes(Crew crew, boolean before) throws Exception {
    var outcomes = new TreeMap<String, String>();
    for (Wait wait : waits()) {
      outcomes.put(wait.name, outcome(crew, wait, before));
    }
    return outcomes;
  }

  private static String outcome(Crew crew, Wait wait, boolean before) throws Exception {
    Scene scene = wait.setting.scene(crew);
    var outcome = new StringBuffer();
    var seen = new CountDownLatch(1);
    var after = new CountDownLatch(1);
    Thread t =
        crew.start(
            () -> {
              if (before) {
                Thread.currentThread().interrupt();
              }
              try {
                outcome.append(scene.call.run());
              } catch (Throwable e) {
                outcome.append(e.getClass().getName());
              }
              outcome.append(", flag ").append(Thread.interrupted());
              seen.countDown();
              goOn(outcome, after);
            });
    if (!before) {
      Lab.await(wait.name + " waits", () -> waits(t));
      t.interrupt();
    }
    if (wait.stubborn()) {
      Lab.await(wait.name + " goes on waiting", () -> waits(t));
      scene.release.run();
    }
    if (!seen.await(30, java.util.concurrent.TimeUnit.SECONDS)) {
      return "never ends, " + t.getState();
    }
    after.countDown();
    t.join();
    if (!wait.stubborn()) {
      scene.release.run();
    }
    return outcome.toString();
  }

  private static boolean waits(Thread t) {
    return switch (t.getState()) {
      case WAITING, TIMED_WAITING, BLOCKED -> true;
      default -> false;
    };
  }

  /// The goroutine is not lost: it can yield, sleep and be woken as before.
  @SuppressWarnings("ThreadPriorityCheck") // a yield is meant
  private static void goOn(StringBuffer outcome, CountDownLatch after) {
    try {
      Thread.yield();
      Thread.sleep(0, 100_000);
      after.await();
      outcome.append(", went on");
    } catch (InterruptedException e) {
      outcome.append(", interrupted again");
    }
  }
}
