package dev.gloom.dropin;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/// What a program can see of virtual threads, asked one by one: each check prints a line, `name TAB
/// answer`. Knows nothing of gloom; its answers must be the same with the agent and without.
public final class ChecksProgram {
  private static final Map<String, Callable<Object>> CHECKS = new LinkedHashMap<>();
  private static final long PATIENCE_NANOS = 30_000_000_000L;

  private ChecksProgram() {}

  public static void main(String[] args) throws Exception {
    parking();
    sleeping();
    monitors();
    locals();
    api();
    stackTraces();
    interrupts();
    uncaught();
    executors();
    dumps();
    events();
    for (Map.Entry<String, Callable<Object>> check : CHECKS.entrySet()) {
      System.out.println(check.getKey() + "\t" + answer(check.getValue()));
    }
    shutdown();
  }

  private static String answer(Callable<Object> check) {
    try {
      return String.valueOf(check.call());
    } catch (Throwable e) {
      return "threw " + e;
    }
  }

  // Parking.

  private static void parking() {
    check("park: unpark wakes", () -> inVirtual(LockSupport::park, ChecksProgram::unparkParked));
    check(
        "park: permit given before",
        () ->
            ended(
                () -> {
                  LockSupport.unpark(Thread.currentThread());
                  LockSupport.park();
                }));
    check(
        "park: permits do not add up",
        () ->
            answerOf(
                () -> {
                  LockSupport.unpark(Thread.currentThread());
                  LockSupport.unpark(Thread.currentThread());
                  LockSupport.park();
                  return atLeast(20, () -> LockSupport.parkNanos(20_000_000));
                }));
    check("park: for a time", () -> answerOf(() -> atLeast(20, () -> park(20))));
    check(
        "park: until a time",
        () ->
            answerOf(
                () -> atLeast(15, () -> LockSupport.parkUntil(System.currentTimeMillis() + 20))));
    check("park: zero time", () -> ended(() -> LockSupport.parkNanos(0)));
    check(
        "park: state and blocker",
        () -> {
          var blocker = new StringBuilder("the blocker");
          Thread t = Thread.startVirtualThread(() -> LockSupport.park(blocker));
          await(() -> t.getState() == Thread.State.WAITING);
          String seen = t.getState() + " " + LockSupport.getBlocker(t);
          LockSupport.unpark(t);
          t.join();
          return seen + " " + t.getState();
        });
    check(
        "park: timed state",
        () -> {
          Thread t = Thread.startVirtualThread(() -> LockSupport.parkNanos(PATIENCE_NANOS));
          await(() -> t.getState() == Thread.State.TIMED_WAITING);
          LockSupport.unpark(t);
          return t.join(Duration.ofSeconds(30));
        });
    check(
        "park: 10,000 hand-overs",
        () -> {
          var queue = new SynchronousQueue<Integer>();
          Thread t =
              Thread.startVirtualThread(
                  () -> {
                    for (int i = 0; i < 10_000; i++) {
                      uninterrupted(() -> queue.put(1));
                    }
                  });
          return answerOf(
              () -> {
                int sum = 0;
                for (int i = 0; i < 10_000; i++) {
                  sum += queue.take();
                }
                t.join();
                return sum;
              });
        });
  }

  // Sleeping.

  private static void sleeping() {
    check("sleep: at least so long", () -> answerOf(() -> atLeast(20, () -> sleep(20))));
    check("sleep: a Duration", () -> answerOf(() -> atLeast(20, () -> sleepFor(20))));
    check("sleep: zero", () -> ended(() -> sleep(0)));
    check("sleep: negative", () -> answerOf(() -> thrown(() -> Thread.sleep(-1))));
    check("sleep: negative Duration", () -> ended(() -> sleepFor(-1)));
    check(
        "sleep: 1,000 at once",
        () -> {
          long start = System.nanoTime();
          var all = new ArrayList<Thread>();
          for (int i = 0; i < 1_000; i++) {
            all.add(Thread.startVirtualThread(() -> sleep(50)));
          }
          for (Thread t : all) {
            t.join();
          }
          long millis = (System.nanoTime() - start) / 1_000_000;
          return millis >= 50 && millis < 20_000;
        });
  }

