package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Body;
import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import java.io.IOException;
import java.lang.ref.ReferenceQueue;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Exchanger;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Item 134: what a goroutine waits for, in a word: each word of the table in `Waits`.
@Timeout(60)
class WaitReasonTest {
  private static final long HOUR = Duration.ofHours(1).toMillis();

  /// Ways to wait for ever, or for an hour, until interrupted.
  private static final Map<String, Map.Entry<String, Body>> WAYS = ways();

  private static Map<String, Map.Entry<String, Body>> ways() {
    var object = new Object();
    return Map.ofEntries(
        way("park", "park", LockSupport::park),
        way("parkNanos", "park", () -> LockSupport.parkNanos(HOUR * 1_000_000)),
        way("park on an object of one's own", "park", () -> LockSupport.park(object)),
        way("Thread.sleep", "sleep", () -> Thread.sleep(HOUR)),
        way("Gloom.sleep", "sleep", () -> Gloom.sleep(Duration.ofHours(1))),
        way("Object.wait", "Object.wait", () -> waitIn(new Object(), 0)),
        way("Object.wait, timed", "Object.wait", () -> waitIn(new Object(), HOUR)),
        way("ReentrantLock", "lock", WaitReasonTest::lockHeldByAnother),
        way("ReadLock", "lock", WaitReasonTest::readLockHeldByAnother),
        way(
            "StampedLock",
            "lock",
            () -> {
              var lock = new StampedLock();
              lock.writeLock();
              lock.writeLockInterruptibly();
            }),
        way(
            "Condition",
            "condition",
            () -> {
              var lock = new ReentrantLock();
              lock.lock();
              lock.newCondition().await();
            }),
        way("BlockingQueue", "condition", () -> new ArrayBlockingQueue<Integer>(1).take()),
        way("Semaphore", "semaphore", () -> new Semaphore(0).acquire()),
        way("CountDownLatch", "latch", () -> new CountDownLatch(1).await()),
        way("CyclicBarrier", "barrier", () -> new CyclicBarrier(2).await()),
        way("Phaser", "phaser", () -> new Phaser(1).awaitAdvanceInterruptibly(0)),
        way("Exchanger", "exchange", () -> new Exchanger<Integer>().exchange(1)),
        way("SynchronousQueue", "queue", () -> new SynchronousQueue<Integer>().take()),
        way("LinkedTransferQueue", "queue", () -> new LinkedTransferQueue<Integer>().take()),
        way("FutureTask", "future", () -> new FutureTask<>(() -> 1).get()),
        way("CompletableFuture", "future", () -> new CompletableFuture<Integer>().get()),
        way("Thread.join", "join", () -> join(Thread.ofPlatform().daemon())),
        way("virtual Thread.join", "join", () -> join(Thread.ofVirtual())),
        way("ReferenceQueue", "reference queue", () -> new ReferenceQueue<>().remove()),
        way("accept", "IO wait", WaitReasonTest::accept),
        way("select", "IO wait", WaitReasonTest::select),
        way("process", "process", WaitReasonTest::process));
  }

  private static Map.Entry<String, Map.Entry<String, Body>> way(
      String name, String word, Body body) {
    return Map.entry(name, Map.entry(word, body));
  }

  static Stream<String> names() {
    return WAYS.keySet().stream().sorted();
  }

  @ParameterizedTest
  @MethodSource("names")
  void saysWhatAGoroutineWaitsFor(String name) throws Exception {
    startPollersOutside();
    String word = WAYS.get(name).getKey();
    Body body = WAYS.get(name).getValue();
    try (var lab = Lab.procs(1)) {
      Goroutine g = lab.go(() -> untilInterrupted(body));
      Lab.await(name + " waits: " + word, () -> g.waitReason().equals(word));
      assertEquals(Goroutine.State.WAITING, g.state());
      String dump = lab.scheduler().dump();
      assertTrue(dump.startsWith("goroutine " + g.id() + " [" + word + "]:\n"), dump);
      g.thread().interrupt();
      g.join();
      assertEquals("", g.waitReason());
    }
  }

  @Test
  void saysThatAGoroutineWaitsForAMonitor() throws Exception {
    var monitor = new Object();
    try (var lab = Lab.procs(1)) {
      Goroutine g;
      synchronized (monitor) {
        g = lab.go(() -> enter(monitor));
        Lab.await("waits", () -> g.waitReason().equals("monitor enter"));
        String dump = lab.scheduler().dump();
        assertTrue(
            dump.startsWith(
                "goroutine 1 [monitor enter]:\ndev.gloom.api.WaitReasonTest.enter(...)\n"),
            dump);
      }
      g.join();
    }
  }

  // A native frame below keeps the goroutine on its thread; it waits all the same.
  @Test
  void saysWhatAPinnedGoroutineWaitsFor() throws Exception {
    try (var lab = Lab.procs(1)) {
      Goroutine g = lab.go(() -> Pinning.park());
      Lab.await("waits", () -> g.waitReason().equals("park"));
      LockSupport.unpark(g.thread());
      g.join();
    }
  }

  @Test
  void saysNothingOfOneThatRunsOrHasEnded() throws Exception {
    try (var lab = Lab.procs(2)) {
      lab.run(() -> assertEquals("", lab.go(() -> {}).waitReason()));
      Goroutine g = lab.go(() -> Lab.await("interrupt", Thread::interrupted));
      g.thread().interrupt();
      g.join();
      assertEquals("", g.waitReason());
    }
  }

  /// Class initialisers pin.
  private static final class Pinning {
    static {
      LockSupport.park();
    }

    static void park() {}
  }

  private static void untilInterrupted(Body body) throws Exception {
    try {
      body.run();
    } catch (InterruptedException e) {
      return;
    } catch (SocketException e) {
      assertEquals("Closed by interrupt", e.getMessage());
    }
    assertTrue(Thread.interrupted(), "ended without an interrupt");
  }

  /// The JDK's pollers are virtual threads of whoever needs them first, and stay for good.
  private static void startPollersOutside() throws Exception {
    Thread t =
        Thread.startVirtualThread(
            () -> {
              try {
                accept();
              } catch (IOException e) {
                // interrupted
              }
            });
    Lab.await("accepts", () -> t.getState() == Thread.State.WAITING);
    t.interrupt();
    t.join();
  }

  private static void enter(Object monitor) {
    synchronized (monitor) {
      LockSupport.unpark(null);
    }
  }

  private static void waitIn(Object monitor, long millis) throws InterruptedException {
    synchronized (monitor) {
      while (true) {
        monitor.wait(millis);
      }
    }
  }

  private static void lockHeldByAnother() throws InterruptedException {
    var lock = new ReentrantLock();
    Thread.ofPlatform().start(lock::lock).join();
    lock.lockInterruptibly();
  }

  private static void readLockHeldByAnother() throws InterruptedException {
    var lock = new ReentrantReadWriteLock();
    Thread.ofPlatform().start(lock.writeLock()::lock).join();
    lock.readLock().lockInterruptibly();
  }

  private static void join(Thread.Builder builder) throws InterruptedException {
    Thread t = builder.start(LockSupport::park);
    try {
      t.join();
    } finally {
      LockSupport.unpark(t);
    }
  }

  private static void accept() throws IOException {
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      server.accept();
    }
  }

  private static void select() throws IOException {
    try (var selector = Selector.open()) {
      selector.select();
    }
  }

  private static void process() throws Exception {
    Process process = new ProcessBuilder("sleep", "1000").start();
    try {
      process.waitFor();
    } finally {
      process.destroyForcibly();
    }
  }
}
