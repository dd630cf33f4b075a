package dev.gloom.soak;

import dev.gloom.Gloom;
import dev.gloom.Scheduler;
import dev.gloom.api.Lab;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// A mix of everything, for as long as one likes: goroutines spawn, yield, park and are woken by
/// each other and from outside, sleep and are interrupted, wait for a time in all of Java's ways,
/// fight for monitors and locks, run others inside, start plain virtual threads, look at each
/// other's stacks, and change maxProcs. Checks that each ran exactly once, to its end, never in two
/// places at once, that no timed wait returned early, that monitors and locks were held by one at a
/// time, and that nothing had to be rescued.
///
/// By hand: `java … dev.gloom.soak.Soak SECONDS SEED PROCS [jdk]`; with `jdk` the same on the JDK's
/// own scheduler, as a control. PROCS 0: maxProcs changes all the time.
public final class Soak {
  private static final int ROOTS = 50;
  private static final int MOST_LIVE = 2_000;
  private static final int STEPS = 40;
  private static final int MOST_PROCS = 16;

  private final @Nullable Scheduler scheduler;
  private final boolean resizes;
  private final long seed;
  private final long untilNanos;

  private final AtomicLong started = new AtomicLong();
  private final AtomicLong ended = new AtomicLong();
  private final AtomicLong steps = new AtomicLong();
  private final AtomicInteger live = new AtomicInteger();
  private final AtomicLong ids = new AtomicLong();
  private final ConcurrentLinkedQueue<Sleeper> sleepers = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Napper> nappers = new ConcurrentLinkedQueue<>();
  private final AtomicLong timedWaits = new AtomicLong();
  private final AtomicLong interrupts = new AtomicLong();
  private final AtomicLong changes = new AtomicLong();
  private final Object[] monitors = new Object[4];
  private final ReentrantLock[] locks = new ReentrantLock[monitors.length];
  private final long[] guarded = new long[monitors.length];
  private final long[] locked = new long[monitors.length];
  private final AtomicLong entered = new AtomicLong();
  private final Object neverNotified = new Object();
  private final ArrayBlockingQueue<String> neverFilled = new ArrayBlockingQueue<>(1);
  private final Semaphore neverFree = new Semaphore(0);
  private volatile @Nullable String broken;
  private volatile Thread anybody = Thread.currentThread();

  private Soak(@Nullable Scheduler scheduler, boolean resizes, long seed, long nanos) {
    this.scheduler = scheduler;
    this.resizes = resizes;
    this.seed = seed;
    this.untilNanos = System.nanoTime() + nanos;
    for (int i = 0; i < monitors.length; i++) {
      monitors[i] = new Object();
      locks[i] = new ReentrantLock();
    }
  }

  public static void main(String[] args) throws Exception {
    long seconds = Long.parseLong(args[0]);
    long seed = Long.parseLong(args[1]);
    int procs = Integer.parseInt(args[2]);
    boolean jdk = args.length > 3 && args[3].equals("jdk");
    System.out.println(run(seconds * 1_000_000_000, seed, procs, jdk));
  }

  /// Runs one and answers what it did; throws if anything was wrong.
  static String run(long nanos, long seed, int procs, boolean jdk) throws Exception {
    if (jdk) {
      return new Soak(null, false, seed, nanos).play("the JDK's scheduler");
    }
    try (var scheduler = Scheduler.builder().maxProcs(procs == 0 ? 2 : procs).build()) {
      String on = procs == 0 ? "1 to " + MOST_PROCS + " Ps" : procs + " Ps";
      String did = new Soak(scheduler, procs == 0, seed, nanos).play(on);
      Lab.quiet(scheduler);
      return did + "; " + scheduler.stats();
    }
  }

  private String play(String on) {
    String what = "soak on %s, seed %d, JDK %s".formatted(on, seed, Runtime.version());
    for (int i = 0; i < ROOTS; i++) {
      spawn();
    }
    // This thread is no goroutine: it wakes whom nobody else wakes, until the last has ended.
    long patience = untilNanos + 60_000_000_000L;
    while (live.get() != 0) {
      Sleeper s = sleepers.poll();
      if (s != null) {
        s.wake();
      } else {
        LockSupport.parkNanos(100_000);
      }
      if (System.nanoTime() - patience > 0) {
        throw new AssertionError(what + ": " + live.get() + " never ended");
      }
    }
    String wrong = broken;
    if (wrong != null || started.get() != ended.get()) {
      throw new AssertionError(what + ": " + wrong + ", started " + started + ", ended " + ended);
    }
    long sum = 0;
    for (int i = 0; i < monitors.length; i++) {
      sum += guarded[i] + locked[i];
    }
    if (sum != entered.get()) {
      throw new AssertionError(what + ": two held a monitor: " + sum + " of " + entered);
    }
    return what
        + ": %,d started and ended, %,d steps, %,d under monitors and locks, %,d timed waits, %,d interrupts, %,d changes of maxProcs"
            .formatted(
                started.get(), steps.get(), sum, timedWaits.get(), interrupts.get(), changes.get());
  }

  private void spawn() {
    var life = new Life(ids.incrementAndGet());
    started.incrementAndGet();
    live.incrementAndGet();
    if (scheduler == null) {
      Thread.startVirtualThread(life);
    } else {
      scheduler.go(life::run);
    }
  }

  /// One goroutine.
  private final class Life implements Runnable {
    private final long id;
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger inside = new AtomicInteger();

    Life(long id) {
      this.id = id;
    }

