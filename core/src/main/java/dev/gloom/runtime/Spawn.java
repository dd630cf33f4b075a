package dev.gloom.runtime;

import dev.gloom.jdk.Vthread;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Makes goroutines: for `go`, for a thread factory, and for virtual threads that were started
/// inside a goroutine by code that knows nothing of gloom.
///
/// A goroutine counts from its start, which comes to {@link G#execute}, as each of its wake-ups
/// does.
///
/// Go: `newproc`, `newproc1`
public final class Spawn {
  /// Takes a virtual thread that is to stay off gloom, and answers whether it did. The agent's.
  private static volatile @Nullable Predicate<Runnable> elsewhere;

  private Spawn() {}

  /// From now on `predicate` is asked about each virtual thread that others start in a goroutine:
  /// true means that it has put the thread on a scheduler that is not gloom's.
  public static void elsewhere(Predicate<Runnable> predicate) {
    elsewhere = predicate;
  }

  /// Starts a goroutine. Where there is one P only, whoever has started so many that its ring is
  /// full lets them run first: a few hundred that are new, run and end stay in the cache, while
  /// those of a whole slice come back from memory and are copied by the collector. With more Ps
  /// others take them from the ring meanwhile. (Go goes on until the slice is over.) Go: the `go`
  /// statement
  public static G go(Sched sched, String name, Callable<?> body) {
    G g = make(sched, name, body, Site.of(body));
    M m = M.current();
    P p = m == null ? null : m.p;
    long spilled = p == null ? 0 : p.overflows;
    g.start();
    if (m != null && p != null && p.overflows != spilled && m.p == p && m.sched.maxProcs() == 1) {
      Sched.stepBack(m);
    } else {
      Sched.preemptionPoint();
    }
    return g;
  }

  /// A goroutine whose thread somebody else will start.
  public static G make(
      Sched sched, String name, Callable<?> body, @Nullable StackTraceElement site) {
    G parent = Sched.currentG();
    P p = currentP(sched);
    long id = p == null ? sched.takeIds(1) : p.nextId();
    long threadId = p == null ? sched.mount.takeThreadIds(1) : p.nextThreadId();
    return new G(sched, id, threadId, parent == null ? 0 : parent.id, site, name, body);
  }

  /// Takes over a virtual thread that inherited its scheduler from `parent`: this is its start, the
  /// first time that it is submitted, and before its first run nobody else can submit it. From here
  /// on it has a G of its own, and so have the threads that it starts.
  static void adopt(G parent, Runnable task) {
    Predicate<Runnable> other = elsewhere;
    if (other != null && other.test(task)) {
      return;
    }
    adopt(parent.sched, parent.id, task);
  }

  /// The same for one that had no goroutine to inherit from: the agent's.
  public static void adopt(Sched sched, Runnable task) {
    G parent = Sched.currentG();
    adopt(sched, parent == null ? 0 : parent.id, task);
  }

  private static void adopt(Sched sched, long parentId, Runnable task) {
    Thread thread = Vthread.owner(task);
    P p = currentP(sched);
    long id = p == null ? sched.takeIds(1) : p.nextId();
    G g = new G(sched, id, parentId, thread, task);
    Vthread.scheduler(thread, g);
    g.execute(task);
  }

  private static @Nullable P currentP(Sched sched) {
    M m = M.current();
    return m == null || m.sched != sched ? null : m.p;
  }
}
