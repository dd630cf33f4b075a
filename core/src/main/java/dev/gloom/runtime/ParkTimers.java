package dev.gloom.runtime;

import dev.gloom.jdk.TimerQueues;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The time-outs of all Java code in goroutines, in the timer heaps of the Ps.
///
/// A virtual thread that parks or waits for a time asks one of the JDK's timer queues to wake it;
/// so do `Thread.sleep`, `Object.wait(ms)`, `BlockingQueue.poll(timeout)` and the rest. The queues
/// are replaced by this one. It is called on the M that the goroutine has just left, and its P gets
/// the alarm: no other thread, no lock that others hold. For a timed `Object.wait` the JDK holds a
/// monitor at the call and takes it again at the time-out; both are short, and an M that waits for
/// it has no goroutine mounted.
///
/// Virtual threads of other schedulers still go to the JDK's queue.
final class ParkTimers extends ScheduledThreadPoolExecutor {
  private final ScheduledExecutorService jdk;

  private ParkTimers(ScheduledExecutorService jdk) {
    // Of the base class only the type is used: it has no thread. A factory is given all the same:
    // the default one counts pools, and the program's would be called pool-2 and so on.
    super(0, body -> Starter.newThread("gloom-never", body));
    this.jdk = jdk;
  }

  /// Replaces the JDK's queues, once for the process.
  static void install() {
    TimerQueues.replace(jdk -> jdk instanceof ParkTimers ? jdk : new ParkTimers(jdk));
  }

  @Override
  public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
    M m = M.current();
    if (m == null) {
      return jdk.schedule(command, delay, unit);
    }
    var timeout = new Timeout(command);
    timeout.prepare(m.sched.clock, unit.toNanos(delay));
    add(m, timeout);
    return timeout;
  }

  /// Into the heap of the P of `m`. It has none if the goroutine parks in the middle of a call; and
  /// the heap is closed if the P is an orphan whose slot has gone.
  static void add(M m, Alarm timeout) {
    P p = m.p;
    TimerHeap.Added added = p == null ? TimerHeap.Added.CLOSED : p.timers.add(timeout);
    if (added == TimerHeap.Added.CLOSED) {
      m.sched.arm(m, timeout);
    } else if (p != null && added == TimerHeap.Added.EARLIEST) {
      p.newEarliest = true; // its M looks for work next, and then sees to it
    }
  }

  /// The JDK only ever cancels what it gets.
  private static final class Timeout extends Alarm implements ScheduledFuture<@Nullable Object> {
    private @Nullable Runnable command;

    Timeout(Runnable command) {
      this.command = command;
    }

    @Override
    protected void ring() {
      Runnable c = command;
      command = null;
      if (c != null) {
        c.run();
      }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
      if (!cancel()) {
        return false;
      }
      command = null; // it may stay in the heap for long, and the goroutine should not
      return true;
    }

    @Override
    public boolean isCancelled() {
      return !isArmed() && command == null;
    }

    @Override
    public boolean isDone() {
      return !isArmed();
    }

    @Override
    public @Nullable Object get() {
      throw new UnsupportedOperationException("nobody waits for a time-out");
    }

    @Override
    public @Nullable Object get(long timeout, TimeUnit unit) {
      throw new UnsupportedOperationException("nobody waits for a time-out");
    }

    @Override
    public long getDelay(TimeUnit unit) {
      return unit.convert(when - Clock.SYSTEM.nanoTime(), TimeUnit.NANOSECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
      return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
    }
  }
}
