package dev.gloom.runtime;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// A channel: a lock, a ring of values, those who wait to send and those who wait to receive.
///
/// What holds while the lock is free:
///
/// - nobody waits to receive while there is a value in the ring;
/// - nobody waits to send while there is room;
/// - nobody waits at all once it is closed;
/// - both queues have waiters only if each of these is a select that does both, here.
///
/// (Tickets of selects that have been served elsewhere may still lie in a queue; they do not
/// count.) A value goes straight from the sender to the receiver when one of them waits, and never
/// passes those that were there before: a receiver that frees a slot puts the first waiting
/// sender's value into it, at the tail.
///
/// **The lock** is the channel itself, a {@link SpinLock}, held for a few instructions, and nobody
/// is woken under it. Unlike the scheduler's own sections these make calls, so a StackOverflowError
/// can strike inside. Each section is therefore one *step*, which takes effect as a whole or not at
/// all, and a handler that gives the lock back:
///
/// ```
/// Object done = null;
/// acquire();
/// try {
///   done = step();          throws: nothing has changed
///   release();              throws: it has, so the exception is swallowed
/// } catch (Throwable e) {
///   held = 0;               no call
///   if (done == null) throw e;
/// }
/// ```
///
/// The release is a release store, not a full fence: what is inside is read only under the lock,
/// and waking comes after it and has fences of its own. That is a quarter of the cost of an
/// operation that does not wait.
///
/// **Preemption.** Each operation is a scheduling point, before it does anything: whoever is asked
/// to step back there has neither taken nor given a value, and an error on the way leaves no doubt
/// about whether it happened.
///
/// Refused: a lock-free ring. One atomic operation for each of ours, and one more fence to see the
/// waiters, so nothing is won while goroutines stay on their processor; and select wants to hold
/// several channels still at once.
///
/// Go: `hchan`, `chansend`, `chanrecv`, `closechan`
public final class Channel extends SpinLock {
  /// How an operation went, where there is no value to answer with.
  public enum Outcome {
    /// It has happened.
    DONE,
    /// It would have to wait.
    BLOCKED,
    /// The channel is closed (and drained, for a receive).
    CLOSED
  }

  /// The largest array that JVMs make.
  private static final int MAX_CAPACITY = Integer.MAX_VALUE - 8;

  private static final AtomicLong IDS = new AtomicLong();

  /// Unique; selects lock channels in this order.
  final long id = IDS.incrementAndGet();

  /// For those that run at the same time; null until somebody has tried. Set under the lock.
  private @Nullable Meeting meeting;

  // All the rest: guarded by the lock.

  /// The next in the chain of channels that one select has locked.
  @Nullable Channel nextLocked;

  private final @Nullable Object[] ring;
  private int count;
  private int head; // of the values: the next to be received
  private boolean closed;
  private final WaitQueue receivers = new WaitQueue();
  private final WaitQueue senders = new WaitQueue();

  /// Set if the values come from a clock.
  final @Nullable ChanTimer timer;

  /// With room for so many values. Go: `makechan`
  public Channel(int capacity) {
    if (capacity < 0 || capacity > MAX_CAPACITY) {
      throw new IllegalArgumentException("makechan: size out of range: " + capacity);
    }
    ring = new Object[capacity];
    timer = null;
  }

  /// Of a timer: what is received is what the clock says.
  Channel(ChanTimer timer) {
    ring = new Object[0];
    this.timer = timer;
  }

  // What users do. Nothing is made inside the lock, so whoever will have to wait, by a look without
  // the lock, makes its waiter first. If that look was wrong, it was made for nothing, or the
  // attempt is made again.

  /// Sends, waiting as long as it takes; false if the channel is closed, or is while it waits.
  public boolean send(Object value) throws InterruptedException {
    Sched.preemptionPoint();
    throwIfInterrupted();
    return count < ring.length && putIntoRing(value) || sendOrWait(value);
  }

  private boolean sendOrWait(Object value) throws InterruptedException {
    boolean waits = looksFull();
    if (waits && ring.length == 0 && senders.first == null && Meeting.send(this, value)) {
      return true;
    }
    Waiter w = waits ? sender(value) : null;
    Outcome done = attemptSend(value, w);
    if (done == Outcome.BLOCKED && w == null) {
      w = sender(value);
      done = attemptSend(value, w);
    }
    if (done == Outcome.BLOCKED && w != null) {
      w.await(this, senders, WaitReason.CHAN_SEND);
      return w.ok;
    }
    return done == Outcome.DONE;
  }

  /// Whether a send would have to wait, by a look without the lock.
  boolean looksFull() {
    return count == ring.length && receivers.first == null && !closed;
  }

  /// The same for a receive.
  boolean looksEmpty() {
    return count == 0 && senders.first == null && !closed && (timer == null || !timer.isDue());
  }

