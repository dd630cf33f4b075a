package dev.gloom.runtime;

/// The counters of several Ps together. Those that others can see are never changed.
final class Totals {
  long dispatches;
  long moved;
  long met;
  long steals;
  long stolen;
  long overflows;
  long rang;
  long calls;
  long stoppedAtPoints;
  long stoppedAtChecks;
  long lateNanos;

  Totals() {}

  Totals(Totals t) {
    dispatches = t.dispatches;
    moved = t.moved;
    met = t.met;
    steals = t.steals;
    stolen = t.stolen;
    overflows = t.overflows;
    rang = t.rang;
    calls = t.calls;
    stoppedAtPoints = t.stoppedAtPoints;
    stoppedAtChecks = t.stoppedAtChecks;
    lateNanos = t.lateNanos;
  }

  /// A P, and the alarms of its slot.
  void addSlot(P p) {
    add(p);
    lateNanos += p.timers.lateNanos();
  }

  /// A P whose slot is another's.
  void add(P p) {
    dispatches += p.dispatches();
    moved += p.moved;
    met += p.met;
    steals += p.steals;
    stolen += p.stolen;
    overflows += p.overflows;
    rang += p.rang;
    calls += p.calls;
    stoppedAtPoints += p.stoppedAtPoints;
    stoppedAtChecks += p.stoppedAtChecks;
  }
}
