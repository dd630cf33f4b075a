package dev.gloom.soak;

import dev.gloom.Gloom;
import dev.gloom.Scheduler;
import dev.gloom.api.Lab;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// A mix of everything, for as long as one likes: goroutines spawn, yield, park and are woken by
/// each other and from outside, sleep, fight for monitors, run others inside, start plain virtual
/// threads, and look at each other's stacks. Checks that each ran exactly once, to its end, never
/// in two places at once, and that nothing had to be rescued.
///
/// By hand: `java … dev.gloom.soak.Soak SECONDS SEED PROCS [jdk]`; with `jdk` the same on the JDK's
/// own scheduler, as a control.
public final class Soak {
  private static final int ROOTS = 50;
  private static final int MOST_LIVE = 2_000;
  private static final int STEPS = 40;

  private final @Nullable Scheduler scheduler;
  private final long seed;
  private final long untilNanos;

  private final AtomicLong started = new AtomicLong();
  private final AtomicLong ended = new AtomicLong();
  private final AtomicLong steps = new AtomicLong();
  private final AtomicInteger live = new AtomicInteger();
  private final AtomicLong ids = new AtomicLong();
  private final ConcurrentLinkedQueue<Sleeper> sleepers = new ConcurrentLinkedQueue<>();
  private final Object[] monitors = new Object[4];
  private final long[] guarded = new long[monitors.length];
  private volatile @Nullable String broken;
  private volatile Thread anybody = Thread.currentThread();

  private Soak(@Nullable Scheduler scheduler, long seed, long nanos) {
    this.scheduler = scheduler;
    this.seed = seed;
    this.untilNanos = System.nanoTime() + nanos;
    for (int i = 0; i < monitors.length; i++) {
      monitors[i] = new Object();
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
      return new Soak(null, seed, nanos).play("the JDK's scheduler");
    }
    try (var scheduler = Scheduler.builder().maxProcs(procs).build()) {
      String did = new Soak(scheduler, seed, nanos).play(procs + " Ps");
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
    for (long g : guarded) {
      sum += g;
    }
    return what
        + ": %,d started and ended, %,d steps, %,d under monitors"
            .formatted(started.get(), steps.get(), sum);
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
      switch (random.nextInt(13)) {
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
        default -> {
          anybody.getStackTrace();
          anybody = Thread.currentThread();
        }
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