  // Monitors.

  private static void monitors() {
    check(
        "monitor: excludes",
        () -> {
          var lock = new Object();
          var count = new int[1];
          var all = new ArrayList<Thread>();
          for (int i = 0; i < 100; i++) {
            all.add(
                Thread.startVirtualThread(
                    () -> {
                      for (int j = 0; j < 100; j++) {
                        synchronized (lock) {
                          count[0]++;
                        }
                      }
                    }));
          }
          for (Thread t : all) {
            t.join();
          }
          return count[0];
        });
    check(
        "monitor: blocked state, and entered again",
        () -> {
          var lock = new Object();
          Thread t;
          boolean blocked;
          synchronized (lock) {
            t = Thread.startVirtualThread(() -> enterTwice(lock));
            await(() -> t.getState() == Thread.State.BLOCKED);
            blocked = t.getState() == Thread.State.BLOCKED;
          }
          t.join();
          return blocked + " " + t.getState();
        });
    check(
        "monitor: held while parked",
        () -> {
          var lock = new Object();
          Thread holder =
              Thread.startVirtualThread(
                  () -> {
                    synchronized (lock) {
                      LockSupport.park();
                    }
                  });
          await(() -> holder.getState() == Thread.State.WAITING);
          Thread other = Thread.startVirtualThread(() -> enterTwice(lock));
          await(() -> other.getState() == Thread.State.BLOCKED);
          LockSupport.unpark(holder);
          return other.join(Duration.ofSeconds(30));
        });
    check(
        "wait: notify",
        () -> {
          var lock = new Object();
          var woken = new AtomicInteger();
          var all = new ArrayList<Thread>();
          for (int i = 0; i < 3; i++) {
            all.add(
                Thread.startVirtualThread(
                    () ->
                        uninterrupted(
                            () -> {
                              synchronized (lock) {
                                lock.wait();
                                woken.incrementAndGet();
                              }
                            })));
          }
          for (Thread t : all) {
            await(() -> t.getState() == Thread.State.WAITING);
          }
          synchronized (lock) {
            lock.notify();
          }
          await(() -> woken.get() == 1);
          synchronized (lock) {
            lock.notifyAll();
          }
          for (Thread t : all) {
            t.join();
          }
          return woken.get();
        });
    check(
        "wait: for a time",
        () ->
            answerOf(
                () -> {
                  var lock = new Object();
                  return atLeast(
                      20,
                      () ->
                          uninterrupted(
                              () -> {
                                synchronized (lock) {
                                  lock.wait(20);
                                }
                              }));
                }));
    check(
        "wait: without the monitor",
        () -> answerOf(() -> thrown(() -> new Object().wait()).getClass()));
    check(
        "monitor: holdsLock",
        () ->
            answerOf(
                () -> {
                  var lock = new Object();
                  boolean before = Thread.holdsLock(lock);
                  synchronized (lock) {
                    return before + " " + Thread.holdsLock(lock);
                  }
                }));
    check(
        "lock: ReentrantLock and its condition",
        () -> {
          var lock = new ReentrantLock();
          var condition = lock.newCondition();
          Thread t =
              Thread.startVirtualThread(
                  () ->
                      uninterrupted(
                          () -> {
                            lock.lock();
                            try {
                              condition.await();
                            } finally {
                              lock.unlock();
                            }
                          }));
          await(() -> t.getState() == Thread.State.WAITING);
          lock.lock();
          condition.signal();
          lock.unlock();
          return t.join(Duration.ofSeconds(30)) + " " + lock.isLocked();
        });
  }

  // Thread locals.

  private static final ThreadLocal<String> LOCAL = ThreadLocal.withInitial(() -> "initial");
  private static final InheritableThreadLocal<String> INHERITED = new InheritableThreadLocal<>();
  private static final ScopedValue<String> SCOPED = ScopedValue.newInstance();

