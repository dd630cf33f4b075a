package dev.gloom.dropin;

import dev.gloom.Chan;
import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.api.Lab;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/// Goroutines that compute without a pause, under the agent, and what the others get of the
/// processors. One scenario a run; prints figures as `name=value`.
@SuppressWarnings("ThreadPriorityCheck")
final class PreemptProgram {
  private static final AtomicBoolean STOP = new AtomicBoolean();

  /// What the hogs get done; each has a cache line.
  private static final AtomicLong[] DONE = new AtomicLong[64];

  static {
    Arrays.setAll(DONE, _ -> new AtomicLong());
  }

  private PreemptProgram() {}

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "stop" -> stop(args[1]);
      case "second" -> secondActivation(1_000, 200);
      case "crowded" -> secondActivation(3_000, 0);
      case "request" -> request(Integer.parseInt(args[1]));
      case "worker" -> worker();
      case "safepoints" -> safepoints();
      case "timers" -> timers();
      case "socket" -> socket();
      case "pairs" -> pairs();
      case "undisturbed" -> undisturbed();
      case "factory" -> factory();
      case "memory" -> memory();
      case "switch" -> killSwitch();
      case "share" -> share();
      case "closed" -> closed();
      default -> throw new IllegalArgumentException(args[0]);
    }
    System.out.println("rescues=" + Gloom.stats().rescues());
    System.out.println("asleep=" + Gloom.stats().takenBlocked());
  }

  // The hogs.

  private interface Hog {
    void run(AtomicLong done) throws Throwable;
  }

  private static Hog hog(String kind) throws Exception {
    return switch (kind) {
      case "empty" ->
          done -> {
            done.incrementAndGet();
            while (!STOP.get()) {}
          };
      case "arithmetic" -> PreemptProgram::arithmetic;
      case "calls" -> PreemptProgram::calls;
      case "fib" ->
          done -> {
            while (!STOP.get()) {
              fib(27);
              done.lazySet(done.get() + 1);
            }
          };
      case "switch" -> PreemptProgram::switches;
      case "monitor" ->
          done -> {
            synchronized (done) {
              arithmetic(done);
            }
          };
      case "51", "52", "53", "54", "55" -> old(Integer.parseInt(kind));
      default -> throw new IllegalArgumentException(kind);
    };
  }

  private static void arithmetic(AtomicLong done) {
    int[] numbers = new int[1 << 12];
    while (!STOP.get()) {
      for (int i = 0; i < numbers.length; i++) {
        numbers[i] = numbers[i] * 31 + i;
      }
      done.lazySet(done.get() + 1);
    }
  }

  private static void calls(AtomicLong done) {
    long sum = 0;
    while (!STOP.get()) {
      sum = step(sum);
      done.lazySet(sum);
    }
  }

  private static long step(long sum) {
    return sum + 1;
  }

  private static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  }

  private static void switches(AtomicLong done) {
    int state = 0;
    while (!STOP.get()) {
      switch (state) {
        case 0 -> state = 3;
        case 1 -> state = 0;
        case 2 -> state = 1;
        default -> {
          done.lazySet(done.get() + 1);
          state = 2;
        }
      }
    }
  }

  /// A loop in a class of an old version, whose class loader sees nothing but the JDK.
  private static Hog old(int version) throws Exception {
    var self = ClassDesc.of("old.Hog" + version);
    var flag = ClassDesc.of("java.util.concurrent.atomic.AtomicBoolean");
    var count = ClassDesc.of("java.util.concurrent.atomic.AtomicLong");
    byte[] bytes =
        ClassFile.of()
            .build(
                self,
                type ->
                    type.withVersion(version, 0)
                        .withMethodBody(
                            "run",
                            MethodTypeDesc.of(ConstantDescs.CD_void, flag, count),
                            ClassFile.ACC_PUBLIC | ClassFile.ACC_STATIC,
                            code -> {
                              Label again = code.newLabel();
                              code.labelBinding(again);
                              code.aload(1).aload(1);
                              code.invokevirtual(
                                  count, "get", MethodTypeDesc.of(ConstantDescs.CD_long));
                              code.lconst_1().ladd();
                              code.invokevirtual(
                                  count,
                                  "lazySet",
                                  MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_long));
                              code.aload(0);
                              code.invokevirtual(
                                  flag, "get", MethodTypeDesc.of(ConstantDescs.CD_boolean));
                              code.ifeq(again).return_();
                            }));
    var loader =
        new ClassLoader(null) {
          Class<?> define() {
            return defineClass(null, bytes, 0, bytes.length);
          }
        };
    MethodHandle run =
        MethodHandles.publicLookup()
            .findStatic(
                loader.define(),
                "run",
                MethodType.methodType(void.class, AtomicBoolean.class, AtomicLong.class));
    return done -> {
      run.invokeExact(STOP, done);
    };
  }

  private static Goroutine start(Hog hog, AtomicLong done) {
    return Gloom.go(
        () -> {
          try {
            hog.run(done);
          } catch (Throwable e) {
            throw new IllegalStateException(e);
          }
        });
  }

  // Scenarios.

  /// A running endless loop is stopped, on one processor: another goroutine runs while the hog's
  /// state is runnable and it makes no progress. Prints how long that one had to wait.
  private static void stop(String kind) throws Exception {
    Goroutine hog = start(hog(kind), DONE[0]);
    Lab.await("the hog runs", () -> DONE[0].get() != 0);
    Thread.sleep(300); // until it is compiled
    var waits = new ArrayList<Long>();
    int stopped = 0;
    for (int i = 0; i < 40; i++) {
      Seen seen = other(hog, DONE[0]);
      waits.add(seen.waitedMicros);
      stopped += seen.hogWasRunnable && seen.hogStoodStill ? 1 : 0;
    }
    STOP.set(true);
    hog.join();
    waits.sort(null);
    System.out.println("stopped=" + stopped);
    System.out.println("quarter=" + waits.get(waits.size() / 4));
    System.out.println("median=" + waits.get(waits.size() / 2));
    System.out.println("worst=" + waits.getLast());
    System.out.println("checks=" + Gloom.stats().preemptedAtChecks());
  }

  private record Seen(long waitedMicros, boolean hogWasRunnable, boolean hogStoodStill) {}

  /// A goroutine that looks at the hog for 2 ms.
  private static Seen other(Goroutine hog, AtomicLong done) throws Exception {
    var seen = new Seen[1];
    long start = System.nanoTime();
    Goroutine other =
        Gloom.go(
            () -> {
              long waited = (System.nanoTime() - start) / 1_000;
              long before = done.get();
              boolean runnable = hog.state() == Goroutine.State.RUNNABLE;
              Lab.spin(2_000_000);
              seen[0] = new Seen(waited, runnable, done.get() == before);
            });
    if (!other.join(Duration.ofSeconds(20))) {
      System.out.println("starved=1");
      System.out.println(Gloom.dump());
      System.exit(3);
    }
    return seen[0];
  }

  /// Adaptive: the first activation goes on until it ends, the second, some time later, is stopped.
  private static void secondActivation(long firstMillis, long laterMillis) throws Exception {
    Goroutine first = start(PreemptProgram::arithmetic, DONE[0]);
    Goroutine waits = Gloom.go(() -> {});
    Thread.sleep(firstMillis);
    STOP.set(true);
    first.join();
    waits.join();
    STOP.set(false);
    Thread.sleep(laterMillis);
    stop("arithmetic");
  }

  /// Adaptive: what is caught is not slowed down by it. The first of five that compute the same,
  /// while others wait, is the one that is caught; it may take a few times as long, since it also
  /// waits to be compiled. `times` as much in one go comes before these: it is in its class for
  /// seconds.
  private static void request(int times) throws Exception {
    var stop = new AtomicBoolean();
    Goroutine others = wakesAndSleeps(stop);
    if (times > 0) {
      System.out.println("long=" + millis(times) / times);
    }
    long[] millis = new long[5];
    for (int i = 0; i < millis.length; i++) {
      millis[i] = millis(1);
      Thread.sleep(100);
    }
    stop.set(true);
    others.join();
    System.out.println("first=" + millis[0]);
    System.out.println("median=" + Arrays.stream(millis).sorted().toArray()[2]);
  }

  /// Somebody who waits for a processor again and again, until `stop`.
  private static Goroutine wakesAndSleeps(AtomicBoolean stop) {
    return Gloom.go(
        () -> {
          while (!stop.get()) {
            Thread.sleep(1);
          }
        });
  }

  private static long millis(int times) throws Exception {
    long start = System.nanoTime();
    Gloom.run(() -> DONE[0].set(compute(times * 100_000_000)));
    return (System.nanoTime() - start) / 1_000_000;
  }

  /// Adaptive: nor is one that computes, waits for more to do, and goes on in the same activation.
  private static void worker() throws Exception {
    var stop = new AtomicBoolean();
    Goroutine others = wakesAndSleeps(stop);
    var jobs = new SynchronousQueue<Integer>();
    var results = new SynchronousQueue<Long>();
    Goroutine worker = Gloom.go(() -> work(jobs, results));
    long[] millis = new long[8];
    for (int i = 0; i < millis.length; i++) {
      long start = System.nanoTime();
      jobs.put(100_000_000);
      DONE[0].set(results.take());
      millis[i] = (System.nanoTime() - start) / 1_000_000;
      Thread.sleep(100); // it waits inside for long enough that somebody looks
    }
    jobs.put(0);
    worker.join();
    stop.set(true);
    others.join();
    System.out.println("first=" + millis[0]);
    System.out.println("median=" + Arrays.stream(millis).sorted().toArray()[millis.length / 2]);
    System.out.println("stuck=" + Gloom.stats().takenBurning());
  }

  private static void work(BlockingQueue<Integer> jobs, BlockingQueue<Long> results)
      throws InterruptedException {
    for (int rounds = jobs.take(); rounds > 0; rounds = jobs.take()) {
      long x = 1;
      for (int i = 0; i < rounds; i++) {
        x ^= x << 13;
        x ^= x >>> 7;
        x ^= x << 17;
      }
      results.put(x);
    }
  }

  /// Two that count, in armed loops, and a collector that wants all to stop.
  private static void safepoints() throws Exception {
    Goroutine[] hogs = new Goroutine[2];
    for (int i = 0; i < hogs.length; i++) {
      AtomicLong done = DONE[i];
      hogs[i] =
          Gloom.go(
              () -> {
                while (!STOP.get()) {
                  done.addAndGet(count() == 0 ? 0 : 1);
                }
              });
    }
    // By then it is compiled as a whole, and no longer from the middle of its loop on.
    Lab.await("each has begun its third", () -> DONE[0].get() >= 2 && DONE[1].get() >= 2);
    long longest = 0;
    for (int i = 0; i < 20; i++) {
      long start = System.nanoTime();
      System.gc();
      longest = Math.max(longest, System.nanoTime() - start);
    }
    STOP.set(true);
    for (Goroutine hog : hogs) {
      hog.join();
    }
    System.out.println("stopped=" + Gloom.stats().preemptedAtChecks());
    System.out.println("gc=" + longest / 1_000_000);
  }

  /// For a second or two.
  private static long count() {
    long x = 1;
    for (int i = 0; i < 500_000_000; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }

  private static long compute(int rounds) {
    long x = 1;
    for (int i = 0; i < rounds; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }

  /// Spec item 111: with every processor computing, a sleep is over when it should be.
  private static void timers() throws Exception {
    int procs = Gloom.maxProcs();
    List<Goroutine> hogs = hogs(2 * procs);
    long[] late = new long[100];
    Gloom.run(
        () -> {
          for (int i = 0; i < late.length; i++) {
            long start = System.nanoTime();
            Thread.sleep(5);
            late[i] = (System.nanoTime() - start) / 1_000 - 5_000;
          }
        });
    end(hogs);
    print(late);
  }

  /// Spec item 132: with every processor computing, data on a socket is noticed.
  private static void socket() throws Exception {
    List<Goroutine> hogs = hogs(2 * Gloom.maxProcs());
    long[] late = new long[60];
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        var client = new Socket(server.getInetAddress(), server.getLocalPort());
        var accepted = server.accept()) {
      var read = new AtomicLong();
      Goroutine reader =
          Gloom.go(
              () -> {
                InputStream in = accepted.getInputStream();
                for (int i = 0; i < late.length; i++) {
                  if (in.read() < 0) {
                    throw new IllegalStateException("the end");
                  }
                  read.set(System.nanoTime());
                }
              });
      for (int i = 0; i < late.length; i++) {
        Lab.awaitWaiting(reader);
        read.set(0);
        long start = System.nanoTime();
        client.getOutputStream().write(1);
        Lab.await("it is read", () -> read.get() != 0);
        late[i] = (read.get() - start) / 1_000;
      }
      reader.join();
    }
    end(hogs);
    print(late);
  }

  private static List<Goroutine> hogs(int n) throws Exception {
    var hogs = new ArrayList<Goroutine>();
    for (int i = 0; i < n; i++) {
      hogs.add(start(hog("arithmetic"), DONE[i]));
    }
    for (int i = 0; i < n; i++) {
      AtomicLong done = DONE[i];
      Lab.await("every hog has run", () -> done.get() != 0);
    }
    return hogs;
  }

  private static void end(List<Goroutine> hogs) throws Exception {
    STOP.set(true);
    for (Goroutine g : hogs) {
      g.join();
    }
  }

  private static void print(long[] micros) {
    Arrays.sort(micros);
    System.out.println("median=" + micros[micros.length / 2]);
    System.out.println("worst=" + micros[micros.length - 1]);
  }

  /// Spec item 67, Go's TestPingPongHog: two that wake each other after a million steps share one
  /// slice, and so do two that do it after a thousand.
  private static void pairs() throws Exception {
    var hogs = Chan.<Boolean>make();
    var lights = Chan.<Boolean>make();
    var hogCount = new AtomicLong();
    var lightCount = new AtomicLong();
    var all = new ArrayList<Goroutine>();
    for (int i = 0; i < 2; i++) {
      all.add(Gloom.go(() -> pingPong(1_000_000, hogCount, hogs)));
      all.add(Gloom.go(() -> pingPong(1_000, lightCount, lights)));
    }
    hogs.send(true);
    lights.send(true);
    Thread.sleep(1_500);
    STOP.set(true);
    hogs.close();
    lights.close();
    for (Goroutine g : all) {
      g.join();
    }
    System.out.println("hog=" + hogCount.get() / 1_000);
    System.out.println("light=" + lightCount.get() / 1_000);
  }

  private static void pingPong(int steps, AtomicLong count, Chan<Boolean> wake) throws Exception {
    try {
      while (!STOP.get() && wake.recv() != null) {
        for (int i = 0; i < steps; i++) {
          count.lazySet(count.get() + 1);
        }
        wake.send(true);
      }
    } catch (dev.gloom.ChannelClosedException e) {
      // the end
    }
  }

  private static void undisturbed() throws Exception {
    var entered = new CountDownLatch(1);
    Goroutine g =
        Gloom.go(
            () ->
                Gloom.nonPreemptible(
                    () -> {
                      entered.countDown();
                      arithmetic(DONE[0]);
                      return null;
                    }));
    entered.await();
    neverRuns(g);
  }

  private static void factory() throws Exception {
    Gloom.nonPreemptibleThreadFactory().newThread(() -> arithmetic(DONE[0])).start();
    Lab.await("it runs", () -> DONE[0].get() != 0);
    neverRuns(null);
  }

  /// Nobody else gets the processor before the hog ends.
  private static void neverRuns(Goroutine hog) throws Exception {
    Goroutine other = Gloom.go(() -> {});
    System.out.println("ran=" + (other.join(Duration.ofMillis(500)) ? 1 : 0));
    STOP.set(true);
    other.join();
    if (hog != null) {
      hog.join();
    }
    System.out.println("checks=" + Gloom.stats().preemptedAtChecks());
  }

  private static final int ROUNDS = 8;

  /// No memory for the yield: the hog does not notice.
  private static void memory() throws Exception {
    var failure = new AtomicReference<Throwable>();
    var hogs = new ArrayList<Thread>();
    for (int i = 0; i < 3; i++) {
      AtomicLong done = DONE[i];
      Thread t = Thread.ofVirtual().unstarted(() -> arithmetic(done));
      t.setUncaughtExceptionHandler((_, e) -> failure.set(e));
      t.start();
      hogs.add(t);
    }
    for (int i = 0; i < 3; i++) {
      AtomicLong done = DONE[i];
      Lab.await("every hog has run", () -> done.get() != 0);
    }
    // A JVM with any agent need not survive a class that is loaded while the heap is full.
    Lab.await("the start is over", () -> Lab.threads("gloom-announcer").isEmpty());
    everyHogGoesOn(); // now, so that nothing of it has to be linked later
    int errors = 0;
    for (int round = 0; round < ROUNDS; round++) {
      try {
        fillHeap();
      } catch (OutOfMemoryError e) {
        errors++;
      }
    }
    Throwable thrown = failure.get();
    if (thrown != null) {
      thrown.printStackTrace();
    }
    System.gc();
    everyHogGoesOn();
    STOP.set(true);
    for (Thread t : hogs) {
      t.join();
    }
    System.out.println("errors=" + errors);
    System.out.println("failed=" + (thrown == null ? 0 : 1));
  }

  /// Up to the last few bytes, for a while; then throws what it met.
  private static void fillHeap() {
    Object[] chain = null;
    for (int size = 1 << 20; ; ) {
      try {
        var next = new Object[size];
        next[0] = chain;
        chain = next;
      } catch (OutOfMemoryError e) {
        if (size <= 16) {
          long until = System.nanoTime() + 50_000_000;
          while (System.nanoTime() < until && chain != null) {
            Thread.onSpinWait();
          }
          throw e;
        }
        size /= 2;
      }
    }
  }

  private static void everyHogGoesOn() {
    for (int i = 0; i < 3; i++) {
      AtomicLong done = DONE[i];
      long before = done.get();
      Lab.await("every hog goes on", () -> done.get() != before);
    }
  }

  /// What gives woven classes their checks cannot be replaced by the program.
  private static void closed() throws Exception {
    var linker = Class.forName("java.lang.GloomCheck").getDeclaredField("linker");
    try {
      linker.setAccessible(true);
      System.out.println("closed=0");
    } catch (java.lang.reflect.InaccessibleObjectException e) {
      System.out.println("closed=1");
    }
  }

  /// Off and on again, through JMX, while it runs.
  private static void killSwitch() throws Exception {
    var server = java.lang.management.ManagementFactory.getPlatformMBeanServer();
    var name = new javax.management.ObjectName("dev.gloom:type=Scheduler,name=gloom");
    Goroutine hog = start(hog("arithmetic"), DONE[0]);
    Lab.await("the bean is there", () -> server.isRegistered(name));
    var bean =
        javax.management.JMX.newMXBeanProxy(server, name, dev.gloom.observe.SchedulerMXBean.class);
    System.out.println("slice=" + bean.getSliceMillis());
    System.out.println("eager=" + (bean.getPreempt().equals("eager") ? 1 : 0));
    Goroutine before = Gloom.go(() -> {});
    System.out.println("before=" + (before.join(Duration.ofSeconds(20)) ? 1 : 0));
    bean.setPreempt("off");
    Thread.sleep(100);
    Goroutine during = Gloom.go(() -> {});
    System.out.println("during=" + (during.join(Duration.ofMillis(500)) ? 1 : 0));
    bean.setPreempt("eager");
    System.out.println("after=" + (during.join(Duration.ofSeconds(20)) ? 1 : 0));
    bean.setSliceMillis(3);
    System.out.println("changed=" + bean.getSliceMillis());
    try {
      bean.setSliceMillis(0);
    } catch (RuntimeException e) {
      System.out.println("refused=1");
    }
    STOP.set(true);
    hog.join();
    System.out.println("checks=" + (bean.getPreemptedAtChecks() > 0 ? 1 : 0));
  }

  private static Duration cpu() {
    return ProcessHandle.current().info().totalCpuDuration().orElseThrow();
  }

  /// Each of several hogs gets its share, and together they use no more than their processors.
  private static void share() throws Exception {
    List<Goroutine> hogs = hogs(4);
    long[] before = new long[4];
    for (int i = 0; i < 4; i++) {
      before[i] = DONE[i].get();
    }
    long start = System.nanoTime();
    Duration cpu = cpu();
    Thread.sleep(3_000);
    long used = cpu().minus(cpu).toNanos();
    System.out.println("percent=" + 100 * used / (System.nanoTime() - start));
    long least = Long.MAX_VALUE;
    long most = 0;
    for (int i = 0; i < 4; i++) {
      long n = DONE[i].get() - before[i];
      least = Math.min(least, n);
      most = Math.max(most, n);
    }
    end(hogs);
    System.out.println("least=" + least);
    System.out.println("most=" + most);
  }
}
