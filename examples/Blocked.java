// Sixty-four threads sit in calls that hold their carrier for 100 ms, again and again, and nobody
// has announced it: native code, a named pipe that is opened or read, a class initialiser, a wait
// under a native frame. On the JDK's scheduler two such calls hold both carriers, and everybody
// else
// stands still. On gloom the monitor sees that the thread sleeps in the kernel, and gives its
// processor to another one.
//
//     ./gloom run examples/Blocked.java                  says who goes on
//     ./gloom run examples/Blocked.java 5 1000           figures, of 5 pairs of runs of a second
// each
//
// The figures: how late 99 of 100 ticks of a 1 ms clock are at most, and how much work others get
// done, compared with runs in which nobody blocks (median of the pairs).

import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.MTD_void;

import dev.gloom.Chan;
import dev.gloom.Gloom;
import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.locks.LockSupport;

static final int CROWD = 64;
static final int HOLD_MILLIS = 100;
static final int STALL_MILLIS =
    250; // far more than a busy machine adds to 1 ms, far less than the JDK does

/// A call that holds its thread.
interface Hold {
  void hold() throws Throwable;
}

/// Makes a hold for the thread with this number.
interface Way {
  Hold make(int number) throws Throwable;
}

Map<String, Way> ways() throws Exception {
  Path dir = Files.createTempDirectory("blocked");
  var linker = Linker.nativeLinker();
  MethodHandle usleep =
      linker.downcallHandle(
          linker.defaultLookup().findOrThrow("usleep"),
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
  MethodHandle qsort =
      linker.downcallHandle(
          linker.defaultLookup().findOrThrow("qsort"),
          FunctionDescriptor.ofVoid(
              ValueLayout.ADDRESS,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.ADDRESS));
  MemorySegment compare =
      linker.upcallStub(
          MethodHandles.lookup()
              .findStatic(
                  Native.class,
                  "compare",
                  MethodType.methodType(int.class, MemorySegment.class, MemorySegment.class)),
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS),
          Arena.global());
  MemorySegment two = Arena.global().allocate(16);
  byte[] waits = Native.classThatWaits();

  var ways = new LinkedHashMap<String, Way>();
  ways.put(
      "usleep",
      _ ->
          () -> {
            int _ = (int) usleep.invokeExact(HOLD_MILLIS * 1_000);
          });
  ways.put(
      "open fifo",
      number -> {
        File fifo = fifo(dir.resolve("open" + number));
        return () -> { // one end waits for the other, which comes later
          var otherEnd = later(() -> new RandomAccessFile(fifo, "rw"));
          new FileInputStream(fifo).close();
          otherEnd.get().close();
        };
      });
  ways.put(
      "read fifo",
      number -> {
        var fifo =
            new RandomAccessFile(fifo(dir.resolve("read" + number)), "rw"); // both ends are there
        return () -> {
          later(
              () -> {
                fifo.write(1);
                return fifo;
              });
          int _ = fifo.read();
        };
      });
  ways.put(
      "class initialiser",
      _ ->
          () -> {
            var _ = MethodHandles.lookup().defineHiddenClass(waits, true);
          });
  ways.put(
      "pinned park",
      _ ->
          () -> {
            qsort.invokeExact(two, 2L, 8L, compare);
          });
  return ways;
}

static class Native {
  /// Called by the C library, so there is a native frame below.
  static int compare(MemorySegment a, MemorySegment b) {
    LockSupport.parkNanos(HOLD_MILLIS * 1_000_000L);
    return 0;
  }

  static byte[] classThatWaits() {
    return ClassFile.of()
        .build(
            ClassDesc.of("Waits"),
            type ->
                type.withMethodBody(
                    "<clinit>",
                    MTD_void,
                    ClassFile.ACC_STATIC,
                    code ->
                        code.loadConstant(HOLD_MILLIS * 1_000_000L)
                            .invokestatic(
                                ClassDesc.of("java.util.concurrent.locks.LockSupport"),
                                "parkNanos",
                                MethodTypeDesc.of(ConstantDescs.CD_void, CD_long))
                            .return_()));
  }
}

static File fifo(Path path) throws Exception {
  new ProcessBuilder("mkfifo", path.toString()).start().waitFor();
  path.toFile().deleteOnExit();
  return path.toFile();
}