  /// Sends if that is possible at once.
  public Outcome trySend(Object value) {
    Sched.preemptionPoint();
    return attemptSend(value, null);
  }

  /// Receives, waiting as long as it takes; null if the channel is closed and drained.
  public @Nullable Object recv() throws InterruptedException {
    Sched.preemptionPoint();
    throwIfInterrupted();
    Object value = count > 0 ? takeFromRing() : null;
    return value != null ? value : recvOrWait();
  }

  private @Nullable Object recvOrWait() throws InterruptedException {
    boolean waits = looksEmpty();
    if (waits && ring.length == 0 && timer == null && receivers.first == null) {
      Object value = Meeting.receive(this);
      if (value != null) {
        return value;
      }
    }
    Waiter w = waits ? receiver() : null;
    Object got = attemptRecv(w);
    if (got == Outcome.BLOCKED && w == null) {
      w = receiver();
      got = attemptRecv(w);
    }
    while (got instanceof ChanTimer t) {
      t.watch();
      got = attemptRecv(w);
    }
    if (got == Outcome.BLOCKED && w != null) {
      try {
        w.await(this, receivers, WaitReason.CHAN_RECEIVE);
      } finally {
        if (timer != null) {
          timer.unwatch();
        }
      }
      return w.value;
    }
    if (timer != null) {
      timer.unwatch(); // for nothing: it came before the wait
    }
    return got == Outcome.CLOSED ? null : got;
  }

  /// Receives if that is possible at once: a value, BLOCKED or CLOSED.
  public Object tryRecv() {
    Sched.preemptionPoint();
    return attemptRecv(null);
  }

  /// Closes; false if it is closed already. All that wait are woken: receivers get nothing, senders
  /// are told. The first of them runs next, then the others, the last first, as in Go.
  public boolean close() {
    Sched.preemptionPoint();
    Headroom.check(); // those that are taken out must all be woken
    return closeNow();
  }

  /// The same where there is stack to spare and perhaps no goroutine: in an alarm.
  public boolean closeNow() {
    Waiter woken = null;
    boolean first = false;
    acquire();
    try {
      if (!closed) {
        first = true;
        closed = true;
        for (Waiter w = receivers.claimFirst(); w != null; w = receivers.claimFirst()) {
          w.alsoWoken = woken;
          woken = w;
        }
        for (Waiter w = senders.claimFirst(); w != null; w = senders.claimFirst()) {
          w.alsoWoken = woken;
          woken = w;
        }
      }
      release();
    } catch (Throwable e) {
      held = 0;
      throw e;
    }
    for (Waiter w = woken; w != null; ) {
      Waiter next = w.alsoWoken;
      w.wake();
      w = next;
    }
    return first;
  }

  /// How many values it holds now.
  public int len() {
    return held < 0 ? 0 : count; // volatile read before the plain one, as in GlobalQueue
  }

  /// How many it can hold.
  public int cap() {
    return ring.length;
  }

  @Override
  public String toString() {
    return "chan#" + id + " cap=" + ring.length;
  }

  /// Where those meet that would have to wait; made when it is first needed.
  Meeting meeting() {
    Meeting m = meeting;
    if (m != null) {
      return m;
    }
    var made = new Meeting();
    acquire();
    m = meeting;
    if (m == null) {
      m = made;
      meeting = m;
    }
    held = 0;
    return m;
  }

  // What a buffered channel does most of the time: there is room, or a value, and nobody waits. The
  // same as the steps below, without a call and without all that they may come to: a fifth faster
  // (`./gloom bench buffered mpmc`).

  /// Puts a value into the ring; false if that cannot be done just so, and nothing has happened.
  boolean putIntoRing(Object value) {
    boolean done = false;
    acquire();
    int n = count;
    if (n < ring.length && receivers.first == null && !closed) {
      int tail = head + n; // may overflow, but then as a difference it is right again
      if (tail < 0 || tail >= ring.length) {
        tail -= ring.length;
      }
      ring[tail] = value;
      count = n + 1;
      done = true;
    }
    try {
      release();
    } catch (Throwable e) { // no stack for the call: it has not happened
      held = 0;
    }
    return done;
  }

  /// Takes the oldest value; null if that cannot be done just so, and nothing has happened.
  @Nullable Object takeFromRing() {
    Object value = null;
    acquire();
    int n = count;
    if (n > 0 && senders.first == null) {
      int h = head;
      value = ring[h];
      ring[h] = null;
      head = h + 1 == ring.length ? 0 : h + 1;
      count = n - 1;
    }
    try {
      release();
    } catch (Throwable e) {
      held = 0;
    }
    return value;
  }

