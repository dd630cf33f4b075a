package dev.gloom;

import dev.gloom.runtime.Blocking;
import dev.gloom.runtime.Sched;
import dev.gloom.runtime.Selector;
import dev.gloom.runtime.ThreadLock;
import dev.gloom.runtime.Ticket;
import dev.gloom.runtime.Undisturbed;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/// Goroutines. Meant to be imported statically:
///
/// ```java
/// import static dev.gloom.Gloom.*;
///
/// void main() throws Exception {
///   run(() -> {
///     var hello = go(() -> IO.println("hello from a goroutine"));
///     hello.join();
///   });
/// }
/// ```
///
/// Each goroutine is a virtual thread: all of Java works inside one. Called inside a goroutine,
/// these methods mean the scheduler of that goroutine; elsewhere the default one, which is made at
/// its first use with `gloom.maxprocs`, else GOMAXPROCS, else as many processors as there are CPUs
/// for this process, within its container's quota; see {@link #defaultMaxProcs()}.
public final class Gloom {
  private Gloom() {}

  /// Runs `body` as a goroutine and waits for it, from a goroutine or any other thread. Returns
  /// when the body does, without waiting for goroutines that it started; throws what it threw. On a
  /// platform thread it throws {@link DeadlockException} when all goroutines are asleep for good.
  public static void run(Body body) throws Exception {
    scheduler().run(body);
  }

  /// Starts a goroutine. An exception that leaves it goes to its thread's uncaught handler; in a
  /// program started by `./gloom run` it ends the program with status 2, as a panic does in Go.
  public static Goroutine go(Body body) {
    return scheduler().go(body);
  }

  /// Starts a goroutine whose thread has a name.
  public static Goroutine go(String name, Body body) {
    return scheduler().go(name, body);
  }

  /// Lets the other goroutines run first: those in line get their turn before this one goes on.
  /// Does nothing if there are none.
  public static void gosched() {
    Sched.gosched();
  }

  /// Makes a call that may hold its thread for a while, in the kernel or in native code, and lets
  /// other goroutines have the processor meanwhile if it does. Costs next to nothing if it does
  /// not. What is called may be any code. On a thread that is no goroutine it is just a call.
  public static <T extends @Nullable Object> T blocking(Callable<T> call) throws Exception {
    return Blocking.call(Objects.requireNonNull(call, "blocking call of null"), false);
  }

  /// The same for a call that is known to last: the processor is given up at once.
  public static <T extends @Nullable Object> T blockingLong(Callable<T> call) throws Exception {
    return Blocking.call(Objects.requireNonNull(call, "blocking call of null"), true);
  }

  /// Makes a call that is not preempted: it keeps its processor, however long it runs, until it
  /// waits, yields or ends. For code that relies on running undisturbed. On a thread that is no
  /// goroutine it is just a call.
  public static <T extends @Nullable Object> T nonPreemptible(Callable<T> call) throws Exception {
    return Undisturbed.call(Objects.requireNonNull(call, "nonPreemptible call of null"));
  }

  /// Locks the calling goroutine to its OS thread: until it has called {@link #unlockOSThread} as
  /// often as this, it runs on no other thread, and no other goroutine on this one. For native
  /// libraries that keep state in the thread. Each wait then costs two switches of threads. A
  /// goroutine that ends locked ends its thread; those that it starts are not locked. On a thread
  /// that is no goroutine it does nothing.
  ///
  /// Throws {@link IllegalStateException} when the count overflows.
  public static void lockOSThread() {
    ThreadLock.lock();
  }

  /// Takes back one {@link #lockOSThread}. Does nothing if there is none, or on a thread that is no
  /// goroutine.
  public static void unlockOSThread() {
    ThreadLock.unlock();
  }

  /// How many goroutines run at once.
  public static int maxProcs() {
    return scheduler().maxProcs();
  }

  /// Changes that number and answers the old one; 0 or less only reads, as in Go. When it returns,
  /// no more than `n` run; but for a goroutine that passes no scheduling point it waits about a
  /// second at most, and that one then goes on until it does. A number that was set, even to what
  /// it was, no longer follows the container's quota.
  ///
  /// @throws IllegalArgumentException if it is more than 65,536
  public static int maxProcs(int n) {
    return scheduler().maxProcs(n);
  }

