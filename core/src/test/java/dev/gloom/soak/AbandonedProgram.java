package dev.gloom.soak;

import dev.gloom.Chan;
import dev.gloom.Context;
import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import dev.gloom.WaitGroup;
import dev.gloom.api.Lab;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/// Goroutines that wait for what nobody else can reach: run in a JVM of its own, with and without
/// the setting by which the collector may take them.
///
/// `wait N` has one lot of each kind wait on N processors, drops them, and prints for each kind how
/// many objects there were (`recv.all=`) and how many of them the collector took (`recv.gone=`).
/// `leak N` starts N that wait for ever, in a heap that has no room for them.
public final class AbandonedProgram {
  /// How many collections at least, and for how long more of them if something is left: a thread
  /// that has just let go of a goroutine may not have got any further.
  private static final int COLLECTIONS = 5;

  private static final long PATIENCE_NANOS = 10_000_000_000L;

  /// As large as a value may be that one wants to get rid of.
  private static final int VALUE_BYTES = 1 << 16;

  private static Chan<String> reachable;

  private AbandonedProgram() {}

  public static void main(String[] args) throws Exception {
    int n = Integer.parseInt(args[1]);
    if (args[0].equals("leak")) {
      leak(n);
    } else {
      waitFor(Scheduler.builder().maxProcs(n).build());
    }
  }

  /// Makes goroutines that wait, and everything that they wait for.
  private interface Kind {
    void start(Lot lot) throws Exception;
  }

  private static void waitFor(Scheduler scheduler) throws Exception {
    var answer = new AtomicReference<String>();
    reachable = Chan.make();
    Goroutine stays = scheduler.go(() -> answer.set(reachable.recv()));
    Lab.awaitWaiting(stays);
    abandon(scheduler, "recv", lot -> lot.go(lot.channel(0)::recv));
    abandon(
        scheduler,
        "send",
        lot -> {
          Chan<Object> ch = lot.channel(0);
          Object value = lot.value();
          lot.go(() -> ch.send(value));
        });
    abandon(
        scheduler,
        "full",
        lot -> {
          Chan<Object> ch = lot.channel(1);
          ch.send(lot.value());
          Object value = lot.value();
          lot.go(() -> ch.send(value));
        });
    abandon(
        scheduler,
        "select",
        lot -> {
          Chan<Object> in = lot.channel(0);
          Chan<Object> out = lot.channel(0);
          Object value = lot.value();
          lot.go(() -> Gloom.select(Gloom.recv(in, v -> v), Gloom.send(out, value, () -> out)));
        });
    abandon(
        scheduler,
        "cycle",
        lot -> {
          Chan<Object> one = lot.channel(0);
          Chan<Object> other = lot.channel(0);
          lot.go(() -> one.send(other.recv()));
          lot.go(() -> other.send(one.recv()));
        });
    abandon(
        scheduler,
        "group",
        lot -> {
          var group = lot.watch(new WaitGroup());
          group.add(1);
          lot.go(group::await);
        });
    abandon(
        scheduler,
        "context",
        lot -> {
          Context context = lot.watch(Context.background().withCancel());
          Chan<Object> ch = lot.channel(0);
          lot.go(() -> Gloom.select(Gloom.recv(context.done(), v -> v), Gloom.recv(ch, v -> v)));
        });
    abandon(scheduler, "never", lot -> lot.go(() -> Gloom.select()));
    abandon(
        scheduler,
        "adopted",
        lot -> {
          var made = new AtomicReference<Thread>();
          lot.scheduler.go(() -> made.set(Thread.startVirtualThread(LockSupport::park))).join();
          lot.watch(made.get());
          Lab.await("it waits", () -> made.get().getState() == Thread.State.WAITING);
        });
    await(scheduler);
    print("left", scheduler.numGoroutine());
    print("dumped", scheduler.dump().lines().filter(l -> l.startsWith("goroutine ")).count());
    print("listed", scheduler.dump().contains("goroutine 1 [chan receive]") ? 1 : 0);
    reachable.send("hello");
    stays.join();
    print("answered", "hello".equals(answer.get()) ? 1 : 0);
    Lab.noRescues(scheduler);
  }

  /// The monitor takes those that were collected out of the count, once a second at least.
  private static void await(Scheduler scheduler) {
    long start = System.nanoTime();
    while (scheduler.numGoroutine() != 1 && System.nanoTime() - start < 5_000_000_000L) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  private static void abandon(Scheduler scheduler, String name, Kind kind) throws Exception {
    List<WeakReference<?>> watched = start(scheduler, kind);
    boolean patient = !Boolean.parseBoolean(System.getProperty("jdk.trackAllThreads", "true"));
    long start = System.nanoTime();
    for (int i = 0;
        i < COLLECTIONS
            || patient && left(watched) > 0 && System.nanoTime() - start < PATIENCE_NANOS;
        i++) {
      System.gc();
      LockSupport.parkNanos(1_000_000);
    }
    print(name + ".all", watched.size());
    print(name + ".gone", watched.size() - left(watched));
  }

  private static long left(List<WeakReference<?>> watched) {
    return watched.stream().filter(r -> !r.refersTo(null)).count();
  }

  private static List<WeakReference<?>> start(Scheduler scheduler, Kind kind) throws Exception {
    var lot = new Lot(scheduler);
    kind.start(lot);
    lot.goroutines.forEach(Lab::awaitWaiting);
    return lot.watched;
  }

  /// What belongs together, and nothing else refers to.
  private static final class Lot {
    final Scheduler scheduler;
    final List<Goroutine> goroutines = new ArrayList<>();
    final List<WeakReference<?>> watched = new ArrayList<>();

    Lot(Scheduler scheduler) {
      this.scheduler = scheduler;
    }

    <T> T watch(T it) {
      watched.add(new WeakReference<>(it));
      return it;
    }

    Chan<Object> channel(int capacity) {
      return watch(Chan.make(capacity));
    }

    Object value() {
      return watch(new byte[VALUE_BYTES]);
    }

    void go(dev.gloom.Body body) {
      Goroutine g = scheduler.go(body);
      watch(g.thread());
      goroutines.add(g);
    }
  }

  /// The processor never rests, so nothing is tidied up because there is time for it.
  private static void leak(int n) throws Exception {
    var scheduler = Scheduler.builder().maxProcs(1).build();
    scheduler.run(
        () -> {
          for (int i = 0; i < n; i++) {
            Chan<Object> ch = Chan.make();
            scheduler.go(ch::recv);
            if (i % 100 == 0) {
              Gloom.gosched();
            }
          }
        });
    Lab.await("they are gone", () -> gone(scheduler));
    print("started", scheduler.stats().started());
  }

  private static boolean gone(Scheduler scheduler) {
    System.gc();
    return scheduler.numGoroutine() == 0;
  }

  private static void print(String name, long value) {
    System.out.println(name + "=" + value);
  }
}
