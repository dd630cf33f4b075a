package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.gloom.Body;
import dev.gloom.Case;
import dev.gloom.Chan;
import dev.gloom.Gloom;
import dev.gloom.WaitGroup;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What channels allocate: nothing for a message that nobody has to wait for, and one small object
/// for each operation that waits.
///
/// Counted are the bytes of all threads of the JVM, since a goroutine allocates on the account of
/// whichever thread carries it. What others allocate meanwhile, and the stack of a goroutine that
/// is put aside for the first time, is spread over so many operations that it is less than
/// `NOISE_BYTES` for each.
@Timeout(120)
class ChanAllocationTest {
  private static final int OPERATIONS = 50_000;

  /// No object is this small.
  private static final double NOISE_BYTES = 4;

  /// The object of an operation that waits has 64 bytes with compressed references. One more, of
  /// whatever class, would take at least 16.
  private static final double WAITER_BYTES = 64;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /// Boxed once, and for all: boxes are their sender's business.
  private static final Integer VALUE = 7;

  /// A meter that shows nothing would let everything pass.
  @BeforeAll
  static void theMeterShowsASmallObject() throws Exception {
    try (var lab = Lab.procs(1)) {
      var kept = new Object[OPERATIONS];
      double bytes = bytesEach(lab, OPERATIONS, () -> makeObjects(kept));
      assertTrue(bytes >= 16 && bytes < 16 + NOISE_BYTES, () -> "a small object has " + bytes);
    }
  }

  private static void makeObjects(Object[] kept) {
    for (int i = 0; i < kept.length; i++) {
      kept[i] = new int[0];
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aMessageThatNobodyWaitsForAllocatesNothing(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make(128);
      double bytes = bytesEach(lab, OPERATIONS, () -> fillAndEmpty(ch));
      assertTrue(bytes < NOISE_BYTES, () -> bytes + " bytes a message");
    }
  }

  private static void fillAndEmpty(Chan<Integer> ch) throws InterruptedException {
    for (int n = 0; n < OPERATIONS; n += ch.cap()) {
      for (int i = 0; i < ch.cap(); i++) {
        ch.send(VALUE);
      }
      for (int i = 0; i < ch.cap(); i++) {
        assertEquals(VALUE, ch.recv());
      }
    }
  }

  /// With one processor it is known who waits: each of the two receives, and neither of the two
  /// sends, since the other one waits already. With more each of the four may, or may not.
  @ParameterizedTest
  @CsvSource({"1, 2", "2, 4", "8, 4"})
  void anOperationThatWaitsAllocatesOneSmallObject(int procs, int waits) throws Exception {
    try (var lab = Lab.procs(procs)) {
      double bytes = bytesEach(lab, OPERATIONS, ChanAllocationTest::pingPong);
      double most = waits * WAITER_BYTES + NOISE_BYTES;
      assertTrue(bytes < most, () -> bytes + " bytes a round trip, not below " + most);
    }
  }

  private static void pingPong() throws InterruptedException {
    Chan<Integer> ping = Chan.make();
    Chan<Integer> pong = Chan.make();
    var group = new WaitGroup();
    group.go(
        () -> {
          for (int n = 0; n < OPERATIONS; n++) {
            pong.send(ping.recv());
          }
        });
    for (int n = 0; n < OPERATIONS; n++) {
      ping.send(VALUE);
      assertEquals(VALUE, pong.recv());
    }
    group.await();
  }

  /// With cases that its caller keeps; and the sender may have to wait too.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aSelectAllocatesOneSmallObjectHoweverManyCasesItHas(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      double bytes = bytesEach(lab, OPERATIONS, ChanAllocationTest::selectAmongEight);
      double most = 2 * WAITER_BYTES + NOISE_BYTES;
      assertTrue(bytes < most, () -> bytes + " bytes a message, not below " + most);
    }
  }

  private static void selectAmongEight() throws Exception {
    Chan<Integer> ch = Chan.make();
    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
    Case<Integer>[] cases = new Case[8];
    for (int i = 0; i < cases.length; i++) {
      Chan<Integer> of = i == 0 ? ch : Chan.make();
      cases[i] = Gloom.recv(of, v -> v);
    }
    var group = new WaitGroup();
    group.go(
        () -> {
          for (int n = 0; n < OPERATIONS; n++) {
            ch.send(VALUE);
          }
        });
    for (int n = 0; n < OPERATIONS; n++) {
      assertEquals(VALUE, Gloom.select(cases));
    }
    group.await();
  }

  /// With cases that its caller keeps, also if one of them is a time-out.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aSelectThatIsServedAtOnceAllocatesNothing(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      double bytes = bytesEach(lab, OPERATIONS, ChanAllocationTest::selectFillsAndEmpties);
      assertTrue(bytes < NOISE_BYTES, () -> bytes + " bytes for two selects");
    }
  }

  private static void selectFillsAndEmpties() throws Exception {
    Chan<Integer> ch = Chan.make(128);
    Chan<Integer> never = Chan.make();
    Case<Integer> late = Gloom.after(Duration.ofHours(1), () -> 0);
    Case<Integer> none = Gloom.recv(never, v -> v);
    Case<Integer>[] sends = cases(Gloom.send(ch, VALUE, () -> VALUE), none, late);
    Case<Integer>[] receives = cases(none, late, Gloom.recv(ch, v -> v));
    for (int n = 0; n < OPERATIONS; n += ch.cap()) {
      for (int i = 0; i < ch.cap(); i++) {
        assertEquals(VALUE, Gloom.select(sends));
      }
      for (int i = 0; i < ch.cap(); i++) {
        assertEquals(VALUE, Gloom.select(receives));
      }
    }
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
  private static Case<Integer>[] cases(Case<Integer> a, Case<Integer> b, Case<Integer> c) {
    return new Case[] {a, b, c};
  }

  /// Runs `body` as a goroutine, first to get it warm, and answers what one of its operations
  /// allocated then.
  private static double bytesEach(Lab lab, int operations, Body body) throws Exception {
    lab.run(body);
    long before = THREADS.getTotalThreadAllocatedBytes();
    lab.run(body);
    return (double) (THREADS.getTotalThreadAllocatedBytes() - before) / operations;
  }
}
