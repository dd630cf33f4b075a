package dev.gloom.soak;

import dev.gloom.api.Lab;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Everything at once, for a while.
@Timeout(600)
class SoakTest {
  private static final long SECOND = 1_000_000_000L;

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void everyGoroutineRunsOnceToItsEnd(int procs) {
    soak(4 * SECOND, procs);
  }

  @Test
  void alsoWhileMaxProcsChanges() {
    soak(4 * SECOND, 0);
  }

  /// What the soak asks for is what the JDK's own scheduler does.
  @Test
  void theControlPasses() {
    Lab.seeded(seed -> System.out.println(Soak.run(SECOND * Lab.stress(), seed, 2, true)));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 8})
  @Tag("slow")
  void alsoForAMinute(int procs) {
    soak(60 * SECOND, procs);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void everyValueSentIsReceivedOnceAndInOrder(int procs) {
    channels(3 * SECOND, procs, false);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  @Tag("slow")
  void alsoThroughManyMoreChannels(int procs) {
    channels(60 * SECOND, procs, false);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 8})
  void alsoWhereSendersAndReceiversMeet(int procs) {
    channels(3 * SECOND, procs, true);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 8})
  @Tag("slow")
  void alsoWhereManyMoreMeet(int procs) {
    channels(60 * SECOND, procs, true);
  }

  private static void channels(long nanos, int procs, boolean apart) {
    Lab.seeded(
        seed -> System.out.println(ChannelSoak.run(nanos * Lab.stress(), seed, procs, apart)));
  }

  private static void soak(long nanos, int procs) {
    Lab.seeded(seed -> System.out.println(Soak.run(nanos * Lab.stress(), seed, procs, false)));
  }
}
