package dev.gloom.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.api.Lab;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Duration;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The contract of `execute`: it comes from anywhere. One goroutine is woken again and again by
/// each kind of thread there is; a wake-up that is lost hangs the test, since nobody wakes twice.
@Timeout(60)
class WakeupSourcesTest {
  private static final int ROUNDS = 1_000;

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void fromAGoroutineOfTheSameScheduler(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var sleeper = new Sleeper(lab, ROUNDS);
      lab.run(() -> sleeper.wakeAll());
      sleeper.check();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void fromAPlatformThread(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var sleeper = new Sleeper(lab, ROUNDS);
      sleeper.wakeAll();
      sleeper.check();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void fromAGoroutineOfAnotherScheduler(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var other = Lab.procs(1)) {
      var sleeper = new Sleeper(lab, ROUNDS);
      other.run(sleeper::wakeAll);
      sleeper.check();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void fromAVirtualThreadOfTheJdksScheduler(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var sleeper = new Sleeper(lab, ROUNDS);
      Thread.startVirtualThread(sleeper::wakeAll).join();
      sleeper.check();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void fromAWorkerOfAForkJoinPool(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var pool = new ForkJoinPool(1)) {
      var sleeper = new Sleeper(lab, ROUNDS);
      pool.submit(sleeper::wakeAll).get();
      sleeper.check();
    }
  }

  /// The thread VirtualThread-unblocker wakes who was blocked at the entry of a monitor.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void fromTheUnblockerOfMonitors(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var lock = new Object();
      var entered = new AtomicInteger();
      lab.run(
          () -> {
            for (int i = 0; i < ROUNDS / 4; i++) {
              Goroutine blocked;
              synchronized (lock) {
                blocked =
                    lab.go(
                        () -> {
                          synchronized (lock) {
                            entered.incrementAndGet();
                          }
                        });
                while (blocked.thread().getState() != Thread.State.BLOCKED) {
                  Gloom.gosched();
                }
              }
              assertTrue(blocked.join(Duration.ofSeconds(20)), "still " + blocked.thread());
            }
          });
      assertEquals(ROUNDS / 4, entered.get());
    }
  }

  /// The same with a platform thread that holds the monitor.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void fromTheUnblockerForAPlatformThread(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var lock = new Object();
      for (int i = 0; i < 50; i++) {
        Goroutine blocked;
        synchronized (lock) {
          blocked =
              lab.go(
                  () -> {
                    synchronized (lock) {
                      Thread.onSpinWait();
                    }
                  });
          Goroutine g = blocked;
          Lab.await("it blocks", () -> g.thread().getState() == Thread.State.BLOCKED);
        }
        assertTrue(blocked.join(Duration.ofSeconds(20)), "still " + blocked.thread());
      }
    }
  }

  /// The threads VirtualThread-unparker end timed parks, timed waits and sleeps.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void fromTheTimerThreads(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var all = new Goroutine[20];
      for (int i = 0; i < all.length; i++) {
        int kind = i % 3;
        all[i] =
            lab.go(
                () -> {
                  var lock = new Object();
                  for (int k = 0; k < 50; k++) {
                    switch (kind) {
                      case 0 -> LockSupport.parkNanos(100_000);
                      case 1 -> Gloom.sleep(Duration.ofNanos(200_000));
                      default -> {
                        synchronized (lock) {
                          lock.wait(1);
                        }
                      }
                    }
                  }
                });
      }
      for (Goroutine g : all) {
        assertTrue(g.join(Duration.ofSeconds(30)), "still " + g.thread());
      }
    }
  }

  // Pinned callers.

  /// The waker is inside a class initialiser, hence pinned: it must not be suspended by waking.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void fromAClassInitialiser(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var sleeper = new Sleeper(lab, 50);
      lab.run(
          () -> {
            for (int i = 0; i < 50; i++) {
              Initialiser.run(sleeper::wakeOne);
            }
          });
      sleeper.check();
    }
  }

  /// The waker has a native frame below it: `qsort` calls back into Java.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void fromBelowANativeFrame(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var sleeper = new Sleeper(lab, 200);
      lab.run(
          () -> {
            for (int i = 0; i < 200; i++) {
              Native.run(sleeper::wakeOne);
            }
          });
      sleeper.check();
    }
  }

  /// Spawning and adopting from below a native frame: the starts must reach the queues too.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void startsFromBelowANativeFrame(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var ran = new AtomicInteger();
      lab.run(
          () -> {
            for (int i = 0; i < 100; i++) {
              Native.run(() -> lab.go(ran::incrementAndGet));
              Native.run(() -> Thread.startVirtualThread(ran::incrementAndGet));
              Native.run(Gloom::gosched); // cannot, and must not mind
            }
          });
      Lab.quiet(lab.scheduler());
      assertEquals(200, ran.get());
    }
  }

  /// Who parks while pinned keeps its thread; waking it is not the scheduler's business, but the
  /// scheduler must not lose anything over it.
  @Test
  void toOneThatParkedBelowANativeFrame() throws Exception {
    try (var lab = Lab.procs(2)) {
      var given = new AtomicInteger();
      var taken = new AtomicInteger();
      Goroutine pinned =
          lab.go(
              () -> {
                for (int i = 1; i <= 100; i++) {
                  int round = i;
                  Native.run(
                      () -> {
                        while (given.get() < round) {
                          LockSupport.park();
                        }
                      });
                  taken.set(round);
                }
              });
      Runnable wakeFifty =
          () -> {
            for (int i = 0; i < 50; i++) {
              Lab.await("it parks", () -> pinned.thread().getState() == Thread.State.WAITING);
              int round = given.incrementAndGet();
              LockSupport.unpark(pinned.thread());
              Lab.await("it wakes", () -> taken.get() == round);
            }
          };
      lab.run(wakeFifty::run);
      wakeFifty.run();
      assertTrue(pinned.join(Duration.ofSeconds(20)), "still " + pinned.thread());
    }
  }

  /// A goroutine that parks, without a time limit, until it has been woken often enough.
  private static final class Sleeper {
    private final Goroutine g;
    private final int rounds;
    private volatile int given;
    private volatile int taken;

    Sleeper(Lab lab, int rounds) {
      this.rounds = rounds;
      this.g = lab.go(this::sleep);
    }

    private void sleep() {
      for (int i = 1; i <= rounds; i++) {
        while (given < i) {
          LockSupport.park();
        }
        taken = i;
      }
    }

    void wakeAll() {
      for (int i = 0; i < rounds; i++) {
        wakeOne();
        // Parked again or not quite: both must work, so now and then it is not waited for.
        if (i % 4 != 0) {
          Lab.await("it parks", () -> g.state() != Goroutine.State.RUNNING);
        }
        int n = given;
        while (taken < n) {
          if (Thread.currentThread().isVirtual()) {
            Gloom.gosched();
            Thread.yield();
          } else {
            Thread.onSpinWait();
          }
        }
      }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one waker
    void wakeOne() {
      given = given + 1;
      LockSupport.unpark(g.thread());
    }

    void check() throws InterruptedException {
      assertTrue(
          g.join(Duration.ofSeconds(20)), () -> g + ": " + taken + " of " + given + " arrived");
      assertEquals(rounds, taken);
    }
  }

  /// Runs code inside a class initialiser, as often as one likes: each time a new hidden class.
  static final class Initialiser {
    private static Runnable action = () -> {};

    private static final class Template {
      static {
        Initialiser.action.run();
      }

      private Template() {}
    }

    static void run(Runnable inside) throws Exception {
      action = inside;
      byte[] classFile;
      try (var in =
          Initialiser.class.getResourceAsStream("WakeupSourcesTest$Initialiser$Template.class")) {
        classFile = in.readAllBytes();
      }
      MethodHandles.privateLookupIn(Template.class, MethodHandles.lookup())
          .defineHiddenClass(classFile, true, MethodHandles.Lookup.ClassOption.NESTMATE);
    }

    private Initialiser() {}
  }

  /// Runs code with a native frame below it: as the comparator of the C library's `qsort`.
  static final class Native {
    private static final ThreadLocal<Runnable> ACTION = new ThreadLocal<>();

    @SuppressWarnings("restricted") // the test JVM enables native access
    static void run(Runnable inside) {
      ACTION.set(inside);
      Linker linker = Linker.nativeLinker();
      try (var arena = Arena.ofConfined()) {
        var qsort =
            linker.downcallHandle(
                linker.defaultLookup().find("qsort").orElseThrow(),
                FunctionDescriptor.ofVoid(
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.ADDRESS));
        var comparator =
            linker.upcallStub(
                MethodHandles.lookup()
                    .findStatic(
                        Native.class,
                        "compare",
                        MethodType.methodType(int.class, MemorySegment.class, MemorySegment.class)),
                FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS),
                arena);
        qsort.invokeExact(arena.allocate(ValueLayout.JAVA_INT, 2), 2L, 4L, comparator);
      } catch (Throwable e) {
        throw new AssertionError(e);
      }
    }

    @SuppressWarnings("unused") // by qsort
    private static int compare(MemorySegment a, MemorySegment b) {
      Runnable action = ACTION.get();
      ACTION.remove();
      if (action != null) {
        action.run();
      }
      return 0;
    }

    private Native() {}
  }
}
