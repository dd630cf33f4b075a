package dev.gloom;

import dev.gloom.runtime.G;
import dev.gloom.runtime.Waits;
import java.time.Duration;

/// A goroutine that was started. Holding on to it costs nothing, and losing it does no harm.
public final class Goroutine {
  private final G g;

  Goroutine(G g) {
    this.g = g;
  }

  /// What a goroutine is doing, in Go's terms.
  public enum State {
    /// Made, not started.
    IDLE,
    /// Can run and waits for its turn.
    RUNNABLE,
    /// Runs at this moment.
    RUNNING,
    /// In a blocking call that holds its thread.
    SYSCALL,
    /// Parked, asleep, blocked.
    WAITING,
    /// Ended.
    DEAD
  }

  /// Unique in its scheduler, never reused; the first goroutine is 1.
  public long id() {
    return g.id;
  }

  /// The name it was given, or `goroutine` and its id; where it was created is added when an
  /// exception has left one without a name.
  public String name() {
    String name = g.thread().getName();
    return name.isEmpty() ? "goroutine " + g.id : name;
  }

  /// What it is doing at this moment.
  public State state() {
    return switch (g.status()) {
      case IDLE -> State.IDLE;
      case RUNNABLE -> State.RUNNABLE;
      case RUNNING -> State.RUNNING;
      case SYSCALL -> State.SYSCALL;
      case WAITING -> State.WAITING;
      case DEAD -> State.DEAD;
    };
  }

  /// What it waits for, in the words of a {@linkplain Gloom#dump dump}: `chan receive`, `lock`,
  /// `sleep` …; "" if it does not wait.
  public String waitReason() {
    return Waits.of(g);
  }

  /// Waits until it has ended, from a goroutine or any other thread. How it ended is not told: an
  /// exception that left it has been reported by then. On a platform thread it throws {@link
  /// DeadlockException} when all goroutines are asleep for good.
  public void join() throws InterruptedException {
    String deadlock = g.join();
    if (deadlock != null) {
      throw new DeadlockException(deadlock);
    }
  }

  /// Waits until it has ended or the time is over; false in the second case. Never throws {@link
  /// DeadlockException}.
  public boolean join(Duration atMost) throws InterruptedException {
    return g.join(atMost);
  }

  /// Its virtual thread.
  public Thread thread() {
    return g.thread();
  }

  @Override
  public String toString() {
    return name() + " [" + state().name().toLowerCase(java.util.Locale.ROOT) + "]";
  }
}
