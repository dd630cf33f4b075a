package dev.gloom.contract;

import dev.gloom.Body;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import dev.gloom.api.Lab;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;

/// Wakes and starts goroutines at every depth near the end of a stack, and looks what became of
/// each. A program too, so that it can be run in a JVM that only interprets.
///
/// {@link #descend} calls itself until the stack is full; on the way back each level makes one
/// attempt with a few bytes more than the one below it had. So the stack overflows at every call
/// inside `execute` in turn, from the first to the last; further up, all goes well. Where a level
/// is larger than what its attempt needs, as it may be once all of it is compiled into one frame,
/// none fails; in the interpreter some always do.
final class StackOverflowProgram {
  /// What is done at each depth.
  enum Deed {
    /// Wakes a parked goroutine.
    UNPARK,
    /// The same, with the local queue full, so that half of it must move.
    UNPARK_FULL,
    /// Starts a thread that was made before.
    START,
    /// The whole of `go`.
    GO,
    /// Starts a virtual thread of the JDK, to be adopted.
    ADOPT
  }

  /// What became of all attempts.
  ///
  /// @param succeeded those that returned
  /// @param failed those that ended in a StackOverflowError
  /// @param lost those that returned and whose goroutine never ran, or that a second wake-up could
  ///   not bring back: the bug that this looks for
  /// @param failedAndRan starts that threw although the goroutine ran: a few, since the JDK's own
  ///   code behind `execute` (Continuation.unpin) may run out of stack too
  record Outcome(int succeeded, int failed, int lost, int failedAndRan) {
    boolean good() {
      return lost == 0 && succeeded > 0 && failedAndRan <= 10;
    }

    @Override
    public String toString() {
      return "succeeded=%d failed=%d lost=%d failedAndRan=%d"
          .formatted(succeeded, failed, lost, failedAndRan);
    }
  }

  private static final int ATTEMPTS = 2_000;
  private static final int RING = 256;
  private static final long PATIENCE_NANOS = 20_000_000_000L;

  private final Scheduler scheduler;
  private final Deed deed;
  private final Thread[] targets = new Thread[ATTEMPTS];
  private final Body[] bodies = new Body[ATTEMPTS];
  private final boolean[] returned = new boolean[ATTEMPTS];
  private final AtomicIntegerArray ran = new AtomicIntegerArray(ATTEMPTS);
  private int next;

  private StackOverflowProgram(Scheduler scheduler, Deed deed) {
    this.scheduler = scheduler;
    this.deed = deed;
  }

  public static void main(String[] args) throws Exception {
    for (int procs : new int[] {1, 2}) {
      for (Deed deed : Deed.values()) {
        for (boolean fromGoroutine : new boolean[] {true, false}) {
          if (deed == Deed.ADOPT && !fromGoroutine) {
            continue;
          }
          Scheduler scheduler = Scheduler.builder().maxProcs(procs).build();
          Outcome outcome = run(scheduler, deed, fromGoroutine);
          System.out.printf(
              "procs=%d %s goroutine=%b: %s rescues=%d%n",
              procs, deed, fromGoroutine, outcome, scheduler.stats().rescues());
          if (!outcome.good() || outcome.failed() == 0 || scheduler.stats().rescues() != 0) {
            System.out.println("FAILED");
            System.exit(1);
          }
        }
      }
    }
  }

  /// One descent on a goroutine or a platform thread.
  static Outcome run(Scheduler scheduler, Deed deed, boolean fromGoroutine) throws Exception {
    // A class of the JDK that is initialised at the end of a stack is broken for ever.
    ThreadLocalRandom.current();
    var program = new StackOverflowProgram(scheduler, deed);
    boolean wakes = deed == Deed.UNPARK || deed == Deed.UNPARK_FULL;
    if (wakes) {
      program.park();
    } else {
      program.prepareStarts();
    }
    if (fromGoroutine) {
      scheduler.run(program::act);
    } else {
      Thread t = new Thread(null, program::act, "deep", 512 * 1024);
      t.start();
      t.join();
    }
    Outcome outcome = wakes ? program.afterWakes() : program.afterStarts();
    // The scheduler is as good as new.
    scheduler.run(
        () -> {
          var children = new Goroutine[1_000];
          for (int i = 0; i < children.length; i++) {
            children[i] = scheduler.go(() -> {});
          }
          for (Goroutine g : children) {
            g.join();
          }
        });
    return outcome;
  }

