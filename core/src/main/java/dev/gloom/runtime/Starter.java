package dev.gloom.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// The thread that starts all other threads of gloom, for all schedulers of the process.
///
/// A new M is wanted on the ready path, and that may be the middle of a user's goroutine: a thread
/// made there would inherit its context class loader, access to its thread group and thread locals,
/// and making it takes 100 us and memory. So whoever wants an M for a P pushes the P onto a stack,
/// without a lock or an allocation, and unparks this thread. Go: the template thread,
/// `startTemplateThread`
final class Starter {
  private static final long RETRY_NANOS = 10_000_000;

  /// Ps that want an M: a chain through `P.startLink`.
  @SuppressWarnings("unused") // through WANTED
  private static volatile @Nullable P wanted;

  private static boolean told; // this thread's own

  private static final VarHandle WANTED;
  private static final Thread THREAD;

  static {
    try {
      WANTED = MethodHandles.lookup().findStaticVarHandle(Starter.class, "wanted", P.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
    THREAD = newThread("gloom-starter", Starter::loop);
    THREAD.start();
  }

  private Starter() {}

  /// Runs the static initialiser, on a thread with stack and memory to spare.
  static void init() {}

  /// Has a new M started on `p`, as a searcher. Does not block or allocate.
  static void start(P p) {
    P top;
    do {
      top = wanted;
      p.startLink = top;
    } while (!WANTED.compareAndSet(top, p));
    LockSupport.unpark(THREAD);
  }

  static Thread newThread(String name, Runnable body) {
    Thread t =
        Thread.ofPlatform()
            .daemon()
            .name(name)
            .inheritInheritableThreadLocals(false)
            .unstarted(body);
    t.setContextClassLoader(ClassLoader.getSystemClassLoader());
    return t;
  }

  static boolean isThread(Thread t) {
    return t == THREAD;
  }

  /// All platform threads of the process. No safepoint, no stack.
  static Thread[] allThreads() {
    ThreadGroup top = THREAD.getThreadGroup();
    for (ThreadGroup up = top; up != null; up = up.getParent()) {
      top = up;
    }
    for (int room = 32; ; room *= 2) {
      Thread[] all = new Thread[room];
      int n = top.enumerate(all);
      if (n < room) {
        return Arrays.copyOf(all, n);
      }
    }
  }

  /// Goes on trying when there is no thread to be had: the P and the work behind it wait, and other
  /// schedulers do not wait with them.
  private static void loop() {
    P waiting = null;
    for (; ; ) {
      P p = (P) WANTED.getAndSet(null);
      if (p == null && waiting == null) {
        LockSupport.park(Starter.class);
        Thread.interrupted();
      } else if (p == null) {
        LockSupport.parkNanos(Starter.class, RETRY_NANOS);
        Thread.interrupted();
      }
      waiting = startAll(p, startAll(waiting, null));
    }
  }

  /// Answers those for which there was no thread, in front of `rest`.
  private static @Nullable P startAll(@Nullable P chain, @Nullable P rest) {
    P waiting = rest;
    for (P p = chain; p != null; ) {
      P next = p.startLink;
      p.startLink = null;
      if (!startM(p)) {
        p.startLink = waiting;
        waiting = p;
      }
      p = next;
    }
    return waiting;
  }

  private static boolean startM(P p) {
    Idle idle = p.sched.idle;
    return idle.startSleeper(p) || startThread(p) || idle.startWatcher(p);
  }

  private static boolean startThread(P p) {
    try {
      return p.sched.startM(p);
    } catch (OutOfMemoryError e) {
      if (!told) {
        told = true;
        tell(e);
      }
      return false;
    }
  }

  private static void tell(OutOfMemoryError e) {
    try {
      System.err.println("gloom: cannot start a thread, trying again: " + e.getMessage());
    } catch (OutOfMemoryError again) {
      // No memory for words either; this thread must go on all the same, for all schedulers.
    }
  }
}
