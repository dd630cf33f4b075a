package dev.gloom.runtime;

import dev.gloom.jdk.Thrown;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/// Waits for the first of several channel operations that can happen, and does that one.
///
/// 1. All channels are locked, in the order of their ids, so that two selects never wait for each
///    other's locks. What follows is therefore decided at one moment.
/// 2. One of the cases that can happen now is picked, each with the same chance, and done.
/// 3. If there is none, `otherwise` is chosen. Without one the select puts a ticket into the queue
///    of each channel, unlocks and parks.
/// 4. Whoever then wants to serve one of the tickets must win the CAS that claims the waiter, so
///    exactly one does; the others pass on to the next in their queue. A time-out and an interrupt
///    are just further claimants.
/// 5. The select takes the other tickets back and runs the branch of the winner, with no lock held
///    and nothing left in any queue.
///
/// A select that looks (2) has no ticket in any queue yet, and one that waits (4) is only served.
/// So each meeting of two selects has one that claims and one that is claimed, and none can claim
/// itself: its tickets go in after it has looked, under all locks.
///
/// Chance: the cases that can happen are counted, and the k-th replaces the choice so far with
/// probability 1/k. That is uniform and needs no shuffled array.
///
/// **Without stack.** The locks that are held are a chain through the channels; the loop that
/// unlocks them calls nothing. A step happens as a whole or not at all ({@link Channel}). If the
/// overflow comes when some tickets are in already, the waiter is withdrawn before the locks open:
/// its tickets are stale, and whoever meets them drops them.
///
/// Go: `selectgo`
public final class Selector {
  /// Up to here the next channel to lock is searched for, without a sorted array.
  private static final int FEW = 3;

  /// From here on sorting is left to the library.
  private static final int MANY = 32;

  private static final Comparator<Channel> BY_ID = Comparator.comparingLong(c -> c.id);

  private Selector() {}

  /// Chooses among `cases`, each a {@link Ticket}, and answers what the branch of the chosen one
  /// answers.
  public static @Nullable Object select(Object[] cases) throws Exception {
    Sched.preemptionPoint();
    Ticket otherwise = null;
    Ticket soonest = null;
    long delayNanos = Long.MAX_VALUE;
    for (int i = 0; i < cases.length; i++) {
      Ticket t = (Ticket) cases[i];
      if (t == null) {
        throw new NullPointerException("select: case " + i + " is null");
      }
      if (t.kind == Ticket.Kind.OTHERWISE) {
        if (otherwise != null) {
          throw new IllegalArgumentException(
              "select: more than one otherwise: case " + i + " is the second");
        }
        otherwise = t;
      } else if (t.kind == Ticket.Kind.AFTER) {
        long nanos = t.delayNanos();
        if (soonest == null || nanos < delayNanos) {
          soonest = t;
          delayNanos = nanos;
        }
      }
    }
    if (otherwise == null && Thread.interrupted()) {
      throw new InterruptedException();
    }
    Ticket due = delayNanos == 0 ? soonest : null;
    // As in Channel: whoever will have to wait, by a look without the locks, makes its waiter
    // first.
    boolean waits = otherwise == null;
    Waiter self = waits && due == null && allLookBlocked(cases) ? waiter() : null;
    Object[] tickets = cases;
    boolean watches = false;
    for (; ; ) {
      Ticket chosen = null;
      Object done = null;
      boolean inUse = false;
      boolean unwatched = false;
      Throwable thrown = null;
      Channel locked = lockAll(cases);
      try {
        do {
          chosen = pick(cases, due);
          done = chosen == null ? null : step(chosen);
        } while (done == Channel.Outcome.BLOCKED); // whom it was to meet was just claimed elsewhere
        if (chosen == null && self != null) {
          unwatched = hasUnwatched(cases);
          inUse = !unwatched && !push(tickets, self);
        }
      } catch (Throwable e) {
        thrown = e;
        if (self != null) {
          self.state = Waiter.WITHDRAWN;
        }
      }
      Channel c = null;
      try {
        while (locked != null) {
          c = locked;
          locked = c.nextLocked;
          c.nextLocked = null;
          c.release();
        }
      } catch (StackOverflowError e) { // the same without a call
        while (c != null) {
          c.held = 0;
          c = locked;
          if (c != null) {
            locked = c.nextLocked;
            c.nextLocked = null;
          }
        }
      }
      if (watches && (thrown != null || chosen != null)) {
        unwatch(cases);
      }
      if (thrown != null) {
        throw Thrown.unchecked(thrown);
      }
      if (chosen != null) {
        try {
          return finish(chosen, done);
        } catch (StackOverflowError e) { // no call: see Waiter
          if (done instanceof Waiter w && w.state != Waiter.DONE) { // not even room to call it
            w.state = Waiter.DONE;
            if (w.g != null) {
              w.g.unwoken = true;
              if (w.g.entry != null) {
                w.g.entry.held = w.g;
              }
              w.g.sched.stranded = true;
            }
          }
          throw e;
        }
      }
      if (!waits) {
        return Objects.requireNonNull(otherwise).chosen(null, true);
      }
      if (self == null) {
        self = waiter(); // the look was wrong
      } else if (unwatched) {
        watches = true;
        watch(cases);
      } else if (inUse) {
        tickets = copies(cases);
      } else {
        return await(cases, tickets, self, soonest, delayNanos);
      }
    }
  }

