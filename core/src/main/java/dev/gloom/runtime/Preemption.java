package dev.gloom.runtime;

import java.util.Locale;

/// The settings of preemption: how long a goroutine may run while others wait, and what is done
/// about one that passes no scheduling point.
///
/// @param sliceNanos the length of a slice
/// @param mode what is done
public record Preemption(long sliceNanos, Mode mode) {
  /// A slice that is shorter than sysmon's sleep could not be kept, and switches would cost more
  /// than they share out.
  public static final long MIN_SLICE_MILLIS = 1;

  /// Longer ones are a typing error: to have none, there is `off`.
  public static final long MAX_SLICE_MILLIS = 60_000;

  /// What the setting of the slice must be, in words.
  public static final String SLICE_RANGE =
      "a whole number of milliseconds from "
          + MIN_SLICE_MILLIS
          + " to "
          + MAX_SLICE_MILLIS
          + " (preempt=off is for no preemption)";

  /// What the setting of the mode must be, in words.
  public static final String MODE_RANGE = "adaptive, eager or off";

  private static final long NANOS_PER_MILLI = 1_000_000;

  /// Go's slice, and no cost before somebody hogs.
  static final Preemption DEFAULT = new Preemption(10 * NANOS_PER_MILLI, Mode.ADAPTIVE);

  /// What is done about a goroutine that has used up its slice and passes no scheduling point.
  public enum Mode {
    /// Its class gets checks, once it has been caught.
    ADAPTIVE,
    /// Every class of the application gets checks when it is loaded.
    EAGER,
    /// Nothing: only scheduling points look whether the slice is over.
    OFF;

    /// As it is written in settings.
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /// The mode of this word; {@link IllegalArgumentException} if there is none.
    public static Mode of(String word) {
      for (Mode m : values()) {
        if (m.word().equals(word.strip())) {
          return m;
        }
      }
      throw new IllegalArgumentException("preempt must be " + MODE_RANGE + ": " + word);
    }
  }

  /// The length of a slice, from `10` or `10ms`, in nanoseconds; {@link IllegalArgumentException}
  /// if it is none.
  public static long sliceNanos(String text) {
    String number = text.strip();
    if (number.endsWith("ms")) {
      number = number.substring(0, number.length() - 2).stripTrailing();
    }
    return sliceNanos(Long.parseLong(number));
  }

  /// The same from a number of milliseconds.
  public static long sliceNanos(long millis) {
    if (millis < MIN_SLICE_MILLIS || millis > MAX_SLICE_MILLIS) {
      throw new IllegalArgumentException("slice must be " + SLICE_RANGE + ": " + millis);
    }
    return millis * NANOS_PER_MILLI;
  }

  static Preemption of(String slice, String mode) {
    long nanos;
    try {
      nanos = sliceNanos(slice);
    } catch (IllegalArgumentException _) {
      throw Knobs.malformed("gloom.slice", slice, SLICE_RANGE);
    }
    try {
      return new Preemption(nanos, Mode.of(mode));
    } catch (IllegalArgumentException _) {
      throw Knobs.malformed("gloom.preempt", mode, MODE_RANGE);
    }
  }
}