  private static void locals() {
    check(
        "local: each its own",
        () -> {
          LOCAL.set("main's");
          String theirs =
              answerOf(
                  () -> {
                    String before = LOCAL.get();
                    LOCAL.set("mine");
                    Thread.yield();
                    sleep(1);
                    return before + ", " + LOCAL.get();
                  });
          return theirs + ", " + LOCAL.get();
        });
    check(
        "local: inherited, or not",
        () -> {
          INHERITED.set("from the parent");
          var seen = new AtomicReference<String>();
          Thread.ofVirtual().start(() -> seen.set(INHERITED.get())).join();
          String first = seen.get();
          Thread.ofVirtual()
              .inheritInheritableThreadLocals(false)
              .start(() -> seen.set(INHERITED.get()))
              .join();
          INHERITED.remove();
          return first + ", " + seen.get();
        });
    check(
        "local: scoped value",
        () -> answerOf(() -> ScopedValue.where(SCOPED, "bound").call(ChecksProgram::scopedLater)));
  }

  private static String scopedLater() {
    sleep(1);
    return SCOPED.get();
  }

  // The API of Thread.

  private static void api() {
    check(
        "thread: what it is",
        () ->
            answerOf(
                () -> {
                  Thread t = Thread.currentThread();
                  return "virtual="
                      + t.isVirtual()
                      + " daemon="
                      + t.isDaemon()
                      + " priority="
                      + t.getPriority()
                      + " group="
                      + t.getThreadGroup().getName()
                      + " name=\""
                      + t.getName()
                      + "\" alive="
                      + t.isAlive()
                      + " state="
                      + t.getState();
                }));
    check(
        "thread: text",
        () -> {
          Thread t = Thread.ofVirtual().name("texted").unstarted(() -> {});
          String before = noNumbers(t);
          t.start();
          t.join();
          return before + ", " + noNumbers(t);
        });
    check(
        "thread: cannot be otherwise",
        () ->
            answerOf(
                () -> {
                  Thread t = Thread.currentThread();
                  t.setPriority(Thread.MAX_PRIORITY);
                  return t.getPriority() + " " + thrown(() -> t.setDaemon(false));
                }));
    check(
        "thread: names",
        () -> {
          var names = new LinkedBlockingQueue<String>();
          var factory = Thread.ofVirtual().name("worker-", 7).factory();
          for (int i = 0; i < 2; i++) {
            Thread t = factory.newThread(() -> names.add(Thread.currentThread().getName()));
            t.start();
            t.join();
          }
          Thread t =
              Thread.ofVirtual()
                  .name("first")
                  .start(
                      () -> {
                        Thread.currentThread().setName("second");
                        names.add(Thread.currentThread().getName());
                      });
          t.join();
          return names + " " + t.getName();
        });
    check(
        "thread: states from new to ended",
        () -> {
          var go = new CountDownLatch(1);
          Thread t = Thread.ofVirtual().unstarted(() -> uninterrupted(go::await));
          String states = t.getState() + " " + t.isAlive();
          t.start();
          await(() -> t.getState() == Thread.State.WAITING);
          states += ", " + t.getState() + " " + t.isAlive();
          go.countDown();
          t.join();
          return states + ", " + t.getState() + " " + t.isAlive();
        });
    check(
        "thread: started twice",
        () -> {
          Thread t = Thread.startVirtualThread(() -> {});
          t.join();
          return thrown(t::start).getClass();
        });
    check(
        "thread: join for a time",
        () -> {
          Thread t = Thread.startVirtualThread(LockSupport::park);
          boolean before = t.join(Duration.ofMillis(20));
          unparkParked(t);
          return before + " " + t.join(Duration.ofSeconds(30));
        });
    check(
        "thread: join of one not started",
        () -> thrown(() -> Thread.ofVirtual().unstarted(() -> {}).join(Duration.ofMillis(1))));
    check(
        "thread: identity over suspensions",
        () ->
            answerOf(
                () -> {
                  Thread before = Thread.currentThread();
                  long id = before.threadId();
                  for (int i = 0; i < 100; i++) {
                    Thread.yield();
                    LockSupport.parkNanos(1_000);
                  }
                  return before == Thread.currentThread() && id == before.threadId();
                }));
    check(
        "thread: context class loader is the parent's",
        () -> {
          ClassLoader before = Thread.currentThread().getContextClassLoader();
          var other = new ClassLoader(null) {};
          Thread.currentThread().setContextClassLoader(other);
          try {
            return answerOf(() -> Thread.currentThread().getContextClassLoader() == other);
          } finally {
            Thread.currentThread().setContextClassLoader(before);
          }
        });
    check(
        "thread: not among platform threads",
        () -> answerOf(() -> Thread.getAllStackTraces().containsKey(Thread.currentThread())));
    check(
        "thread: started in another",
        () ->
            answerOf(
                () -> {
                  var names = new LinkedBlockingQueue<String>();
                  Thread t =
                      Thread.ofVirtual()
                          .name("child")
                          .start(() -> names.add(Thread.currentThread().getName()));
                  t.join();
                  return names + " " + t.isVirtual();
                }));
    check(
        "thread: visible to who joins",
        () -> {
          int wrong = 0;
          for (int i = 0; i < 1_000; i++) {
            var box = new int[1];
            Thread t = Thread.startVirtualThread(() -> box[0] = 1);
            t.join();
            wrong += 1 - box[0];
          }
          return wrong;
        });
  }

