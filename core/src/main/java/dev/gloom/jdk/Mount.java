package dev.gloom.jdk;

import java.util.concurrent.Executor;

/// The seam between the scheduler and the way a goroutine comes to life, gets onto its carrier and
/// off again. The scheduler sees *make one*, *start it*, *resume it*, *suspend the current one*,
/// *this one may go on*, and nothing of how.
///
/// {@link JdkMount} is the JDK's own path: always right, the fall-back. {@link LeanMount} does the
/// same with fewer fences, on a JDK that it knows.
///
/// Both speak the JDK's language of states and permits, so that a goroutine may be suspended by the
/// one and resumed by the other, and the JDK's own park, unpark and yield work with either.
public interface Mount {
  /// Which one it is, and if it is not the better one, why.
  String description();

  /// Ids for so many threads, one after the other; answers the first. For {@link #make}.
  long takeThreadIds(int n);

  /// A virtual thread, not started, that inherits from the current thread what a thread inherits.
  /// `task` is what its scheduler would like to get each time it can continue; {@link Vthread#task}
  /// says what it gets.
  Thread make(Executor scheduler, String name, Runnable body, Runnable task, long threadId);

  /// Starts a thread from {@link #make} of which nobody else knows yet. True if the caller is to
  /// queue it, as its scheduler's `execute` does; false if that has been done.
  boolean start(Thread vthread, Container container);

  /// Runs the virtual thread on the calling platform thread until it suspends or ends; does nothing
  /// if the thread cannot continue now. One caller at a time for each thread. True if it ran; false
  /// is no word about it.
  ///
  /// If it ran and has yielded, the caller queues it, whether its scheduler got its task or not.
  /// Else the caller calls {@link #reclaim} after a full fence, before it forgets the thread.
  boolean resume(Thread vthread);

  /// Whether a thread that was resumed, and suspended, can continue although its scheduler may not
  /// have got its task. If so, the caller queues it if nobody else does.
  boolean reclaim(Thread vthread);

  /// Reads what {@link #resume} will read of a thread that waits. Of several threads in a row all
  /// of that comes from memory at the same time; else each would wait for its own when its turn
  /// comes. The answer means nothing, but is to be kept, or the JIT would leave the reads out.
  boolean warm(Thread vthread);

  /// Suspends the current goroutine; it stays runnable.
  void suspendRunnable();

  /// Suspends the current goroutine until somebody calls {@link #wake} or interrupts it; or
  /// earlier.
  void suspendWaiting();

  /// Lets a thread go on that is in {@link #suspendWaiting}, or will be; what the caller wrote
  /// before is seen by it then. True if the caller is to queue it, as its scheduler's `execute`
  /// does; false if that has been done, or need not be.
  boolean wake(Thread vthread);
}
