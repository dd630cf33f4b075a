package dev.gloom.jdk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FdTableTest {
  private final FdTable table = new FdTable();
  private final Thread me = Thread.currentThread();

  @Test
  void whatWasPutIsTakenOnce() {
    assertTrue(table.put(7, me));
    assertEquals(1, table.size());
    assertSame(me, table.take(7));
    assertNull(table.take(7));
    assertEquals(0, table.size());
  }

  @Test
  void whatIsReadyBeforeAnybodyWaitsIsRemembered() {
    assertNull(table.takeOrRemember(7, false));
    assertNull(table.takeOrRemember(7, false), "once is enough");
    assertNull(table.take(7), "it is nobody");
    assertEquals(0, table.size());
    assertFalse(table.put(7, me), "need not wait");
    assertNull(table.take(7));
    assertTrue(table.put(7, me), "only once");
    assertTrue(table.isAwaited(7));
    assertSame(me, table.takeOrRemember(7, false));
    assertTrue(table.put(7, me), "nothing is left");
  }

  @Test
  void whatIsRememberedCanBeForgotten() {
    table.takeOrRemember(7, false);
    table.forget(7);
    assertTrue(table.put(7, me));
    table.forget(7);
    assertSame(me, table.take(7), "who waits is not forgotten");
  }

  @Test
  void whatWasReadyBeforeAReadIsNoNewsAfterIt() {
    table.takeOrRemember(7, false);
    table.reading(7);
    assertTrue(table.put(7, me), "it waits");
    table.reading(7);
    assertSame(me, table.take(7), "who waits is left alone");
  }

  @Test
  void drainedMeansToWait() {
    table.reading(7);
    table.drained(7);
    assertTrue(table.isDrained(7));
    assertNull(table.take(7), "it is nobody");
    assertTrue(table.put(7, me));
    assertFalse(table.isDrained(7));
    assertSame(me, table.takeOrRemember(7, false));
  }

  @Test
  void whatComesDuringAReadIsNotDrained() {
    table.reading(7);
    table.takeOrRemember(7, false);
    table.drained(7);
    assertFalse(table.isDrained(7));
    assertFalse(table.put(7, me), "need not wait");
  }

  @Test
  void whatComesAfterItWasDrainedIsRemembered() {
    table.drained(7);
    assertNull(table.takeOrRemember(7, false));
    assertFalse(table.isDrained(7));
    assertFalse(table.put(7, me), "need not wait");
  }

  @Test
  void drainedIsForgottenWhenAReadIsTriedAllTheSame() {
    table.drained(7);
    table.reading(7);
    assertFalse(table.isDrained(7));
  }

  @Test
  void afterTheEndNothingIsDrained() {
    assertTrue(table.put(7, me));
    assertSame(me, table.takeOrRemember(7, true), "who waits is woken");
    for (int i = 0; i < 2; i++) {
      assertNull(table.takeOrRemember(7, false), "stays the end");
      table.reading(7);
      table.drained(7);
      assertFalse(table.isDrained(7));
    }
    table.forget(7);
    assertTrue(table.put(7, me), "another's number");
  }

  /// The poller has heard of the end, and the number is another's before it says so.
  @Test
  void anEndThatWasAnothersHoldsUpNobodyFromWaiting() {
    table.takeOrRemember(7, true);
    assertFalse(table.put(7, me), "one read more");
    assertTrue(table.put(7, me), "which was in vain: it waits");
    assertSame(me, table.takeOrRemember(7, false));
    assertTrue(table.put(7, me), "and again");
  }

  /// It came between a read in vain and the wait, together with data.
  @Test
  void theEndIsNotLostOnTheWayIntoAWait() {
    table.takeOrRemember(7, true);
    assertFalse(table.put(7, me), "one read more");
    table.reading(7);
    table.drained(7);
    assertFalse(table.isDrained(7), "that got the data, and the end is still to be read");
  }

  @Test
  void whatIsToldAfterADoubtIsTheEndForAllThatIsKnown() {
    table.takeOrRemember(7, true);
    assertFalse(table.put(7, me));
    assertNull(table.takeOrRemember(7, false));
    table.reading(7);
    table.drained(7);
    assertFalse(table.isDrained(7));
    assertFalse(table.put(7, me), "something was told");
  }

  @Test
  void theEndComesAfterWhatWasReady() {
    table.takeOrRemember(7, false);
    assertNull(table.takeOrRemember(7, true));
    table.reading(7);
    table.drained(7);
    assertFalse(table.isDrained(7));
  }

  @Test
  void descriptorsNobodyWaitedForAreEmpty() {
    assertNull(table.take(-1));
    assertNull(table.take(0));
    assertNull(table.take(1_000_000));
    table.put(5_000, me);
    assertNull(table.take(4_999));
    assertNull(table.take(0), "a block that was never made");
  }

  @Test
  void highDescriptorsTakeABlockEach() {
    int[] fds = {0, 1_023, 1_024, 70_000, 1_048_575};
    for (int fd : fds) {
      assertTrue(table.put(fd, me));
    }
    assertEquals(fds.length, table.size());
    for (int fd : fds) {
      assertSame(me, table.take(fd));
    }
  }

  /// Two that grow it at once, and two that take: nothing is lost, nothing is had twice.
  @Test
  void threadsThatRaceLoseNothing() throws Exception {
    for (int round = 0; round < 200; round++) {
      var raced = new FdTable();
      var start = new CyclicBarrier(4);
      var taken = new AtomicInteger();
      var threads = new Thread[4];
      for (int t = 0; t < threads.length; t++) {
        int offset = t;
        threads[t] =
            Thread.ofPlatform()
                .start(
                    () -> {
                      try {
                        start.await();
                      } catch (Exception e) {
                        throw new AssertionError(e);
                      }
                      for (int fd = offset % 2; fd < 10_000; fd += 500) {
                        if (offset < 2) {
                          raced.put(fd, me);
                        } else if (raced.take(fd) != null) {
                          taken.incrementAndGet();
                        }
                      }
                    });
      }
      for (Thread t : threads) {
        t.join();
      }
      assertEquals(40, taken.get() + raced.size());
    }
  }
}