  /// Goes back to the default number and answers it: what a scheduler has for which nobody set one,
  /// by {@link #maxProcs(int)}, {@link Scheduler.Builder#maxProcs}, `gloom.maxprocs` or GOMAXPROCS.
  ///
  /// That is the number of CPUs that this process may use, but at most the CPU quota of its
  /// container, rounded up to whole CPUs, and not below 2 for that alone; or what
  /// `-XX:ActiveProcessorCount` says. It is followed: when the quota changes, maxProcs does within
  /// two seconds. `GODEBUG=updatemaxprocs=0` stops that, `containermaxprocs=0` ignores the quota.
  public static int defaultMaxProcs() {
    return scheduler().defaultMaxProcs();
  }

  /// Goroutines that have started and not ended, those in {@link #run} included.
  public static int numGoroutine() {
    return scheduler().numGoroutine();
  }

  /// Pauses the calling goroutine or thread. Zero or less returns at once.
  public static void sleep(Duration duration) throws InterruptedException {
    if (duration.isPositive()) {
      Sched.sleep(duration);
    }
  }

  /// Waits until one of the cases can happen, does it, runs its branch and answers what that
  /// answers. If several can, one of them is chosen by chance. With {@link #otherwise} it never
  /// waits; with {@link #after} at most that long. Without any case it waits for ever.
  ///
  /// ```java
  /// String news = select(
  ///     recv(results, v -> "got " + v),
  ///     send(jobs, 7, () -> "sent"),
  ///     after(Duration.ofMillis(50), () -> "timeout"));
  /// ```
  ///
  /// The branch runs in the calling thread, when all is decided, and may wait itself.
  ///
  /// @throws InterruptedException if the calling thread is interrupted, before or while it waits;
  ///   nothing has been sent or received. Never with {@link #otherwise}
  /// @throws ChannelClosedException if the chosen case sends on a closed channel
  /// @throws IllegalArgumentException if there is more than one {@link #otherwise}
  /// @throws Exception what the branch throws
  @SafeVarargs
  // Each case answers an R, which may be a type with null; the array is only read.
  @SuppressWarnings({"unchecked", "varargs", "NullAway"})
  public static <R extends @Nullable Object> R select(Case<? extends R>... cases) throws Exception {
    return (R) Selector.select(cases);
  }

  /// A case that receives; its branch gets the value, or null if the channel is closed. Never
  /// happens if the channel is null.
  public static <T, R extends @Nullable Object> Case<R> recv(
      @Nullable RecvChan<T> channel, RecvBranch<T, R> branch) {
    return new RecvCase<>(
        Chan.forSelect(channel), Objects.requireNonNull(branch, "recv: the branch is null"));
  }

  /// A case that sends. Never happens if the channel is null.
  public static <T, R extends @Nullable Object> Case<R> send(
      @Nullable SendChan<? super T> channel, T value, Branch<R> branch) {
    return new BranchCase<>(
        Ticket.Kind.SEND,
        channel == null ? null : ((Chan<? super T>) channel).channel,
        Objects.requireNonNull(value, Chan.NULL_ELEMENT),
        Objects.requireNonNull(branch, "send: the branch is null"));
  }

  /// A case that happens when the select has waited for so long. Of several the earliest counts.
  public static <R extends @Nullable Object> Case<R> after(Duration delay, Branch<R> branch) {
    return new BranchCase<>(
        Ticket.Kind.AFTER,
        null,
        Objects.requireNonNull(delay, "after: the time is null"),
        Objects.requireNonNull(branch, "after: the branch is null"));
  }

  /// A case that happens if no other can at once. At most one in a select. Go: `default`
  public static <R extends @Nullable Object> Case<R> otherwise(Branch<R> branch) {
    return new BranchCase<>(
        Ticket.Kind.OTHERWISE,
        null,
        null,
        Objects.requireNonNull(branch, "otherwise: the branch is null"));
  }

  /// Makes threads that are goroutines once started.
  public static ThreadFactory threadFactory() {
    return scheduler().threadFactory();
  }

  /// The same for threads that are never preempted; see {@link #nonPreemptible}.
  public static ThreadFactory nonPreemptibleThreadFactory() {
    return scheduler().nonPreemptibleThreadFactory();
  }

  /// A new executor that runs each task in a goroutine of its own; its close waits for its tasks.
  public static ExecutorService executor() {
    return scheduler().executor();
  }

  /// What the scheduler has counted so far.
  public static Stats stats() {
    return scheduler().stats();
  }

  /// All goroutines with what they do and their stacks, in the shape of Go's goroutine dump; the
  /// caller first.
  public static String dump() {
    return scheduler().dump();
  }

  private static Scheduler scheduler() {
    Sched current = Sched.current();
    return new Scheduler(current == null ? Sched.byDefault() : current);
  }
}
