package dev.gloom.runtime;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongConsumer;

/// A scheduler that stands still: no thread of it runs, and a test moves every part by hand.
///
/// All its Ps are out of the idle list, as if busy, so that no `wake` starts a real thread; a test
/// that wants an idle P makes it so together with an M that sleeps ({@link #idle}). Its goroutines
/// are never started: they are things to put into queues.
final class Still {
  final long seed;
  final HandClock clock = new HandClock();
  final HandParker parker = new HandParker();
  final HandKernel kernel = new HandKernel();
  final Sched sched;
  private int ms;

  Still(int maxProcs) {
    this(maxProcs, 42);
  }

  Still(int maxProcs, long seed) {
    this(maxProcs, seed, new Knobs(maxProcs, false, true));
  }

  /// With limits of its own: how many threads, and how many goroutines beyond the Ps.
  Still(int maxProcs, int maxThreads, int maxOvercommit) {
    this(
        maxProcs,
        42,
        new Knobs(
            maxProcs,
            false,
            true,
            Debug.OFF,
            null,
            true,
            maxThreads,
            maxOvercommit,
            Preemption.DEFAULT,
            true,
            true));
  }

  private Still(int maxProcs, long seed, Knobs knobs) {
    this.seed = seed;
    sched = new Sched(maxProcs, knobs, seed, clock, parker, Cpus.ofProcess(), kernel);
    sched.idle.retire(maxProcs); // the one way to take Ps out of the idle list …
    for (P p : sched.procs().all) {
      p.retired = false; // … but they stay in use
      p.status = P.HELD;
      p.link = null;
      FindWork.queued(sched, p); // the first tick looks at the global queue first …
      dispatched(p); // … the next 60 do not
    }
  }

  P p(int index) {
    return sched.procs().all[index];
  }

  /// An M that holds `p`, if that is not null, and is no running thread.
  M busy(P p) {
    var m = new M(sched, ms++, p, false);
    m.given = null;
    m.tid = 1000 + m.mid;
    if (p != null) {
      p.heldBy(m);
    }
    return m;
  }

  /// Makes `p` idle; answers the M that held it and now sleeps.
  M idle(P p) {
    M m = busy(p);
    sched.idle.release(m, p);
    return m;
  }

  /// An M that searches, for as long as the test likes.
  M searcher(P p) {
    M m = busy(p);
    if (!sched.idle.maySearch(m)) {
      throw new IllegalStateException("too many searchers for " + sched.describe());
    }
    return m;
  }

  G g() {
    return Spawn.make(sched, "", () -> null, null);
  }

  G[] gs(int n) {
    var all = new G[n];
    for (int i = 0; i < n; i++) {
      all[i] = g();
    }
    return all;
  }

  /// Counts as `M.dispatch` does, which nobody calls here.
  static void dispatched(P p) {
    if (p.inherit) {
      p.inherited++;
    } else {
      p.tick++;
    }
  }

  List<G> global() {
    var all = list(sched.global.takeChain(Integer.MAX_VALUE));
    for (G g : all) {
      sched.global.put(g);
    }
    return all;
  }

  /// The goroutines of a chain through `G.link`.
  static List<G> list(G chain) {
    var all = new ArrayList<G>();
    for (G g = chain; g != null; g = g.link) {
      all.add(g);
    }
    return all;
  }

  /// Everything in the ring, oldest first; the ring is empty afterwards.
  static List<G> emptied(RunQueue queue) {
    var all = new ArrayList<G>();
    for (G g = queue.poll(); g != null; g = queue.poll()) {
      all.add(g);
    }
    return all;
  }

  /// Links `gs` into a chain and answers its first.
  static G chain(G... gs) {
    for (int i = 0; i < gs.length; i++) {
      gs[i].link = i + 1 < gs.length ? gs[i + 1] : null;
    }
    return gs[0];
  }

  /// Time that moves only when somebody reads it or sets it.
  static final class HandClock implements Clock {
    private volatile long now;
    private volatile long stepNanos = 1_000;

    /// Called at each read with the time that it answers.
    volatile LongConsumer onRead = _ -> {};

    @Override
    public long nanoTime() {
      long answer = now;
      now = answer + stepNanos;
      onRead.accept(answer);
      return answer;
    }

    void stop() {
      stepNanos = 0;
    }

    /// By how much each read moves it.
    void step(long nanos) {
      stepNanos = nanos;
    }

    /// Stops it at a time.
    void stopAt(long nanos) {
      stepNanos = 0;
      now = nanos;
    }
  }

  /// A kernel whose threads do what a test says: they run, and have used no time, until it says
  /// more.
  static final class HandKernel implements Kernel {
    private final Set<Integer> asleep = new HashSet<>();
    private final Map<Integer, Long> starts = new HashMap<>();
    private final Map<Integer, Long> cpuNanos = new HashMap<>();

    /// How often it was asked whether a thread sleeps.
    int asked;

    void sleeps(M m) {
      asleep.add(m.tid);
    }

    void runs(M m) {
      asleep.remove(m.tid);
    }

    /// It got a core once more.
    void started(M m) {
      starts.put(m.tid, starts(m.tid) + 1);
    }

    void burnt(M m, long nanos) {
      cpuNanos.merge(m.tid, nanos, Long::sum);
    }

    /// It has ended: nothing is known.
    void ended(M m) {
      asleep.remove(m.tid);
      starts.put(m.tid, UNKNOWN);
      cpuNanos.put(m.tid, UNKNOWN);
    }

    @Override
    public int thisThread() {
      return 1;
    }

    @Override
    public boolean asleep(int thread) {
      asked++;
      return asleep.contains(thread);
    }

    @Override
    public long starts(int thread) {
      return starts.getOrDefault(thread, 7L);
    }

    @Override
    public long cpuNanos(int thread) {
      return cpuNanos.getOrDefault(thread, 0L);
    }
  }

  /// Sleeps for nobody, and writes down who was woken.
  static final class HandParker implements Parker {
    final Queue<Thread> woken = new ConcurrentLinkedQueue<>();

    /// For how long the last park was to be; NEVER if for no certain time.
    volatile long lastNanos;

    volatile Runnable onUnpark = () -> {};
    volatile Runnable onPark =
        () -> {
          throw new IllegalStateException("nobody sleeps in this test");
        };

    @Override
    public void park() {
      lastNanos = Alarm.NEVER;
      onPark.run();
    }

    @Override
    public void parkNanos(long nanos) {
      lastNanos = nanos;
      onPark.run();
    }

    @Override
    public void unpark(Thread thread) {
      woken.add(thread);
      onUnpark.run();
    }
  }
}
