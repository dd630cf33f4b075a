package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Which reads are expected to be in vain.
class VainReadsTest {
  private final VainReads vain = new VainReads();

  /// A read after one that got all; whether it was tried.
  private boolean read(int fd, boolean inVain) {
    if (vain.expected(fd)) {
      return false;
    }
    vain.tried(fd, inVain);
    return true;
  }

  private int tries(int fd, int reads, boolean inVain) {
    int n = 0;
    for (int i = 0; i < reads; i++) {
      n += read(fd, inVain) ? 1 : 0;
    }
    return n;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 7, 1023, 1024, 70_000})
  void inADialogueOneInEightIsTried(int fd) {
    assertEquals(2, tries(fd, 2, true), "at first it has to learn");
    assertEquals(100, tries(fd, 800, true));
  }

  @ParameterizedTest
  @ValueSource(ints = {7, 5_000})
  void inAStreamAllAreTried(int fd) {
    assertEquals(1_000, tries(fd, 1_000, false));
  }

  @ParameterizedTest
  @ValueSource(ints = {7, 5_000})
  void aDialogueThatBecomesAStreamIsNoticed(int fd) {
    tries(fd, 100, true);
    int reads = 0;
    while (!read(fd, false)) {
      reads++;
    }
    assertTrue(reads < 8, "skipped " + reads);
    assertEquals(50, tries(fd, 50, false));
  }

  @ParameterizedTest
  @ValueSource(ints = {7, 5_000})
  void readsOfOtherKindsDoNotCount(int fd) {
    tries(fd, 3, true); // two to learn, one that is not tried
    vain.tried(fd, false); // after a wait
    assertTrue(vain.expected(fd));
    assertFalse(vain.expected(fd + 1));
  }

  @ParameterizedTest
  @ValueSource(ints = {7, 5_000})
  void aNumberThatIsUsedAgainStartsAnew(int fd) {
    tries(fd, 10, true);
    vain.forget(fd);
    vain.forget(1_000_000);
    assertEquals(2, tries(fd, 2, true));
    assertFalse(read(fd, true));
  }

  @Test
  void withoutMemoryEachReadIsTried() {
    int fd = Integer.MAX_VALUE - 1; // no JVM has an array for it
    for (int i = 0; i < 10; i++) {
      assertTrue(read(fd, true));
    }
  }
}