static final ScheduledExecutorService LATER =
    Executors.newScheduledThreadPool(2, Thread.ofPlatform().daemon().factory());

static <T> Future<T> later(Callable<T> action) {
  return LATER.schedule(action, HOLD_MILLIS, TimeUnit.MILLISECONDS);
}

/// What a run showed: how late the 99th of 100 ticks was, in ms, and how much work got done.
record Seen(double late, long work) {}

/// `crowd` threads hold theirs, beside a clock and two pairs that work; all made by `threads`.
static Seen run(ThreadFactory threads, Way way, int crowd, int millis) throws Exception {
  var stop = new AtomicBoolean();
  var all = new ArrayList<Thread>();
  var late = new ArrayList<Long>();
  var work = new LongAdder();
  all.add(
      threads.newThread(
          () -> {
            long tick = System.nanoTime();
            while (!stop.get()) {
              tick += 1_000_000;
              LockSupport.parkNanos(tick - System.nanoTime());
              late.add(System.nanoTime() - tick);
            }
          }));
  for (int i = 0; i < 2; i++) {
    Chan<Integer> chan = Chan.make(16);
    all.add(
        threads.newThread(
            () -> {
              try {
                for (int n = 0; !stop.get(); n++) {
                  chan.send(n);
                  work.increment();
                }
                chan.close();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            }));
    all.add(threads.newThread(() -> chan.forEach(_ -> {})));
  }
  for (int i = 0; i < crowd; i++) {
    Hold hold;
    try {
      hold = way.make(i);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
    all.add(
        threads.newThread(
            () -> {
              try {
                while (!stop.get()) {
                  hold.hold();
                }
              } catch (Throwable e) {
                throw new IllegalStateException(e);
              }
            }));
  }
  for (Thread t : all) {
    t.start();
  }
  Thread.sleep(millis);
  stop.set(true);
  for (Thread t : all) {
    t.join();
  }
  Collections.sort(late);
  return new Seen(late.get(late.size() * 99 / 100) / 1e6, work.sum());
}

void main(String[] args) throws Exception {
  Gloom.maxProcs(2);
  int pairs = args.length == 0 ? 1 : Integer.parseInt(args[0]);
  int millis = args.length == 0 ? 1_000 : Integer.parseInt(args[1]);
  for (var way : ways().entrySet()) {
    var late = new ArrayList<Double>();
    var ratio = new ArrayList<Double>();
    for (int i = args.length == 0 ? 0 : -2; i < pairs; i++) { // those before the first warm up
      Seen without = run(Gloom.threadFactory(), way.getValue(), 0, millis);
      Seen with = run(Gloom.threadFactory(), way.getValue(), CROWD, millis);
      if (i >= 0) {
        late.add(with.late());
        ratio.add((double) with.work() / without.work());
      }
    }
    Collections.sort(late);
    Collections.sort(ratio);
    // From a platform thread, so that these threads are the JDK's own scheduler's.
    var jdk =
        CompletableFuture.supplyAsync(
                () -> {
                  try {
                    return run(Thread.ofVirtual().factory(), way.getValue(), CROWD, millis);
                  } catch (Exception e) {
                    throw new IllegalStateException(e);
                  }
                },
                LATER)
            .get();
    if (args.length == 0) {
      IO.println(
          way.getKey()
              + " on gloom: "
              + (late.get(pairs / 2) < STALL_MILLIS ? "others go on" : "others stall"));
      IO.println(
          way.getKey()
              + " on the JDK: "
              + (jdk.late() < STALL_MILLIS ? "others go on" : "others stall"));
    } else {
      IO.println(
          String.format(
              Locale.ROOT,
              "%-18s gloom: ticks %6.2f ms late, work %3.0f %%    JDK: ticks %7.2f ms late",
              way.getKey(),
              late.get(pairs / 2),
              100 * ratio.get(pairs / 2),
              jdk.late()));
    }
  }
}

// Output:
// usleep on gloom: others go on
// usleep on the JDK: others stall
// open fifo on gloom: others go on
// open fifo on the JDK: others stall
// read fifo on gloom: others go on
// read fifo on the JDK: others stall
// class initialiser on gloom: others go on
// class initialiser on the JDK: others stall
// pinned park on gloom: others go on
// pinned park on the JDK: others stall
