package dev.gloom.runtime;

import org.jspecify.annotations.Nullable;

/// Tickets, first come first served; any of them can be taken out in no time. A ring of tickets of
/// which only the first is known here: one reference to write for each change, which matters to
/// collectors with barriers.
///
/// All methods but `withdraw` are called under the lock of whoever owns the queue. Each either does
/// its whole work, or throws a StackOverflowError before it has changed anything: the only call
/// that any of them makes is `claim`, and that comes first.
///
/// Go: `waitq`
final class WaitQueue {
  @Nullable Ticket first;

  /// Appends a ticket of `w`.
  void push(Ticket t, Waiter w) {
    t.owner = w;
    Ticket head = first;
    if (head == null) {
      first = t;
    } else {
      Ticket last = head.previous;
      t.previous = last;
      t.next = head;
      last.next = t;
      head.previous = t;
    }
  }

  /// Takes out a ticket that is in this queue.
  void remove(Ticket t) {
    Ticket after = t.next;
    if (after == t) {
      first = null;
    } else {
      Ticket before = t.previous;
      before.next = after;
      after.previous = before;
      t.next = t;
      t.previous = t;
      if (first == t) {
        first = after;
      }
    }
    t.owner = null;
  }

  /// Takes a ticket of `w` out, under `lock`, which is this queue's; false if somebody else has.
  boolean withdraw(SpinLock lock, Ticket t, Waiter w) {
    boolean done = false;
    boolean wasThere = false;
    lock.acquire();
    try {
      wasThere = t.owner == w;
      if (wasThere) {
        remove(t);
      }
      done = true;
      lock.release();
    } catch (Throwable e) {
      lock.held = 0;
      if (!done) {
        throw e;
      }
    }
    return wasThere;
  }

  /// Takes out the first waiter that still waits, for the caller to serve; `winner` is its ticket.
  /// Those before it have been served elsewhere and have not come to take their tickets back: they
  /// are dropped. Go: `dequeue`
  @Nullable Waiter claimFirst() {
    Ticket t = first;
    while (t != null) {
      Waiter w = t.owner;
      assert w != null : "in a queue without an owner";
      boolean claimed = w.claim();
      // From here to the end nothing is called. As remove, for the first.
      Ticket after = t.next;
      if (after == t) {
        first = null;
      } else {
        Ticket before = t.previous;
        before.next = after;
        after.previous = before;
        t.next = t;
        t.previous = t;
        first = after;
      }
      t.owner = null;
      if (claimed) {
        w.winner = t;
        return w;
      }
      t = first;
    }
    return null;
  }

  /// Whether anybody waits. It may be gone a moment later: only a claim is certain.
  boolean hasWaiter() {
    Ticket head = first;
    for (Ticket t = head; t != null; t = t.next == head ? null : t.next) {
      Waiter w = t.owner;
      if (w != null && !w.isStale()) {
        return true;
      }
    }
    return false;
  }
}
