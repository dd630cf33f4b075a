package dev.gloom.runtime;

/// Whether brisk Ps share their short rings ({@link P} says what that is). Nobody can know: the
/// goroutines of a pipeline get on at the same time, and one P alone leaves a core idle; those
/// around a select only wait for each other, and on two Ps they are slower than on one. So it is
/// tried. While a brisk P keeps others waiting beside an idle P, sysmon has all of them share for
/// two milliseconds now and then. If more goroutines are dispatched then than before, without a
/// thread being woken for every few of them, it goes on so and is judged again later; if not, the
/// next try comes after a pause twice as long as the last.
///
/// It is advice: a P that reads an old answer keeps a goroutine that it runs itself in a moment, or
/// wakes a thread for nothing.
///
/// Sysmon's own, but for `on`.
final class Sharing {
  static final long TRIAL_NANOS = 2_000_000;
  static final long SPELL_NANOS = 50_000_000;
  static final long FIRST_PAUSE_NANOS = 16_000_000;
  static final long LONGEST_PAUSE_NANOS = 1_000_000_000;

  /// To wake a thread costs as much as some twenty dispatches, here and there.
  static final int DISPATCHES_A_START = 256;

  /// Read by all Ms.
  volatile boolean on;

  private long pauseNanos = FIRST_PAUSE_NANOS;

  /// When the trial or the spell is judged, or the pause is over.
  private long untilNanos;

  // At the last look, or when sharing began.
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
  /// list, and how many goroutines were dispatched. `kept`: a brisk P has others wait beside an
  /// idle one. Answers whether a trial begins, so that somebody is to be woken.
  boolean look(long now, long starts, long dispatches, boolean kept) {
    if (on && now - untilNanos < 0) {
      return false;
    }
    boolean begins = !on && kept && now - untilNanos >= 0 && dispatches > dispatchesThen;
    if (on) {
      judge(now, starts, dispatches);
    } else if (begins) {
      keptNanos = now - sinceNanos;
      keptDispatches = dispatches - dispatchesThen;
      untilNanos = now + TRIAL_NANOS;
      on = true;
    }
    sinceNanos = now;
    startsThen = starts;
    dispatchesThen = dispatches;
    return begins;
  }

  /// When the next look is due.
  long untilNanos() {
    return untilNanos;
  }

  private void judge(long now, long starts, long dispatches) {
    long nanos = now - sinceNanos;
    long ran = dispatches - dispatchesThen;
    boolean calm = (starts - startsThen) * DISPATCHES_A_START <= ran;
    boolean faster = 8.0 * ran * keptNanos >= 9.0 * keptDispatches * nanos;
    on = calm && faster;
    if (on) {
      pauseNanos = FIRST_PAUSE_NANOS;
      untilNanos = now + SPELL_NANOS;
    } else {
      untilNanos = now + pauseNanos;
      pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
    }
  }
}