  private static Waiter waiter() {
    return new Waiter(Ticket.Kind.RECV, null, true);
  }

  private static boolean allLookBlocked(Object[] cases) {
    for (Object o : cases) {
      Ticket t = (Ticket) o;
      Channel c = t.channel;
      if (c != null && !(t.kind == Ticket.Kind.SEND ? c.looksFull() : c.looksEmpty())) {
        return false;
      }
    }
    return true;
  }

  /// Locks the channels of all cases, each once; answers the last, from which a chain leads to the
  /// first.
  private static @Nullable Channel lockAll(Object[] cases) {
    Channel locked = null;
    try {
      if (cases.length <= FEW) {
        long last = 0;
        for (; ; ) {
          Channel least = null;
          for (Object o : cases) {
            Channel c = ((Ticket) o).channel;
            if (c != null && c.id > last && (least == null || c.id < least.id)) {
              least = c;
            }
          }
          if (least == null) {
            return locked;
          }
          last = least.id;
          least.acquire();
          least.nextLocked = locked;
          locked = least;
        }
      }
      if (isSorted(cases)) {
        for (Object o : cases) {
          Channel c = ((Ticket) o).channel;
          if (c != null && c != locked) {
            c.acquire();
            c.nextLocked = locked;
            locked = c;
          }
        }
        return locked;
      }
      for (Channel c : sorted(cases)) {
        if (c != locked) {
          c.acquire();
          c.nextLocked = locked;
          locked = c;
        }
      }
      return locked;
    } catch (Throwable e) {
      while (locked != null) {
        Channel next = locked.nextLocked;
        locked.nextLocked = null;
        locked.held = 0;
        locked = next;
      }
      throw e;
    }
  }

  /// Whether the cases are in the order of their channels, as they mostly are: then nothing has to
  /// be made to sort them in.
  private static boolean isSorted(Object[] cases) {
    long last = 0;
    for (Object o : cases) {
      Channel c = ((Ticket) o).channel;
      if (c != null) {
        if (c.id < last) {
          return false;
        }
        last = c.id;
      }
    }
    return true;
  }

  /// The channels by id, those that come twice twice. A few are sorted by insertion.
  private static Channel[] sorted(Object[] cases) {
    int n = 0;
    for (Object o : cases) {
      if (((Ticket) o).channel != null) {
        n++;
      }
    }
    Channel[] channels = new Channel[n];
    int k = 0;
    for (Object o : cases) {
      Channel c = ((Ticket) o).channel;
      if (c != null) {
        channels[k++] = c;
      }
    }
    if (n > MANY) {
      Arrays.sort(channels, BY_ID);
      return channels;
    }
    for (int i = 1; i < n; i++) {
      Channel c = channels[i];
      int at = i;
      for (; at > 0 && channels[at - 1].id > c.id; at--) {
        channels[at] = channels[at - 1];
      }
      channels[at] = c;
    }
    return channels;
  }

  /// One of the cases that can happen now, or null. Under all locks.
  private static @Nullable Ticket pick(Object[] cases, @Nullable Ticket due) {
    Ticket picked = due;
    int able = due == null ? 0 : 1;
    for (Object o : cases) {
      Ticket t = (Ticket) o;
      Channel c = t.channel;
      if (c != null && (t.kind == Ticket.Kind.SEND ? c.canSend() : c.canRecv())) {
        able++;
        if (able == 1 || random(able) == 0) {
          picked = t;
        }
      }
    }
    return picked;
  }

  /// A number from 0 to `bound` - 1. Go: `cheaprandn`
  private static int random(int bound) {
    M m = M.current();
    P p = m == null ? null : m.p;
    return p == null
        ? ThreadLocalRandom.current().nextInt(bound)
        : (int) ((long) p.rand.next() * bound >>> 31);
  }

  private static Object step(Ticket t) {
    Channel c = t.channel;
    if (c == null) {
      return Channel.Outcome.DONE; // an AFTER that is due
    }
    return t.kind == Ticket.Kind.SEND ? c.sendStep(t.value()) : c.recvStep();
  }

  /// Puts a ticket of `self` into each queue; does nothing and answers false if some other select
  /// has one of them, or if the same one comes twice.
  private static boolean push(Object[] tickets, Waiter self) {
    for (Object o : tickets) {
      Ticket t = (Ticket) o;
      if (t.channel != null && t.owner != null) {
        return false;
      }
    }
    for (int i = 0; i < tickets.length; i++) {
      Ticket t = (Ticket) tickets[i];
      if (t.channel == null) {
        continue;
      }
      if (t.owner != null) { // the same one twice: out again, those before it
        for (int k = 0; k < i; k++) {
          Ticket out = (Ticket) tickets[k];
          if (out.channel != null) {
            out.channel.queue(out.kind).remove(out);
          }
        }
        return false;
      }
      t.channel.queue(t.kind).push(t, self);
    }
    return true;
  }