  // Stack traces.

  private static void stackTraces() {
    check(
        "stack: not started", () -> Thread.ofVirtual().unstarted(() -> {}).getStackTrace().length);
    check(
        "stack: parked",
        () -> {
          Thread t = Thread.startVirtualThread(ChecksProgram::parkHere);
          await(() -> t.getState() == Thread.State.WAITING);
          String trace = frames(t.getStackTrace());
          LockSupport.unpark(t);
          t.join();
          return trace;
        });
    check(
        "stack: running",
        () -> {
          var stop = new AtomicInteger();
          Thread t = Thread.startVirtualThread(() -> spinHere(stop));
          await(() -> stop.get() == 1);
          String trace = frames(t.getStackTrace());
          stop.set(2);
          t.join();
          return trace.substring(trace.indexOf("spinHere"));
        });
    check(
        "stack: ended",
        () -> {
          Thread t = Thread.startVirtualThread(() -> {});
          t.join();
          return t.getStackTrace().length;
        });
    check("stack: of an exception", () -> answerOf(() -> frames(new Exception().getStackTrace())));
    check("stack: its own", () -> answerOf(ChecksProgram::ownStack));
    check(
        "stack: walked",
        () ->
            answerOf(
                () ->
                    StackWalker.getInstance()
                        .walk(
                            s ->
                                s.map(StackWalker.StackFrame::getMethodName)
                                    .collect(Collectors.joining(" ")))
                        .replaceAll("lambda\\$\\w+\\$\\d+", "lambda")));
    check(
        "stack: taken while it runs and parks",
        () -> {
          var stop = new AtomicInteger();
          Thread t =
              Thread.startVirtualThread(
                  () -> {
                    while (stop.get() == 0) {
                      LockSupport.parkNanos(1_000);
                    }
                  });
          for (int i = 0; i < 300; i++) {
            t.getStackTrace();
          }
          stop.set(1);
          return t.join(Duration.ofSeconds(30));
        });
  }

  private static void parkHere() {
    LockSupport.park();
  }

  private static void spinHere(AtomicInteger stop) {
    stop.set(1);
    while (stop.get() == 1) {
      Thread.onSpinWait();
    }
  }

  private static String ownStack() {
    return Thread.currentThread().getStackTrace()[1].getMethodName();
  }

  // Interrupts.