  private void park() {
    for (int i = 0; i < ATTEMPTS; i++) {
      int me = i;
      targets[i] =
          scheduler
              .go(
                  () -> {
                    LockSupport.park(); // a virtual thread's park returns for no other reason
                    ran.set(me, 1);
                  })
              .thread();
    }
    for (Thread t : targets) {
      Lab.await("it parks", () -> t.getState() == Thread.State.WAITING);
    }
  }

  private void prepareStarts() throws Exception {
    var factory = scheduler.threadFactory();
    for (int i = 0; i < ATTEMPTS; i++) {
      int me = i;
      targets[i] = factory.newThread(() -> ran.incrementAndGet(me));
      bodies[i] = () -> ran.incrementAndGet(me);
    }
    scheduler.go(bodies[0]).join(); // finds out where it is called, once
    ran.set(0, 0);
  }

  private void act() {
    if (deed == Deed.ADOPT) {
      for (int i = 0; i < ATTEMPTS; i++) {
        int me = i;
        targets[i] = Thread.ofVirtual().unstarted(() -> ran.incrementAndGet(me));
      }
    }
    if (deed == Deed.UNPARK_FULL) {
      for (int i = 0; i < RING; i++) {
        attempt();
      }
    }
    descend();
  }

  @SuppressWarnings("InfiniteRecursion") // what it is for
  private void descend() {
    try {
      descend();
    } catch (StackOverflowError e) {
      // The level below, or its attempt, had no room. Here there is a little more.
    }
    attempt();
  }

  private void attempt() {
    int i = next;
    if (i == ATTEMPTS) {
      return;
    }
    next = i + 1;
    switch (deed) {
      case UNPARK, UNPARK_FULL -> LockSupport.unpark(targets[i]);
      case START, ADOPT -> targets[i].start();
      case GO -> scheduler.go(bodies[i]);
    }
    returned[i] = true;
  }

  private Outcome afterWakes() {
    int succeeded = 0;
    int lost = 0;
    for (int i = 0; i < ATTEMPTS; i++) {
      if (returned[i]) {
        succeeded++;
        if (!comes(i)) {
          lost++;
        }
      }
    }
    // The others may be anything between untouched and runnable, but not submitted: the JDK's own
    // code has no answer to a full stack. A stack trace makes it submit a runnable one again; what
    // stays behind then is one that gloom thinks is queued and is not.
    for (int i = 0; i < ATTEMPTS; i++) {
      if (!returned[i]) {
        LockSupport.unpark(targets[i]);
        targets[i].getStackTrace();
      }
    }
    for (int i = 0; i < ATTEMPTS; i++) {
      if (!returned[i] && !comes(i)) {
        lost++;
      }
    }
    return new Outcome(succeeded, ATTEMPTS - succeeded, lost, 0);
  }

  private Outcome afterStarts() {
    int succeeded = 0;
    int lost = 0;
    for (int i = 0; i < ATTEMPTS; i++) {
      if (returned[i]) {
        succeeded++;
        if (!comes(i) || ran.get(i) != 1) {
          lost++;
        }
      }
    }
    Lab.quiet(scheduler);
    int failedAndRan = 0;
    for (int i = 0; i < ATTEMPTS; i++) {
      if (!returned[i] && ran.get(i) != 0) {
        failedAndRan++;
      }
    }
    return new Outcome(succeeded, ATTEMPTS - succeeded, lost, failedAndRan);
  }

  private boolean comes(int i) {
    long start = System.nanoTime();
    while (ran.get(i) == 0) {
      if (System.nanoTime() - start > PATIENCE_NANOS) {
        return false;
      }
      LockSupport.parkNanos(100_000);
    }
    return true;
  }
}