    @Override
    public void run() {
      if (begun.incrementAndGet() != 1) {
        broken = "goroutine " + id + " began twice";
      }
      // Not the generator's own increment: neighbours would get the same numbers, one step apart.
      var random = new SplittableRandom(seed + id * 0xBF58476D1CE4E5B9L);
      try {
        int n = random.nextInt(STEPS);
        for (int i = 0; i < n; i++) {
          alone();
          step(random);
          steps.incrementAndGet();
        }
        while (System.nanoTime() - untilNanos < 0 && live.get() < ROOTS) {
          spawn();
        }
      } catch (Throwable e) {
        broken = "goroutine " + id + " failed: " + e;
      } finally {
        ended.incrementAndGet();
        live.decrementAndGet();
      }
    }

    private void step(SplittableRandom random) throws Exception {
      switch (random.nextInt(20)) {
        case 0, 1, 2 -> Gloom.gosched();
        case 3 -> Thread.yield();
        case 4, 5 -> {
          if (live.get() < MOST_LIVE && System.nanoTime() - untilNanos < 0) {
            spawn();
          }
        }
        case 6 -> new Sleeper().sleep();
        case 7 -> {
          Sleeper s = sleepers.poll();
          if (s != null) {
            s.wake();
          }
        }
        case 8 -> LockSupport.parkNanos(random.nextInt(50_000));
        case 9 -> {
          int i = random.nextInt(monitors.length);
          synchronized (monitors[i]) {
            entered.incrementAndGet();
            guarded[i]++;
            if (random.nextInt(4) == 0) {
              Thread.yield();
            }
          }
        }
        case 10 -> {
          // A plain virtual thread, which is adopted, and waited for.
          var t = Thread.startVirtualThread(Thread::yield);
          t.join();
        }
        case 11 -> {
          if (scheduler == null) {
            Thread.startVirtualThread(Thread::yield).join();
          } else {
            scheduler.run(Gloom::gosched);
          }
        }
        case 12 -> {
          anybody.getStackTrace();
          anybody = Thread.currentThread();
        }
        case 13 -> {
          int i = random.nextInt(locks.length);
          locks[i].lock();
          try {
            entered.incrementAndGet();
            locked[i]++;
            if (random.nextInt(4) == 0) {
              Thread.sleep(0, random.nextInt(100_000));
            }
          } finally {
            locks[i].unlock();
          }
        }
        case 14, 15 -> timedWait(random);
        case 16, 17 -> new Napper().nap(random.nextInt(2_000_000));
        case 18 -> {
          Napper n = nappers.poll();
          while (n != null && !n.interrupt()) {
            n = nappers.poll(); // that one is awake
          }
          if (n != null) {
            interrupts.incrementAndGet();
          }
        }
        default -> {
          if (resizes && random.nextInt(20) == 0 && scheduler != null) {
            scheduler.maxProcs(random.nextInt(1, MOST_PROCS + 1));
            changes.incrementAndGet();
          }
        }
      }
    }

    /// Waits for what does not come. Nobody wakes or interrupts it.
    private void timedWait(SplittableRandom random) throws InterruptedException {
      long millis = random.nextInt(1, 4);
      long start = System.nanoTime();
      int kind = random.nextInt(5);
      boolean came =
          switch (kind) {
            case 0 -> {
              Thread.sleep(millis);
              yield false;
            }
            case 1 -> {
              synchronized (neverNotified) {
                neverNotified.wait(millis);
              }
              yield false;
            }
            case 2 -> neverFilled.poll(millis, TimeUnit.MILLISECONDS) != null;
            case 3 -> neverFree.tryAcquire(millis, TimeUnit.MILLISECONDS);
            default -> Thread.currentThread().join(Duration.ofMillis(millis));
          };
      long waited = System.nanoTime() - start;
      timedWaits.incrementAndGet();
      if (came || waited < millis * 1_000_000) {
        broken = "wait " + kind + " of " + millis + " ms returned after " + waited + " ns: " + came;
      }
    }

    /// Two Ms in one goroutine would meet here.
    private void alone() {
      if (!inside.compareAndSet(0, 1)) {
        broken = "goroutine " + id + " runs in two places";
      }
      Thread.onSpinWait();
      inside.set(0);
    }
  }

  /// A goroutine that sleeps for a time, unless it is interrupted: by one other, and only then.
  private final class Napper {
    private static final int NAPPING = 0;
    private static final int CHOSEN = 1;
    private static final int INTERRUPTED = 2;
    private static final int AWAKE = 3;

    private final Thread thread = Thread.currentThread();
    private final AtomicInteger state = new AtomicInteger(NAPPING);

    void nap(long nanos) {
      nappers.add(this);
      long start = System.nanoTime();
      boolean thrown = false;
      try {
        Thread.sleep(Duration.ofNanos(nanos));
      } catch (InterruptedException e) {
        thrown = true;
      }
      long slept = System.nanoTime() - start;
      timedWaits.incrementAndGet();
      if (state.compareAndSet(NAPPING, AWAKE)) {
        if (thrown || slept < nanos) {
          broken = "nap of " + nanos + " ended after " + slept + " ns, interrupted: " + thrown;
        }
        return;
      }
      while (state.get() != INTERRUPTED) {
        Thread.yield(); // it is on its way
      }
      if (!thrown && !Thread.interrupted()) {
        broken = "an interrupt was lost";
      }
    }

    boolean interrupt() {
      if (!state.compareAndSet(NAPPING, CHOSEN)) {
        return false;
      }
      thread.interrupt();
      state.set(INTERRUPTED);
      return true;
    }
  }

  /// A goroutine that waits to be woken, by whoever takes it from the queue.
  private final class Sleeper {
    private final Thread thread = Thread.currentThread();
    private volatile boolean woken;

    void sleep() {
      sleepers.add(this);
      while (!woken) {
        LockSupport.park();
      }
    }

    void wake() {
      woken = true;
      LockSupport.unpark(thread);
    }
  }
}