  private static void interrupts() {
    check(
        "interrupt: before park",
        () ->
            answerOf(
                () -> {
                  Thread.currentThread().interrupt();
                  LockSupport.park();
                  return Thread.currentThread().isInterrupted()
                      + " "
                      + Thread.interrupted()
                      + " "
                      + Thread.interrupted();
                }));
    check("interrupt: parked", () -> interrupted(Thread.State.WAITING, LockSupport::park));
    check(
        "interrupt: sleeping",
        () -> interrupted(Thread.State.TIMED_WAITING, () -> Thread.sleep(60_000)));
    check(
        "interrupt: waiting",
        () ->
            interrupted(
                Thread.State.WAITING,
                () -> {
                  var lock = new Object();
                  synchronized (lock) {
                    lock.wait();
                  }
                }));
    check(
        "interrupt: taking from a queue",
        () -> interrupted(Thread.State.WAITING, () -> new LinkedBlockingQueue<>().take()));
    check(
        "interrupt: joining",
        () -> {
          Thread parked = Thread.startVirtualThread(LockSupport::park);
          String seen = interrupted(Thread.State.WAITING, parked::join);
          unparkParked(parked);
          parked.join();
          return seen;
        });
    check(
        "interrupt: waiting for a lock",
        () -> {
          var lock = new ReentrantLock();
          lock.lock();
          try {
            return interrupted(Thread.State.WAITING, lock::lockInterruptibly);
          } finally {
            lock.unlock();
          }
        });
    check(
        "interrupt: accepting on a channel",
        () -> {
          try (var server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            return interrupted(Thread.State.WAITING, server::accept) + " " + server.isOpen();
          }
        });
    check(
        "interrupt: reading a socket",
        () -> {
          try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
              var client = new Socket(server.getInetAddress(), server.getLocalPort());
              var accepted = server.accept()) {
            String seen = interrupted(Thread.State.WAITING, () -> client.getInputStream().read());
            return seen + " " + client.isClosed() + " " + accepted.isClosed();
          }
        });
    check(
        "interrupt: of one that has ended",
        () -> {
          Thread t = Thread.startVirtualThread(() -> {});
          t.join();
          t.interrupt();
          return t.isInterrupted();
        });
  }

  /// What a virtual thread sees that is interrupted in this state.
  private static String interrupted(Thread.State state, Action action) throws Exception {
    var seen = new AtomicReference<String>();
    var started = new CountDownLatch(1);
    Thread t =
        Thread.startVirtualThread(
            () -> {
              started.countDown();
              String threw = "returned";
              try {
                action.run();
              } catch (Throwable e) {
                threw = e.getClass().getName();
              }
              seen.set(threw + " interrupted=" + Thread.currentThread().isInterrupted());
            });
    started.await();
    await(() -> t.getState() == state);
    t.interrupt();
    t.join();
    return seen.get();
  }

  // Uncaught exceptions.

  private static void uncaught() {
    check(
        "uncaught: its own handler",
        () -> {
          var seen = new LinkedBlockingQueue<String>();
          Thread.ofVirtual()
              .name("failing")
              .uncaughtExceptionHandler(
                  (t, e) -> seen.add(t.getName() + " " + e + " " + (t == Thread.currentThread())))
              .start(
                  () -> {
                    throw new IllegalStateException("the reason");
                  })
              .join();
          return seen;
        });
    check(
        "uncaught: the default handler",
        () -> {
          var seen = new LinkedBlockingQueue<String>();
          var before = Thread.getDefaultUncaughtExceptionHandler();
          Thread.setDefaultUncaughtExceptionHandler((t, e) -> seen.add(t.getName() + " " + e));
          try {
            Thread.ofVirtual()
                .name("failing too")
                .start(
                    () -> {
                      throw new AssertionError("the reason");
                    })
                .join();
          } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
          }
          return seen;
        });
    check(
        "uncaught: a handler that throws",
        () -> {
          Thread t =
              Thread.ofVirtual()
                  .uncaughtExceptionHandler(
                      (_, _) -> {
                        throw new IllegalStateException("again");
                      })
                  .start(
                      () -> {
                        throw new IllegalStateException("the reason");
                      });
          return t.join(Duration.ofSeconds(30)) + " " + t.getState();
        });
    check(
        "uncaught: stack overflow",
        () -> {
          var seen = new LinkedBlockingQueue<Class<?>>();
          Thread.ofVirtual()
              .uncaughtExceptionHandler((_, e) -> seen.add(e.getClass()))
              .start(() -> deeper(0))
              .join();
          return seen;
        });
  }

  private static int deeper(int depth) {
    return depth < 0 ? depth : deeper(depth + 1) + 1;
  }

  // Executors.

  private static void executors() {
    check(
        "executor: names of a platform pool's threads",
        () -> {
          try (var pool = Executors.newSingleThreadExecutor()) {
            return pool.submit(() -> Thread.currentThread().getName()).get();
          }
        });
    check(
        "executor: close waits",
        () -> {
          var done = new AtomicInteger();
          try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 1_000; i++) {
              executor.execute(
                  () -> {
                    sleep(2);
                    done.incrementAndGet();
                  });
            }
          }
          return done.get();
        });
    check(
        "executor: shutdownNow interrupts",
        () -> {
          var executor = Executors.newVirtualThreadPerTaskExecutor();
          var started = new CountDownLatch(1);
          var failed =
              executor.submit(
                  () -> {
                    started.countDown();
                    Thread.sleep(60_000);
                    return null;
                  });
          started.await();
          int never = executor.shutdownNow().size();
          boolean ended = executor.awaitTermination(30, TimeUnit.SECONDS);
          return never + " " + ended + " " + thrown(failed::get).getCause();
        });
    check(
        "executor: invokeAll and futures",
        () -> {
          try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            var tasks = new ArrayList<Callable<Integer>>();
            for (int i = 0; i < 100; i++) {
              int n = i;
              tasks.add(() -> n);
            }
            int sum = 0;
            for (var f : executor.invokeAll(tasks)) {
              sum += f.get();
            }
            return sum;
          }
        });
    check(
        "executor: a pool of virtual threads",
        () -> {
          try (var pool =
              Executors.newScheduledThreadPool(
                  2, Thread.ofVirtual().name("pooled-", 0).factory())) {
            return pool.schedule(() -> Thread.currentThread().isVirtual(), 5, TimeUnit.MILLISECONDS)
                .get();
          }
        });
  }

  // Thread dumps.

  private static void dumps() {
    check("dump: every thread once, text", () -> dump("TEXT_PLAIN", "\"dumped-(\\d+)\""));
    check("dump: every thread once, JSON", () -> dump("JSON", "\"name\": \"dumped-(\\d+)\""));
  }

  /// How often each of three parked threads, in two containers, is in a thread dump.
  private static Object dump(String format, String pattern) throws Exception {
    Path directory = Files.createTempDirectory("dump");
    Path file = directory.resolve("dump");
    var factory = Thread.ofVirtual().name("dumped-", 0).factory();
    try (var executor = Executors.newThreadPerTaskExecutor(factory)) {
      var threads = new LinkedBlockingQueue<Thread>();
      for (int i = 0; i < 2; i++) {
        executor.execute(
            () -> {
              threads.add(Thread.currentThread());
              LockSupport.park();
            });
      }
      Thread alone = factory.newThread(LockSupport::park);
      alone.start();
      threads.add(alone);
      await(
          () ->
              threads.size() == 3
                  && threads.stream().allMatch(t -> t.getState() == Thread.State.WAITING));
      var bean =
          ManagementFactory.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class);
      bean.dumpThreads(
          file.toString(),
          com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat.valueOf(format));
      threads.forEach(LockSupport::unpark);
      alone.join();
      var times = new TreeMap<String, Integer>();
      var matcher = java.util.regex.Pattern.compile(pattern).matcher(Files.readString(file));
      while (matcher.find()) {
        times.merge(matcher.group(1), 1, Integer::sum);
      }
      return times;
    } finally {
      Files.deleteIfExists(file);
      Files.delete(directory);
    }
  }

  // JFR.

  private static void events() {
    check(
        "JFR: events of virtual threads",
        () -> {
          Path file = Files.createTempFile("events", ".jfr");
          try (var recording = new Recording()) {
            for (String event :
                List.of(
                    "jdk.VirtualThreadStart",
                    "jdk.VirtualThreadEnd",
                    "jdk.VirtualThreadPinned",
                    "jdk.ThreadSleep",
                    "jdk.ThreadPark")) {
              recording.enable(event).withThreshold(Duration.ZERO);
            }
            recording.start();
            for (int i = 0; i < 3; i++) {
              Thread.ofVirtual()
                  .name("recorded")
                  .start(
                      () -> {
                        sleep(5);
                        LockSupport.parkNanos(1_000_000);
                      })
                  .join();
            }
            Thread.ofVirtual().name("recorded").start(Pinning::touch).join();
            recording.stop();
            recording.dump(file);
            var times = new TreeMap<String, Integer>();
            for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
              var thread = event.getThread();
              if (thread != null && "recorded".equals(thread.getJavaName())) {
                times.merge(event.getEventType().getName(), 1, Integer::sum);
              }
            }
            return times;
          } finally {
            Files.delete(file);
          }
        });
  }

  /// Parks in its initialiser, which pins.
  private static final class Pinning {
    static {
      LockSupport.parkNanos(30_000_000);
    }

    static void touch() {}
  }

  // The end: parked virtual threads do not keep a program alive; its hooks can use new ones.

  private static void shutdown() {
    for (int i = 0; i < 100; i++) {
      Thread.startVirtualThread(LockSupport::park);
    }
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () ->
                    System.out.println(
                        "shutdown: hooks can start virtual threads\t"
                            + answer(() -> ended(() -> sleep(1))))));
  }

  // Helpers.

  private interface Action {
    void run() throws Exception;
  }

  private static void check(String name, Callable<Object> body) {
    CHECKS.put(name, body);
  }

  /// Runs `body` in a virtual thread and gives its answer.
  private static <T> T answerOf(Callable<T> body) throws Exception {
    var answer = new AtomicReference<T>();
    var failure = new AtomicReference<Throwable>();
    Thread t =
        Thread.startVirtualThread(
            () -> {
              try {
                answer.set(body.call());
              } catch (Throwable e) {
                failure.set(e);
              }
            });
    if (!t.join(Duration.ofSeconds(60))) {
      throw new IllegalStateException("does not end: " + Arrays.toString(t.getStackTrace()));
    }
    if (failure.get() != null) {
      throw new IllegalStateException(failure.get());
    }
    return answer.get();
  }

  private static Object ended(Action action) throws Exception {
    return answerOf(
        () -> {
          action.run();
          return "ended";
        });
  }

  private interface OnThread {
    void to(Thread t) throws Exception;
  }

  private static Object inVirtual(Runnable body, OnThread then) throws Exception {
    Thread t = Thread.startVirtualThread(body);
    then.to(t);
    return t.join(Duration.ofSeconds(30)) ? "ended" : "hangs";
  }

  private static void unparkParked(Thread t) {
    await(() -> t.getState() == Thread.State.WAITING);
    LockSupport.unpark(t);
  }

  private static boolean atLeast(long millis, Runnable action) {
    long start = System.nanoTime();
    action.run();
    return System.nanoTime() - start >= millis * 1_000_000;
  }

  private static void park(long millis) {
    LockSupport.parkNanos(millis * 1_000_000);
  }

  private static void enterTwice(Object lock) {
    synchronized (lock) {
      synchronized (lock) {
        Thread.yield();
      }
    }
  }

  private static void sleep(long millis) {
    uninterrupted(() -> Thread.sleep(millis));
  }

  private static void sleepFor(long millis) {
    uninterrupted(() -> Thread.sleep(Duration.ofMillis(millis)));
  }

  private static void uninterrupted(Action action) {
    try {
      action.run();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static Throwable thrown(Action action) {
    try {
      action.run();
      return new AssertionError("nothing thrown");
    } catch (Throwable e) {
      return e;
    }
  }

  private static String noNumbers(Thread t) {
    return t.toString().replaceAll("#\\d+", "#n");
  }

  /// The frames' methods; the numbers of lambdas vary from one compiler to the next.
  private static String frames(StackTraceElement[] trace) {
    return Arrays.stream(trace)
        .map(f -> f.getClassName().replaceAll(".*\\.", "") + "." + f.getMethodName())
        .map(f -> f.replaceAll("lambda\\$\\w+\\$\\d+", "lambda").replace("ChecksProgram.", ""))
        .collect(Collectors.joining(" "));
  }

  private static void await(BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > PATIENCE_NANOS) {
        throw new IllegalStateException("never came");
      }
      LockSupport.parkNanos(200_000);
    }
  }
}
