package dev.gloom.runtime;

import org.jspecify.annotations.Nullable;

/// The order in which an M looks for its next goroutine, and nothing else.
///
/// 1. every 61st tick, one from the global queue: else local work could starve it for ever;
/// 2. run-next, then the ring;
/// 3. a batch from the global queue; if it is empty, one of those that yielded here;
/// 4. those whose sockets are ready;
/// 5. half of another P's ring, victims in random order, four rounds; in the last one also alarms
///    that are due there, run-next, and what lies in orphans ({@link Orphans});
/// 6. give up the P, look once more, sleep (Idle).
///
/// Before all of it, now and then, and again after step 3, the P rings its own alarms that are due;
/// whom they wake is in its queue then. Now and then it looks at the sockets too, before all of it.
///
/// Go: `findRunnable`, `stealWork`
final class FindWork {
  /// Prime, so that it does not fall into step with the program's own loops.
  private static final int GLOBAL_EVERY = 61;

  private static final int STEAL_ROUNDS = 4;

  /// How long a thief leaves a run-next goroutine to the M that is probably about to run it.
  private static final long NEXT_GRACE_NANOS = 3_000;

  private FindWork() {}

  /// The goroutine that `m` is to run now; sleeps while there is none; null if `m` is to end.
  static @Nullable G next(M m) {
    Sched sched = m.sched;
    for (; ; ) {
      P p = m.p;
      if (p == null) {
        if (!sched.idle.await(m)) {
          return null;
        }
        continue;
      }
      if (p.request != 0) {
        serve(m, p);
        continue;
      }
      p.lookAtTimers();
      p.lookAtNet(m);
      G g = queued(sched, p);
      if (g == null && p.ringDue(p.timers)) {
        g = queued(sched, p);
      }
      if (g == null && sched.netPoll.poll(m)) {
        g = queued(sched, p);
      }
      if (g == null && sched.idle.maySearch(m)) {
        g = steal(sched, p);
      }
      if (g != null) {
        if (m.spinning) {
          sched.idle.foundWork(m);
        }
        if (p.newEarliest) {
          p.newEarliest = false;
          sched.idle.armed(p.timers.earliest());
        }
        return g;
      }
      sched.idle.release(m, p);
    }
  }

  /// Steps 1 to 3.
  static @Nullable G queued(Sched sched, P p) {
    G g;
    p.inherit = false;
    if (p.tick - p.globalAt >= 0) {
      p.globalAt = p.tick + GLOBAL_EVERY;
      if (!sched.keepsAll) {
        p.forgetTaken();
      }
      g = longWaiting(sched, p);
      if (g != null) {
        return g;
      }
    }
    g = p.takeNext();
    if (g != null) {
      p.inherit = true;
      return g;
    }
    g = p.queue.poll();
    if (g != null) {
      return g;
    }
    return fromGlobal(sched, p);
  }

  /// The head of the line that local work could starve: the global queue, and behind it those that
  /// yielded here. For one that is taken, one of the latter joins it, so that they too get there.
  private static @Nullable G longWaiting(Sched sched, P p) {
    if (sched.global.isEmpty()) {
      return p.yielded.poll();
    }
    G g = sched.global.take();
    if (p.flushYielded(1)) {
      sched.idle.wake();
    }
    return g;
  }

  private static @Nullable G fromGlobal(Sched sched, P p) {
    int size = sched.global.size();
    if (size == 0) {
      // Behind the global queue come those that yielded here: now they are the whole line.
      return p.yielded.poll();
    }
    G g = sched.global.takeChain(GlobalQueue.batch(size, sched.maxProcs()));
    if (g == null) {
      return p.yielded.poll(); // others were quicker
    }
    if (g.link != null) {
      G rest = p.queue.offerChain(g.link);
      assert rest == null : "batch larger than an empty ring";
      g.link = null;
      sched.publishedInRing();
    }
    return g;
  }

  /// Step 5.
  static @Nullable G steal(Sched sched, P p) {
    Sched.Procs procs = sched.procs();
    for (int round = 0; round < STEAL_ROUNDS; round++) {
      int random = p.rand.next();
      int position = procs.order.start(random);
      int step = procs.order.step(random);
      for (int i = 0; i < procs.all.length; i++, position = procs.order.after(position, step)) {
        P victim = procs.all[position];
        if (victim == p) {
          continue;
        }
        G g = stealFrom(sched, victim, p, round == STEAL_ROUNDS - 1);
        if (g != null) {
          return g;
        }
      }
    }
    for (P orphan : procs.orphans) {
      G g = orphan == p ? null : stealFrom(sched, orphan, p, true);
      if (g != null) {
        return g;
      }
    }
    return null;
  }

  private static @Nullable G stealFrom(Sched sched, P victim, P p, boolean nextToo) {
    boolean keepsRing = victim.keepsRing();
    G g = keepsRing ? null : counted(p, victim.queue);
    if (g == null) {
      g = counted(p, victim.yielded);
    }
    if (g != null || !nextToo) {
      return g;
    }
    if (p.ringDue(victim.timers)) {
      return queued(sched, p);
    }
    G next = victim.queue.peekNext();
    if (next == null && !(keepsRing && victim.queue.size() != 0)) {
      return null;
    }
    // The victim made it ready a moment ago and is probably about to park: taking it now would only
    // move it, and its data, to another core. If the victim has dispatched anything meanwhile, this
    // one's turn is near, even if it is in the slot again. So it is with the ring of a brisk one.
    long dispatches = victim.dispatches();
    sched.pause(NEXT_GRACE_NANOS);
    // The volatile read of run-next keeps the JIT from folding the two reads of the plain counter.
    if (victim.queue.peekNext() != next || victim.dispatches() != dispatches) {
      return null;
    }
    if (next != null && victim.queue.stealNext(next)) {
      p.steals++;
      p.stolen++;
      g = next;
    } else if (keepsRing) {
      g = counted(p, victim.queue);
    }
    if (g != null) {
      victim.keepNothing();
    }
    return g;
  }

  private static @Nullable G counted(P p, RunQueue victim) {
    int before = p.queue.size();
    G g = victim.stealInto(p.queue);
    if (g != null) {
      p.steals++;
      p.stolen += p.queue.size() - before + 1;
    }
    return g;
  }

  private static void serve(M m, P p) {
    Sched sched = m.sched;
    int request = p.request;
    if (p.status == P.ORPHAN) {
      Orphans.exchange(m, p);
      return;
    }
    if ((request & P.RETIRE) != 0) {
      p.served(P.RETIRE);
      if (sched.idle.leaves(m, p)) {
        return;
      }
    }
    if ((request & P.TELL) != 0) {
      p.served(P.TELL);
      sched.publishedInRing();
    }
    if ((request & P.PREEMPT) != 0) {
      servePreemption(sched, p);
    }
    if ((request & P.TIMERS) != 0) { // last: whom it wakes is no part of that chain
      p.served(P.TIMERS);
      for (P q : sched.procs().all) {
        p.ringDue(q.timers);
      }
    }
  }

  /// The chain through run-next has used up its slice: behind everybody else, as one who is
  /// preempted. In Go the request is lost at the next dispatch of the chain (its issue 52934).
  static void servePreemption(Sched sched, P p) {
    p.served(P.PREEMPT);
    G g = p.takeNext();
    if (g != null) {
      p.flushYielded(Integer.MAX_VALUE);
      sched.global.put(g);
      sched.idle.wake();
    }
  }
}
