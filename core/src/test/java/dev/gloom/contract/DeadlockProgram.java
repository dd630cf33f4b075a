package dev.gloom.contract;

import dev.gloom.Chan;
import dev.gloom.Context;
import dev.gloom.DeadlockException;
import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import dev.gloom.Ticker;
import dev.gloom.Timer;
import java.io.FileInputStream;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/// Programs that hang, each in its own way: some for ever, and some not quite. Prints what `run`
/// threw, and how long after the last goroutine had got stuck.
final class DeadlockProgram {
  private DeadlockProgram() {}

  private static volatile long stuckAt;

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      // All asleep.
      case "park" -> report(() -> Gloom.run(DeadlockProgram::sleepForEver));
      case "join" -> report(() -> Gloom.go(DeadlockProgram::sleepForEver).join());
      case "lock" -> report(() -> Gloom.run(DeadlockProgram::lockCycle));
      case "monitor" -> report(() -> Gloom.run(DeadlockProgram::monitorCycle));
      case "joins" -> report(() -> Gloom.run(DeadlockProgram::joinCycle));
      case "nested" -> report(() -> Gloom.run(() -> Gloom.run(DeadlockProgram::sleepForEver)));
      case "callersLock" -> callersLock();
      case "afterSleep" -> report(() -> Gloom.run(DeadlockProgram::sleepBriefly));
      case "afterSocket" -> report(() -> Gloom.run(DeadlockProgram::closeSocketFirst));
      case "timersOfNobody" -> report(() -> Gloom.run(DeadlockProgram::timersOfNobody));
      case "lateJoin" -> lateJoin();
      case "threadEnds" -> threadEnds();
      case "twoSchedulers" -> twoSchedulers();
      case "again" -> again();
      case "closed" -> closed();
      case "logging" -> logging();
      // Somebody is left.
      case "thread" -> thread();
      case "timer" -> Gloom.run(DeadlockProgram::timer);
      case "ticker" -> Gloom.run(() -> new Ticker(LONG).c().recv());
      case "afterFunc" -> Gloom.run(DeadlockProgram::afterFunc);
      case "deadline" -> Gloom.run(() -> Context.background().withTimeout(LONG).done().recv());
      case "socket" -> Gloom.run(() -> socket(Integer.parseInt(args[1])));
      case "native" -> Gloom.run(DeadlockProgram::nativeCall);
      case "fifo" -> Gloom.run(() -> fifo(args[1]));
      case "referenceQueue" -> Gloom.run(() -> referenceQueue(args[1]));
      case "hook" -> Gloom.run(() -> hook(args[1]));
      case "otherScheduler" -> otherScheduler();
      case "virtual" -> virtualThread();
      case "churn" -> Gloom.run(DeadlockProgram::churn);
      default -> throw new IllegalArgumentException(args[0]);
    }
    System.out.println("end of main");
  }

  @FunctionalInterface
  private interface Action {
    void run() throws Exception;
  }

  private static void report(Action action) throws Exception {
    try {
      action.run();
      System.out.println("no deadlock");
    } catch (DeadlockException e) {
      System.out.println("after=" + (System.nanoTime() - stuckAt) / 1_000_000);
      System.out.println(e.getMessage());
      System.out.println("interrupted=" + Thread.currentThread().isInterrupted());
    }
  }

  private static void sleepForEver() {
    stuckAt = System.nanoTime();
    while (true) {
      LockSupport.park(); // a sleep leaves a permit
    }
  }

  private static void sleepBriefly() throws Exception {
    Gloom.sleep(Duration.ofMillis(20));
    sleepForEver();
  }

  /// The JDK's pollers have been started, and belong to this scheduler.
  private static void closeSocketFirst() throws Exception {
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Goroutine accepts = Gloom.go(() -> accept(server));
      while (!accepts.waitReason().equals("IO wait")) {
        Gloom.sleep(Duration.ofMillis(1));
      }
    }
    sleepForEver();
  }

  private static void accept(ServerSocket server) throws Exception {
    try {
      server.accept().close();
    } catch (SocketException e) {
      // closed
    }
  }

  private static void lockCycle() throws Exception {
    var one = new ReentrantLock();
    var two = new ReentrantLock();
    var both = new CyclicBarrier(2);
    Goroutine other = Gloom.go(() -> lockBoth(two, one, both));
    lockBoth(one, two, both);
    other.join();
  }

  private static void lockBoth(ReentrantLock first, ReentrantLock second, CyclicBarrier both)
      throws Exception {
    first.lock();
    both.await();
    stuckAt = System.nanoTime();
    second.lock();
  }

  private static void monitorCycle() throws Exception {
    var one = new Object();
    var two = new Object();
    var both = new CyclicBarrier(2);
    Gloom.go(() -> enterBoth(two, one, both));
    enterBoth(one, two, both);
  }

  private static void enterBoth(Object first, Object second, CyclicBarrier both) throws Exception {
    synchronized (first) {
      both.await();
      stuckAt = System.nanoTime();
      synchronized (second) {
        System.out.println("not reached");
      }
    }
  }

  private static void joinCycle() throws Exception {
    var one = new AtomicReference<Goroutine>();
    var two = new AtomicReference<Goroutine>();
    var started = new CountDownLatch(1);
    one.set(Gloom.go(() -> joinThe(two, started)));
    two.set(Gloom.go(() -> joinThe(one, started)));
    started.countDown();
    one.get().join();
  }

  private static void joinThe(AtomicReference<Goroutine> other, CountDownLatch started)
      throws Exception {
    started.await();
    stuckAt = System.nanoTime();
    other.get().join();
  }

  /// The thread that calls run holds what the goroutine wants.
  private static void callersLock() throws Exception {
    var lock = new ReentrantLock();
    lock.lock();
    report(
        () ->
            Gloom.run(
                () -> {
                  stuckAt = System.nanoTime();
                  lock.lock();
                }));
  }

  /// Everything has long been asleep when main begins to wait.
  private static void lateJoin() throws Exception {
    Goroutine g = Gloom.go(DeadlockProgram::sleepForEver);
    Thread.sleep(1_500);
    stuckAt = System.nanoTime();
    report(g::join);
  }

  /// The last one that could have helped ends without a word.
  private static void threadEnds() throws Exception {
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              LockSupport.parkNanos(2_000_000_000);
              stuckAt = System.nanoTime();
            });
    report(() -> Gloom.run(LockSupport::park));
  }

  private static void twoSchedulers() throws Exception {
    try (var other = Scheduler.builder().maxProcs(2).build()) {
      other.go(
          () -> {
            Gloom.sleep(Duration.ofMillis(2_000));
            sleepForEver();
          });
      report(() -> Gloom.run(LockSupport::park));
    }
  }

  private static void again() throws Exception {
    report(() -> Gloom.run(DeadlockProgram::sleepForEver));
    Gloom.run(() -> System.out.println("second run works"));
    report(() -> Gloom.run(DeadlockProgram::sleepForEver));
  }

  private static void closed() throws Exception {
    var scheduler = Scheduler.builder().build();
    report(
        () ->
            scheduler.run(
                () -> {
                  scheduler.close();
                  sleepForEver();
                }));
  }

  /// The JDK's own shutdown hooks wake nobody.
  private static void logging() throws Exception {
    System.getLogger("test").log(System.Logger.Level.DEBUG, "starts the logging");
    report(() -> Gloom.run(DeadlockProgram::sleepForEver));
  }

  // Not deadlocked.

  private static final Duration LONG = Duration.ofMillis(1_500);

  private static void thread() throws Exception {
    Gloom.run(
        () -> {
          Thread me = Thread.currentThread();
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    LockSupport.parkNanos(LONG.toNanos());
                    LockSupport.unpark(me);
                  });
          LockSupport.park();
        });
  }

  /// Timers for whose values nobody waits: one never waited for, one no longer, and a context whose
  /// deadline no longer matters.
  private static void timersOfNobody() throws Exception {
    var never = new Timer(Duration.ofHours(1));
    var noLonger = new Ticker(Duration.ofHours(1));
    Gloom.select(Gloom.recv(noLonger.c(), _ -> 1), Gloom.after(Duration.ofMillis(1), () -> 2));
    Context.background().withTimeout(Duration.ofHours(1)).close();
    sleepForEver();
    never.stop();
    noLonger.stop();
  }

  private static void afterFunc() throws Exception {
    Chan<Integer> fired = Chan.make();
    Timer.afterFunc(LONG, () -> fired.send(1));
    fired.recv();
  }

  private static void timer() throws Exception {
    Thread me = Thread.currentThread();
    Gloom.go(
        () -> {
          Gloom.sleep(LONG);
          LockSupport.unpark(me);
        });
    LockSupport.park();
  }

  private static void socket(int port) throws Exception {
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.getInputStream().read(); // no thread of this process knows when
    }
  }

  @SuppressWarnings("restricted")
  private static void nativeCall() throws Exception {
    var usleep =
        Linker.nativeLinker()
            .downcallHandle(
                Linker.nativeLinker().defaultLookup().find("usleep").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    Thread me = Thread.currentThread();
    Gloom.go(
        () -> {
          try {
            int unused = (int) usleep.invokeExact((int) LONG.toMillis() * 1_000);
          } catch (Throwable e) {
            throw new AssertionError(e);
          }
          LockSupport.unpark(me);
        });
    LockSupport.park();
  }

  private static void fifo(String path) {
    Thread me = Thread.currentThread();
    Gloom.go(
        () -> {
          try (var in = new FileInputStream(path)) {
            in.read();
          }
          LockSupport.unpark(me);
        });
    LockSupport.park();
  }

  private static void referenceQueue(String path) throws Exception {
    var queue = new ReferenceQueue<Object>();
    var reference = new WeakReference<>(new Object(), queue);
    Files.writeString(Path.of(path), String.valueOf(ProcessHandle.current().pid()));
    queue.remove();
    Reference.reachabilityFence(reference);
  }

  private static void hook(String path) throws Exception {
    var end = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(end::countDown));
    Files.writeString(Path.of(path), String.valueOf(ProcessHandle.current().pid()));
    end.await();
    System.out.println("told to end");
    Runtime.getRuntime().halt(0);
  }

  private static void otherScheduler() throws Exception {
    try (var other = Scheduler.builder().maxProcs(1).build()) {
      Gloom.run(
          () -> {
            Thread me = Thread.currentThread();
            other.go(
                () -> {
                  long until = System.nanoTime() + LONG.toNanos();
                  while (System.nanoTime() - until < 0) {
                    Thread.onSpinWait();
                  }
                  LockSupport.unpark(me);
                });
            LockSupport.park();
          });
    }
  }

  /// Nothing but monitors that go from hand to hand, so that the VM and its thread are often the
  /// only ones who know that somebody will run.
  private static void churn() throws Exception {
    var monitor = new Object();
    int n = 8;
    var turn = new int[1];
    var done = new CountDownLatch(n);
    long until = System.nanoTime() + 2 * LONG.toNanos();
    for (int i = 0; i < n; i++) {
      int me = i;
      Gloom.go(
          () -> {
            synchronized (monitor) {
              while (System.nanoTime() - until < 0) {
                while (turn[0] != me) {
                  monitor.wait();
                }
                turn[0] = (me + 1) % n;
                monitor.notifyAll();
              }
              turn[0] = (me + 1) % n;
              monitor.notifyAll();
            }
            done.countDown();
          });
    }
    done.await();
  }

  /// On the JDK's scheduler.
  private static void virtualThread() throws Exception {
    var goroutine = new AtomicReference<Thread>();
    Thread.ofVirtual()
        .start(
            () -> {
              LockSupport.parkNanos(LONG.toNanos());
              LockSupport.unpark(goroutine.get());
            });
    Gloom.run(
        () -> {
          goroutine.set(Thread.currentThread());
          LockSupport.park();
        });
  }
}
