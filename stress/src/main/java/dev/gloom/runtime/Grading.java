package dev.gloom.runtime;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Outcome;

/// How outcomes are judged. Every test answers in words: small letters for what may happen, and
/// capitals, `LOST` or `TWICE`, for what must not.
final class Grading {
  private Grading() {}

  /// For a test of gloom: no capitals, ever.
  @Outcome(id = "[a-z0-9, ]+", expect = ACCEPTABLE, desc = "As it should be.")
  @Outcome(id = "[A-Z ]+", expect = FORBIDDEN, desc = "A bug in gloom.")
  static final class Sound {}

  /// For a broken twin: capitals must be seen, which `dev.gloom.stress.Main` checks. If they never
  /// are, the test beside it could not have seen them either.
  @Outcome(id = "[a-z0-9, ]+", expect = ACCEPTABLE, desc = "It went well this time.")
  @Outcome(id = "[A-Z ]+", expect = ACCEPTABLE_INTERESTING, desc = "Broken, as it should be.")
  static final class Broken {}
}