  /// Whether one of the cases receives from a timer that has no alarm for those that wait: see
  /// {@link ChanTimer}. Under all locks.
  private static boolean hasUnwatched(Object[] cases) {
    for (Object o : cases) {
      ChanTimer timer = timerOf((Ticket) o);
      if (timer != null && !timer.watched()) {
        return true;
      }
    }
    return false;
  }

  private static void watch(Object[] cases) {
    for (Object o : cases) {
      ChanTimer timer = timerOf((Ticket) o);
      if (timer != null) {
        timer.watch();
      }
    }
  }

  private static void unwatch(Object[] cases) {
    for (Object o : cases) {
      ChanTimer timer = timerOf((Ticket) o);
      if (timer != null) {
        timer.unwatch();
      }
    }
  }

  private static @Nullable ChanTimer timerOf(Ticket t) {
    return t.channel == null || t.kind == Ticket.Kind.SEND ? null : t.channel.timer;
  }

  private static Object[] copies(Object[] cases) {
    Object[] copies = new Object[cases.length];
    for (int i = 0; i < cases.length; i++) {
      copies[i] = ((Ticket) cases[i]).copy();
    }
    return copies;
  }

  /// A step of `chosen` has happened, with this outcome.
  private static @Nullable Object finish(Ticket chosen, @Nullable Object done) throws Exception {
    Object received = done;
    boolean ok = true;
    if (done instanceof Waiter w) {
      received = w.value;
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
    } else if (done instanceof Channel.Outcome outcome) {
      received = null;
      ok = outcome == Channel.Outcome.DONE;
    }
    return chosen.chosen(chosen.kind == Ticket.Kind.RECV ? received : null, ok);
  }

  /// Parks until somebody serves one of the tickets, and runs the branch of that case.
  private static @Nullable Object await(
      Object[] cases, Object[] tickets, Waiter self, @Nullable Ticket soonest, long delayNanos)
      throws Exception {
    G g = self.g;
    boolean interrupted = false;
    Timeout timeout = null;
    if (g != null) {
      g.waitReason = (cases.length == 0 ? WaitReason.SELECT_NO_CASES : WaitReason.SELECT).code;
    }
    try {
      if (soonest != null && delayNanos != Long.MAX_VALUE) {
        timeout = new Timeout(self, soonest);
        Alarm.armAfter(timeout, delayNanos);
      }
      while (!self.park()) {
        if (self.withdraw()) {
          throw new InterruptedException();
        }
        interrupted = true;
      }
    } catch (StackOverflowError | OutOfMemoryError e) { // no room to park, or for the time-out
      boolean out;
      try {
        out = self.withdraw();
      } catch (StackOverflowError again) {
        self.state = Waiter.WITHDRAWN;
        throw again;
      }
      if (out) {
        throw e;
      }
      while (self.state != Waiter.DONE) {
        // Served, and woken in a moment. No call: there is no stack for one.
      }
    } finally {
      if (g != null) {
        g.waitReason = 0;
      }
      try {
        takeBack(tickets, self);
        if (timeout != null) {
          timeout.stop();
        }
      } catch (StackOverflowError e) {
        // They are stale: whoever meets them drops them.
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt(); // too late to act on it: left for whoever comes next
    }
    Ticket winner = original(cases, tickets, Objects.requireNonNull(self.winner));
    return winner.chosen(winner.kind == Ticket.Kind.RECV ? self.value : null, self.ok);
  }

  /// Takes those tickets that are still queued out again. An owner read without the lock is enough
  /// to pass over the others: once it is not `self`, it will not be again.
  private static void takeBack(Object[] tickets, Waiter self) {
    for (Object o : tickets) {
      Ticket t = (Ticket) o;
      if (t.owner == self && t.channel != null) {
        t.channel.queue(t.kind).withdraw(t.channel, t, self);
      }
      ChanTimer timer = timerOf(t);
      if (timer != null) {
        timer.unwatch();
      }
    }
  }

  private static Ticket original(Object[] cases, Object[] tickets, Ticket winner) {
    if (tickets != cases) {
      for (int i = 0; i < tickets.length; i++) {
        if (tickets[i] == winner) {
          return (Ticket) cases[i];
        }
      }
    }
    return winner;
  }

  /// Serves a select when its time is over.
  private static final class Timeout extends Alarm {
    private final Ticket after;

    /// Let go of when it is over, since an alarm that was stopped may lie in a heap for a while.
    private volatile @Nullable Waiter waiter;

    Timeout(Waiter waiter, Ticket after) {
      this.waiter = waiter;
      this.after = after;
    }

    @Override
    protected void ring() {
      Waiter w = waiter;
      if (w != null && w.claim()) {
        w.winner = after;
        w.ok = true;
        w.wake();
      }
    }

    void stop() {
      cancel();
      waiter = null;
    }
  }
}
