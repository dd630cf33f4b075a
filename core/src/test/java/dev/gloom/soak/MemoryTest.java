package dev.gloom.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.ChildJvm;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Memory: what a parked goroutine takes, and that those that have gone leave nothing.
@Timeout(600)
class MemoryTest {
  /// With the JDK's tracking of threads as it is by default, and gloom's registry.
  private static final int MAX_BYTES_EACH = 800;

  private static final int MAX_BYTES_TIMER = 200;

  /// What a JVM's heap wobbles by between two full collections; 1 M goroutines that left a byte
  /// each would show.
  private static final long WOBBLE_BYTES = 1_000_000;

  @Test
  void aParkedGoroutineTakesLessThan800Bytes() throws Exception {
    parked(100_000, "-Xmx1g");
  }

  @Test
  @Tag("slow")
  void aMillionParkedGoroutinesTakeLessThan800BytesEach() throws Exception {
    parked(1_000_000, "-Xmx3g");
  }

  @Test
  void aTimerTakesLessThan200BytesBesideItsGoroutine() throws Exception {
    sleeping(100_000, "-Xmx1g");
  }

  @Test
  @Tag("slow")
  void aMillionTimersTakeLessThan200BytesEachBesideTheirGoroutines() throws Exception {
    sleeping(1_000_000, "-Xmx3g");
  }

  @Test
  void goroutinesThatHaveGoneLeaveNothing() throws Exception {
    passing(1_000_000);
  }

  @Test
  @Tag("slow")
  void tenMillionThatHaveGoneLeaveNothing() throws Exception {
    passing(10_000_000);
  }

  @Test
  void selectsThatAreOverLeaveNothing() throws Exception {
    int n = 100_000;
    var child = child("-Xmx256m", "selects", n);
    long bytes = child.figure("bytesLeft");
    System.out.println(n + " selects: " + bytes + " bytes left");
    assertTrue(bytes < WOBBLE_BYTES, () -> bytes + " bytes left by " + n + " selects");
    assertEquals(n * (n - 1L) / 2, child.figure("sum"));
  }

  private static void parked(int n, String heap) throws Exception {
    var child = child(heap, "parked", n);
    long bytes = child.figure("bytesEach");
    System.out.println(n + " parked goroutines: " + bytes + " bytes each");
    assertTrue(bytes < MAX_BYTES_EACH, () -> bytes + " bytes each");
    assertEquals(n, child.figure("counted"));
    assertEquals(n, child.figure("passed"));
  }

  private static void sleeping(int n, String heap) throws Exception {
    var child = child(heap, "sleeping", n);
    long bytes = child.figure("bytesEach");
    System.out.println(n + " timers: " + bytes + " bytes each beside their goroutines");
    assertTrue(bytes < MAX_BYTES_TIMER, () -> bytes + " bytes each");
    assertTrue(bytes > 0, "a timer takes something, or it was not measured");
    assertEquals(n, child.figure("asleep"));
    assertEquals(n, child.figure("passed"));
  }

  private static void passing(int n) throws Exception {
    var child = child("-Xmx1g", "passing", n);
    long bytes = child.figure("bytesLeft");
    System.out.println(n + " goroutines came and went: " + bytes + " bytes left");
    assertTrue(bytes < WOBBLE_BYTES, () -> bytes + " bytes left by " + n + " goroutines");
    assertEquals(0, child.figure("counted"));
    assertTrue(child.figure("started") > n);
  }

  private static ChildJvm child(String heap, String what, int n) throws Exception {
    return ChildJvm.run(
            300, List.of(ChildJvm.OPEN, heap), MemoryProgram.class, what, Integer.toString(n))
        .succeeded();
  }
}