  // The steps. Under the lock; each happens as a whole or, if it throws, not at all: whatever it
  // calls it calls before it changes anything.

  /// DONE, BLOCKED, CLOSED, or a receiver that has been given the value and is to be woken.
  Object sendStep(Object value) {
    if (closed) {
      return Outcome.CLOSED;
    }
    Waiter w = receivers.first == null ? null : receivers.claimFirst();
    if (w != null) {
      w.value = value;
      w.ok = true;
      return w;
    }
    int n = count;
    if (n == ring.length) {
      return Outcome.BLOCKED;
    }
    int tail = head + n; // may overflow, but then as a difference it is right again
    if (tail < 0 || tail >= ring.length) {
      tail -= ring.length;
    }
    ring[tail] = value;
    count = n + 1;
    return Outcome.DONE;
  }

  /// A value, BLOCKED, CLOSED, or a sender that is to be woken and has the value to receive in its
  /// `value`.
  Object recvStep() {
    Waiter w = senders.first == null ? null : senders.claimFirst();
    if (w != null) {
      Ticket t = w.winner;
      assert t != null : "claimed without a ticket";
      Object sent = t.value;
      if (ring.length != 0) { // it is full: the sender's value goes to the tail
        Object oldest = ring[head];
        ring[head] = sent;
        head = head + 1 == ring.length ? 0 : head + 1;
        sent = oldest;
      }
      w.value = sent;
      w.ok = true;
      return w;
    }
    if (count == 0) {
      if (timer != null) {
        return timer.take();
      }
      return closed ? Outcome.CLOSED : Outcome.BLOCKED;
    }
    Object oldest = ring[head];
    assert oldest != null : "a hole in the ring";
    ring[head] = null;
    head = head + 1 == ring.length ? 0 : head + 1;
    count--;
    return oldest;
  }

  /// Whether a send would not have to wait. A claim in the step may fail all the same.
  boolean canSend() {
    return closed || count < ring.length || receivers.hasWaiter();
  }

  /// The same for a receive.
  boolean canRecv() {
    return closed || count > 0 || senders.hasWaiter() || timer != null && timer.isDue();
  }

  /// Whether anybody waits to receive.
  boolean hasReceiver() {
    return receivers.first != null && receivers.hasWaiter();
  }

  /// The first that waits to receive, for the caller to serve.
  @Nullable Waiter claimReceiver() {
    return receivers.claimFirst();
  }

  WaitQueue queue(Ticket.Kind kind) {
    return kind == Ticket.Kind.SEND ? senders : receivers;
  }

  // Around the steps.

  /// DONE, BLOCKED or CLOSED. If BLOCKED and `self` is given, that is in the queue now.
  Outcome attemptSend(Object value, @Nullable Waiter self) {
    Object done = null;
    acquire();
    try {
      Object r = sendStep(value);
      if (r == Outcome.BLOCKED && self != null) {
        senders.push(self, self);
      }
      done = r;
      release();
    } catch (Throwable e) {
      held = 0;
      if (done == null) {
        throw e;
      }
    }
    if (done instanceof Waiter w) {
      try {
        w.wake();
      } catch (StackOverflowError e) { // no call: see Waiter
        w.state = Waiter.DONE;
        if (w.g != null) {
          w.g.unwoken = true;
          if (w.g.entry != null) {
            w.g.entry.held = w.g;
          }
          w.g.sched.stranded = true;
        }
      }
      return Outcome.DONE;
    }
    return (Outcome) done;
  }

  /// A value, BLOCKED or CLOSED. If BLOCKED and `self` is given, that is in the queue now. Or the
  /// timer, if that has to be watched first.
  Object attemptRecv(@Nullable Waiter self) {
    Object done = null;
    acquire();
    try {
      Object r = recvStep();
      if (r == Outcome.BLOCKED && self != null) {
        if (timer == null || timer.watched()) {
          receivers.push(self, self);
        } else {
          r = timer;
        }
      }
      done = r;
      release();
    } catch (Throwable e) {
      held = 0;
      if (done == null) {
        throw e;
      }
    }
    if (done instanceof Waiter w) {
      Object value = w.value;
      assert value != null : "woke a sender that sent nothing";
      try {
        w.wake();
      } catch (StackOverflowError e) { // no call: see Waiter
        w.state = Waiter.DONE;
        if (w.g != null) {
          w.g.unwoken = true;
          if (w.g.entry != null) {
            w.g.entry.held = w.g;
          }
          w.g.sched.stranded = true;
        }
      }
      return value;
    }
    return done;
  }

  private static Waiter sender(Object value) {
    return new Waiter(Ticket.Kind.SEND, value, false);
  }

  private static Waiter receiver() {
    return new Waiter(Ticket.Kind.RECV, null, false);
  }

  private static void throwIfInterrupted() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }
}
