package dev.gloom.runtime;

/// Whether brisk Ps share their short rings ({@link P} says what that is). Nobody can know: the
/// goroutines of a pipeline get on at the same time, and one P alone leaves a core idle; those
/// around a select only wait for each other, and on two Ps they are slower than on one. So it is
/// tried. While a brisk P keeps others waiting beside an idle P, sysmon has all of them share for
/// two milliseconds now and then. If more goroutines are dispatched then than just before, without
/// a thread being woken for every few of them, it goes on so for a spell of fifty, and is judged
/// again; if not, the next try comes after a pause twice as long as the last. After a second of
/// spells it ends in any case, because what it was compared with is old by then.
///
/// It is advice: a P that reads an old answer keeps a goroutine that it runs itself in a moment, or
/// wakes a thread for nothing. While it is on, sysmon wakes somebody for whatever it finds in such
/// a ring, told of or not.
///
/// Sysmon's own, but for `on`.
final class Sharing {
  static final long TRIAL_NANOS = 2_000_000;
  static final long SPELL_NANOS = 50_000_000;
  static final long FIRST_PAUSE_NANOS = 16_000_000;
  static final long LONGEST_PAUSE_NANOS = 1_000_000_000;
  static final int MOST_SPELLS = 20;

  /// To wake a thread costs as much as some twenty dispatches, here and there.
  static final int DISPATCHES_A_START = 256;

  /// A shorter time says nothing about the pace.
  private static final long SHORTEST_NANOS = 500_000;

  /// In a longer time without a look, sysmon was asleep or the process was held up.
  private static final long LONGEST_NANOS = 20_000_000;

  /// Read by all Ms.
  volatile boolean on;

  private long pauseNanos = FIRST_PAUSE_NANOS;
  private int spells;

  /// When the trial or the spell is judged, or the pause is over.
  private long untilNanos;

  // At the last look, or when the trial or the spell began.
  private long sinceNanos;
  private long startsThen;
  private long dispatchesThen;

  // The pace before it began.
  private long keptNanos;
  private long keptDispatches;

  Sharing(long now) {
    untilNanos = now;
    sinceNanos = now;
  }

  /// Looks at the time and at what all Ps together have done: how often one of them left the idle
  /// list, and how many goroutines were dispatched. `kept`: a brisk P had others wait beside an
  /// idle one. Answers whether a trial begins, so that somebody is to be woken.
  boolean look(long now, long starts, long dispatches, boolean kept) {
    boolean begins = false;
    if (on) {
      long overdue = now - untilNanos;
      if (overdue < 0) {
        return false;
      }
      if (overdue > LONGEST_NANOS) {
        on = false; // nothing is known
      } else {
        judge(now, starts, dispatches);
      }
    } else {
      long nanos = now - sinceNanos;
      if (nanos < SHORTEST_NANOS) {
        return false;
      }
      begins =
          kept && now - untilNanos >= 0 && nanos <= LONGEST_NANOS && dispatches > dispatchesThen;
      if (begins) {
        keptNanos = nanos;
        keptDispatches = dispatches - dispatchesThen;
        spells = 0;
        untilNanos = now + TRIAL_NANOS;
        on = true;
      }
    }
    sinceNanos = now;
    startsThen = starts;
    dispatchesThen = dispatches;
    return begins;
  }

  /// When it is judged.
  long untilNanos() {
    return untilNanos;
  }

  private void judge(long now, long starts, long dispatches) {
    long nanos = now - sinceNanos;
    long ran = dispatches - dispatchesThen;
    boolean calm = (starts - startsThen) * DISPATCHES_A_START <= ran;
    boolean faster = 8.0 * ran * keptNanos >= 9.0 * keptDispatches * nanos;
    if (calm && faster) {
      pauseNanos = FIRST_PAUSE_NANOS;
      on = spells++ < MOST_SPELLS;
      untilNanos = now + (on ? SPELL_NANOS : pauseNanos);
    } else {
      on = false;
      untilNanos = now + pauseNanos;
      pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
    }
  }
}
