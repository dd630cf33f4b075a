package dev.gloom.runtime;

/// Whether a way of doing things pays that does for some programs and harms others, and where
/// nothing in a queue tells which: it is tried. Sysmon switches it on for two milliseconds now and
/// then. If more gets done then than just before, without a thread being woken for every few steps,
/// it goes on so for a spell of fifty, and is judged again; if not, the next try comes after a
/// pause twice as long as the last. After a second of spells it ends for a moment in any case,
/// because what it was compared with is old by then.
///
/// Two ways are tried, one at a time:
///
/// - {@link Sched#sharing}: brisk Ps share their short rings ({@link P} says what that is). The
///   goroutines of a pipeline get on at the same time, and one P alone leaves a core idle; those
///   around a select only wait for each other, and on two Ps they are slower than on one.
/// - {@link Sched#apart}: two goroutines that only talk to each other live on two Ps ({@link
///   Meeting}). How quick that is is up to the machine: how far its cores are from each other.
///
/// It is advice: whoever reads an old answer keeps a goroutine that it runs itself in a moment,
/// wakes a thread for nothing, or waits some microseconds for nobody.
///
/// Sysmon's own, but for `on`.
final class Trial {
  static final long TRIAL_NANOS = 2_000_000;

  /// While the JVM has not yet compiled what only this way goes through.
  static final long COLD_NANOS = 20_000_000;

  /// So many of those are in vain before the pauses get longer.
  private static final int COLD_TRIALS = 8;

  static final long SPELL_NANOS = 50_000_000;
  static final long FIRST_PAUSE_NANOS = 16_000_000;
  static final int MOST_SPELLS = 20;

  /// Between the last spell and the next trial: long enough to learn the pace without it.
  static final long COMPARE_NANOS = 2_000_000;

  /// To wake a thread costs as much as some twenty dispatches, here and there.
  static final int STEPS_A_START = 256;

  /// A shorter time says nothing about the pace.
  private static final long SHORTEST_NANOS = 500_000;

  /// In a longer time without a look, sysmon was asleep or the process was held up.
  private static final long LONGEST_NANOS = 20_000_000;

  /// The longest pauses. Pairs that try in vain lose a hundredth of their time at most, and may be
  /// near each other again a moment later.
  static final long LONGEST_SHARING_PAUSE_NANOS = 1_000_000_000;

  static final long LONGEST_APART_PAUSE_NANOS = 256_000_000;

  /// In so many steps the JVM has compiled all of {@link Meeting}.
  static final long APART_COLD_STEPS = 200_000;

  /// After so long without a look, since there was nothing to do, it is tried anew.
  private static final long IDLE_NANOS = 100_000_000;

  /// Read by all Ms.
  volatile boolean on;

  private final long longestPauseNanos;
  private long coldSteps;
  private int patience = COLD_TRIALS;
  private long pauseNanos = FIRST_PAUSE_NANOS;
  private int spells;

  /// When the trial or the spell is judged, or the pause is over.
  private long untilNanos;

  // At the last look, or when the trial or the spell began.
  private long sinceNanos;
  private long startsThen;
  private long stepsThen;

  // The pace before it began.
  private long nanosBefore;
  private long stepsBefore;

  /// How long the longest pause is; and in how many steps the JVM has compiled what only this way
  /// goes through: until then trials take longer, and the first that are in vain do not count.
  Trial(long now, long longestPauseNanos, long coldSteps) {
    this.longestPauseNanos = longestPauseNanos;
    this.coldSteps = coldSteps;
    untilNanos = now;
    sinceNanos = now;
  }

  /// Looks at the time and at what all Ps together have done: how often one of them left the idle
  /// list, and how many steps were taken, dispatches and meetings. `mayPay`: there is a reason to
  /// try. `heldUp`: this look comes late. Answers whether a trial begins.
  boolean look(long now, long starts, long steps, boolean mayPay, boolean heldUp) {
    boolean begins = false;
    if (now - sinceNanos > IDLE_NANOS && !heldUp) {
      pauseNanos = FIRST_PAUSE_NANOS; // what comes now may be something else
      untilNanos = on ? untilNanos : now;
    }
    if (on) {
      long overdue = now - untilNanos;
      if (overdue < 0) {
        return false;
      }
      if (overdue <= LONGEST_NANOS) {
        judge(now, starts, steps);
      } else {
        on = false; // nothing is known
        if (heldUp) {
          endInVain(now); // perhaps since it needs more CPU time than there is
        }
      }
    } else {
      long nanos = now - sinceNanos;
      if (nanos < SHORTEST_NANOS) {
        return false;
      }
      begins = mayPay && now - untilNanos >= 0 && nanos <= LONGEST_NANOS && steps > stepsThen;
      if (begins) {
        nanosBefore = nanos;
        stepsBefore = steps - stepsThen;
        spells = 0;
        untilNanos = now + (coldSteps > 0 ? COLD_NANOS : TRIAL_NANOS);
        on = true;
      }
    }
    sinceNanos = now;
    startsThen = starts;
    stepsThen = steps;
    return begins;
  }

  /// When it is judged.
  long untilNanos() {
    return untilNanos;
  }

  private void judge(long now, long starts, long steps) {
    long nanos = now - sinceNanos;
    long taken = steps - stepsThen;
    if (coldSteps > 0) {
      coldSteps -= taken;
      if (coldSteps <= 0) {
        pauseNanos = FIRST_PAUSE_NANOS; // it has not been tried yet
      }
    }
    boolean calm = (starts - startsThen) * STEPS_A_START <= taken;
    boolean faster = 8.0 * taken * nanosBefore >= 9.0 * stepsBefore * nanos;
    if (!calm || !faster) {
      endInVain(now);
      return;
    }
    if (spells != 0) {
      pauseNanos = FIRST_PAUSE_NANOS; // a short trial alone does not say that it pays
    }
    on = spells++ < MOST_SPELLS;
    untilNanos = now + (on ? SPELL_NANOS : COMPARE_NANOS);
  }

  private void endInVain(long now) {
    on = false;
    untilNanos = now + pauseNanos;
    if (coldSteps > 0 && patience > 0) {
      patience--;
    } else {
      pauseNanos = Math.min(2 * pauseNanos, longestPauseNanos);
    }
  }
}
