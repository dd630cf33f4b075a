package dev.gloom.api;

import static dev.gloom.Gloom.after;
import static dev.gloom.Gloom.otherwise;
import static dev.gloom.Gloom.recv;
import static dev.gloom.Gloom.select;
import static dev.gloom.Gloom.send;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Case;
import dev.gloom.Chan;
import dev.gloom.ChannelClosedException;
import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.WaitGroup;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Select as Go has it: spec section 10.7, items 32 to 51 of section 15.
@Timeout(60)
class SelectTest {
  private static final Duration LONG = Duration.ofHours(1);

  static java.util.stream.Stream<org.junit.jupiter.params.provider.Arguments> procsAndCaps() {
    return ChanTest.procsAndCaps();
  }

  /// Waits in a select until it is interrupted, which is the only way out.
  private static void waitsForEver(int procs, Case<?>... cases) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var out = new AtomicReference<Throwable>();
      Goroutine g = lab.go(() -> out.set(assertThrows(Exception.class, () -> select(cases))));
      Lab.awaitWaiting(g);
      assertFalse(g.join(Duration.ofMillis(20)));
      assertNull(out.get());
      g.thread().interrupt();
      g.join();
      assertSame(InterruptedException.class, out.get().getClass());
    }
  }

  // Nothing to do: items 32, 33, 50, 51.

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void withoutCasesItWaitsForEver(int procs) throws Exception {
    waitsForEver(procs);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void withNullChannelsOnlyItWaitsForEver(int procs) throws Exception {
    waitsForEver(procs, recv(null, v -> v), send(null, 1, () -> 1));
  }

  @Test
  void withOtherwiseOnlyItTakesThat() throws Exception {
    assertEquals("otherwise", select(otherwise(() -> "otherwise")));
  }

  @Test
  void aNullChannelIsPassedOverForOtherwise() throws Exception {
    for (int i = 0; i < 100; i++) {
      assertEquals(
          "otherwise",
          select(
              recv(null, v -> "recv"), send(null, 1, () -> "send"), otherwise(() -> "otherwise")));
    }
  }

  @Test
  void casesCanBeMadeAtRunTime() throws Exception {
    for (int n = 1; n <= 40; n++) {
      var cases = new ArrayList<Case<Integer>>();
      List<Chan<Integer>> chans = new ArrayList<>();
      for (int i = 0; i < n; i++) {
        int me = i;
        Chan<Integer> ch = Chan.make(1);
        chans.add(ch);
        cases.add(recv(ch, v -> v == null ? null : 1_000 * me + v));
      }
      chans.get(n / 2).send(7);
      @SuppressWarnings({"unchecked", "rawtypes"})
      Case<Integer>[] array = cases.toArray(new Case[0]);
      assertEquals(1_000 * (n / 2) + 7, select(array));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aChannelSetToNullDropsOut(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var got = new ArrayList<Integer>();
      lab.run(
          () -> {
            Chan<Integer> a = Chan.make();
            Chan<Integer> b = Chan.make();
            Gloom.go(() -> feed(a, 1, 2, 3));
            Gloom.go(() -> feed(b, 4, 5, 6, 7));
            Chan<Integer> first = a;
            Chan<Integer> second = b;
            while (first != null || second != null) {
              Chan<Integer> ended =
                  select(recv(first, v -> take(got, v, a)), recv(second, v -> take(got, v, b)));
              first = ended == a ? null : first;
              second = ended == b ? null : second;
            }
          });
      got.sort(null);
      assertEquals(List.of(1, 2, 3, 4, 5, 6, 7), got);
    }
  }

  private static void feed(Chan<Integer> ch, int... values) throws InterruptedException {
    for (int v : values) {
      ch.send(v);
    }
    ch.close();
  }

  private static Chan<Integer> take(List<Integer> got, Integer v, Chan<Integer> from) {
    if (v == null) {
      return from;
    }
    got.add(v);
    return null;
  }

  // Ready or not: items 34 to 39.

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 10})
  void otherwiseIsTakenOnlyIfNothingIsReady(int cap) throws Exception {
    Chan<Integer> ch = Chan.make(cap);
    assertEquals("otherwise", select(recv(ch, v -> "recv"), otherwise(() -> "otherwise")));
    for (int i = 0; i < cap; i++) {
      assertEquals("send", select(send(ch, i, () -> "send"), otherwise(() -> "otherwise")));
    }
    assertEquals("otherwise", select(send(ch, 9, () -> "send"), otherwise(() -> "otherwise")));
    for (int i = 0; i < cap; i++) {
      assertEquals(i, select(otherwise(() -> -1), recv(ch, v -> v)));
    }
    ch.close();
    assertEquals(
        "closed", select(recv(ch, v -> v == null ? "closed" : "recv"), otherwise(() -> "")));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void whoWaitsMakesACaseReady(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make();
      Lab.awaitWaiting(lab.go(() -> ch.send(5)));
      assertEquals(5, select(recv(ch, v -> v), otherwise(() -> -1)));
      var got = new AtomicInteger();
      Goroutine receiver = lab.go(() -> got.set(ch.recv()));
      Lab.awaitWaiting(receiver);
      assertEquals("sent", select(send(ch, 6, () -> "sent"), otherwise(() -> "otherwise")));
      receiver.join();
      assertEquals(6, got.get());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void readyCasesAreChosenWithTheSameChance(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(() -> evenly(10_000));
    }
  }

  @Test
  void alsoOnAPlatformThread() throws Exception {
    evenly(10_000);
  }

  /// Two of two, two neighbours of three, three of four: any order with a favourite would show.
  private static void evenly(int trials) throws Exception {
    Chan<Integer> never = Chan.make();
    Chan<Integer> a = full(trials);
    Chan<Integer> b = full(trials);
    Chan<Integer> c = full(trials);
    int[] two = new int[2];
    int[] of3 = new int[2];
    int[] of4 = new int[3];
    for (int i = 0; i < trials; i++) {
      two[select(recv(a, v -> 0), recv(b, v -> 1))]++;
    }
    refill(a, b);
    for (int i = 0; i < trials; i++) {
      of3[select(recv(a, v -> 0), recv(b, v -> 1), recv(never, v -> 2))]++;
    }
    refill(a, b);
    for (int i = 0; i < trials; i++) {
      of4[select(recv(a, v -> 0), recv(b, v -> 1), recv(never, v -> 3), recv(c, v -> 2))]++;
    }
    even(trials, two);
    even(trials, of3);
    even(trials, of4);
  }

  private static Chan<Integer> full(int n) throws InterruptedException {
    Chan<Integer> ch = Chan.make(n);
    refill(ch);
    return ch;
  }

  @SafeVarargs
  private static void refill(Chan<Integer>... channels) throws InterruptedException {
    for (Chan<Integer> ch : channels) {
      while (ch.len() < ch.cap()) {
        ch.send(1);
      }
    }
  }

  /// Within ten sigma.
  private static void even(int trials, int... counts) {
    double p = 1.0 / counts.length;
    double allowed = 10 * Math.sqrt(trials * p * (1 - p));
    for (int n : counts) {
      assertEquals(trials * p, n, allowed);
    }
  }

  @Test
  void bothSendsOnOneChannelGetTheirTurn() throws Exception {
    int n = 1_000;
    Chan<Integer> ch = Chan.make(n);
    for (int i = 0; i < n; i++) {
      select(send(ch, 0, () -> null), send(ch, 1, () -> null));
    }
    ch.close();
    int ones = 0;
    for (int v : ch) {
      ones += v;
    }
    assertTrue(ones > n / 10 && ones < n - n / 10, "ones: " + ones);
  }

  @ParameterizedTest
  @MethodSource("procsAndCaps")
  void aSendOnAClosedChannelThrows(int procs, int cap) throws Exception {
    Chan<Integer> ch = Chan.make(cap);
    ch.close();
    var e =
        assertThrows(
            ChannelClosedException.class,
            () -> select(send(ch, 1, () -> "sent"), otherwise(() -> "otherwise")));
    assertTrue(
        e.getMessage().matches("send on closed channel: chan#\\d+ cap=" + cap), e::getMessage);
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> later = Chan.make();
      Chan<Integer> never = Chan.make();
      var thrown = new AtomicReference<Throwable>();
      Goroutine g =
          lab.go(
              () ->
                  thrown.set(
                      assertThrows(
                          ChannelClosedException.class,
                          () -> select(recv(never, v -> v), send(later, 1, () -> 1)))));
      Lab.awaitWaiting(g);
      later.close();
      g.join();
      assertTrue(thrown.get().getMessage().startsWith("send on closed channel: "));
    }
  }

  @ParameterizedTest
  @MethodSource("procsAndCaps")
  void aReceiveFromAClosedChannelGetsNull(int procs, int cap) throws Exception {
    Chan<Integer> ch = Chan.make(cap);
    Chan<Integer> never = Chan.make();
    try (var lab = Lab.procs(procs)) {
      var got = new AtomicReference<Object>("nothing yet");
      Goroutine g = lab.go(() -> got.set(select(recv(ch, v -> v), recv(never, v -> "never"))));
      Lab.awaitWaiting(g);
      ch.close();
      g.join();
      assertNull(got.get());
      assertEquals("closed", select(recv(ch, v -> v == null ? "closed" : "open")));
    }
  }

  // One moment: item 42.

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aSelectSeesAllCasesAtOneMoment(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            for (int i = 0; i < 5_000 * Lab.stress(); i++) {
              Chan<Integer> a = Chan.make(1);
              Chan<Integer> b = Chan.make(1);
              a.send(1);
              // At each moment one of them has a value.
              Goroutine g =
                  Gloom.go(
                      () -> {
                        b.send(1);
                        a.tryRecv();
                      });
              assertNotEquals(
                  "otherwise",
                  select(recv(a, v -> "a"), recv(b, v -> "b"), otherwise(() -> "otherwise")));
              g.join();
              Chan<Integer> c = Chan.make(1);
              Chan<Integer> d = Chan.make(1);
              c.send(1);
              Goroutine h =
                  Gloom.go(
                      () -> {
                        d.close();
                        c.tryRecv();
                      });
              assertNotEquals(
                  "otherwise",
                  select(recv(c, v -> "c"), recv(d, v -> "d"), otherwise(() -> "otherwise")));
              h.join();
            }
          });
    }
  }

  // With itself and with others: items 43 to 47.

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aSelectDoesNotMeetItself(int procs) throws Exception {
    Chan<Integer> ch = Chan.make();
    waitsForEver(procs, send(ch, 1, () -> "sent"), recv(ch, v -> "received"));
    assertFalse(ch.trySend(2), "nobody is left in the queue");
  }

  @ParameterizedTest
  @MethodSource("procsAndCaps")
  void twoSelectsMeetEachOtherAndNotThemselves(int procs, int cap) throws Exception {
    int n = 1_000 * Lab.stress();
    try (var lab = Lab.procs(procs)) {
      var own = new AtomicInteger();
      lab.run(
          () -> {
            Chan<Integer> ch = Chan.make(cap);
            var both = new WaitGroup();
            var exchanged = new AtomicInteger();
            for (int p = 0; p < 2; p++) {
              int me = p;
              both.go(
                  () -> {
                    for (int i = 0; i < n; i++) {
                      select(
                          send(ch, me, exchanged::incrementAndGet),
                          recv(
                              ch,
                              v -> {
                                if (cap == 0 && v == me) {
                                  own.incrementAndGet();
                                }
                                return exchanged.incrementAndGet();
                              }));
                      if (cap == 0 && i % 7 == me) {
                        Gloom.gosched();
                      }
                    }
                  });
            }
            both.await();
            assertEquals(2 * n, exchanged.get());
          });
      assertEquals(0, own.get(), "received their own");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aSelectThatWasWokenHasLeftItsOtherQueues(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> a = Chan.make();
      Chan<Integer> b = Chan.make();
      var got = new AtomicInteger();
      Goroutine selecting = lab.go(() -> got.set(select(recv(a, v -> v), recv(b, v -> v))));
      Lab.awaitWaiting(selecting);
      var other = new AtomicInteger();
      Goroutine second = lab.go(() -> other.set(b.recv()));
      Lab.awaitWaiting(second);
      a.send(1);
      b.send(2); // to the second, although the select came first
      selecting.join();
      second.join();
      assertEquals(1, got.get());
      assertEquals(2, other.get());
      assertFalse(a.trySend(3));
      assertFalse(b.trySend(3));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void oneChannelSeveralTimesInOneSelectIsNoHarm(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make();
      for (int i = 0; i < 200; i++) {
        var got = new AtomicInteger();
        Goroutine g =
            lab.go(
                () ->
                    got.set(
                        select(
                            recv(ch, v -> v),
                            recv(ch, v -> v),
                            send(ch, -1, () -> -1),
                            recv(ch, v -> v))));
        Lab.awaitWaiting(g);
        ch.send(i);
        g.join();
        assertEquals(i, got.get());
        assertFalse(ch.trySend(0), "nobody is left");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void twoSendersOneSelectOneWins(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      for (int i = 0; i < 500 * Lab.stress(); i++) {
        Chan<Integer> a = Chan.make();
        Chan<Integer> b = Chan.make();
        var got = new AtomicInteger();
        var done = new AtomicInteger();
        Goroutine selecting = lab.go(() -> got.set(select(recv(a, v -> v), recv(b, v -> v))));
        Lab.awaitWaiting(selecting);
        var sent = new AtomicInteger();
        Goroutine toA =
            lab.go(
                () -> {
                  sent.addAndGet(a.trySend(1) ? 1 : 0);
                  done.incrementAndGet();
                });
        Goroutine toB =
            lab.go(
                () -> {
                  sent.addAndGet(b.trySend(2) ? 2 : 0);
                  done.incrementAndGet();
                });
        toA.join();
        toB.join();
        selecting.join();
        assertEquals(2, done.get());
        assertEquals(got.get(), sent.get());
        assertTrue(got.get() == 1 || got.get() == 2);
      }
    }
  }

  // Under load: item 49.

  @ParameterizedTest
  @MethodSource("procsAndCaps")
  void fourChannelsWithSelectsAndPlainOperationsEnd(int procs, int cap) throws Exception {
    int n = 500 * Lab.stress();
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            List<Chan<Integer>> c = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
              c.add(Chan.make(cap));
            }
            var all = new WaitGroup();
            var sent = new AtomicInteger();
            var received = new AtomicInteger();
            for (Chan<Integer> ch : c) {
              all.go(
                  () -> {
                    for (int i = 0; i < n; i++) {
                      ch.send(i);
                      sent.incrementAndGet();
                    }
                  });
              all.go(
                  () -> {
                    for (int i = 0; i < n; i++) {
                      ch.recv();
                      received.incrementAndGet();
                    }
                  });
            }
            all.go(
                () -> {
                  var left = new int[] {n, n, n, n};
                  for (int i = 0; i < 4 * n; i++) {
                    int k =
                        select(
                            send(some(left, c, 0), 0, () -> 0),
                            send(some(left, c, 1), 0, () -> 1),
                            send(some(left, c, 2), 0, () -> 2),
                            send(some(left, c, 3), 0, () -> 3));
                    left[k]--;
                    sent.incrementAndGet();
                  }
                });
            all.go(
                () -> {
                  var left = new int[] {n, n, n, n};
                  for (int i = 0; i < 4 * n; i++) {
                    int k =
                        select(
                            recv(some(left, c, 0), v -> 0),
                            recv(some(left, c, 1), v -> 1),
                            recv(some(left, c, 2), v -> 2),
                            recv(some(left, c, 3), v -> 3));
                    left[k]--;
                    received.incrementAndGet();
                  }
                });
            all.await();
            assertEquals(8 * n, sent.get());
            assertEquals(8 * n, received.get());
          });
    }
  }

  private static Chan<Integer> some(int[] left, List<Chan<Integer>> c, int i) {
    return left[i] == 0 ? null : c.get(i);
  }

  // Time.

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void afterATimeItGivesUp(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            Chan<Integer> never = Chan.make();
            long start = System.nanoTime();
            var how =
                select(
                    recv(never, v -> "received"),
                    after(LONG, () -> "late"),
                    after(Duration.ofMillis(20), () -> "in time"),
                    after(Duration.ofSeconds(Long.MAX_VALUE), () -> "never"));
            assertEquals("in time", how);
            assertTrue(System.nanoTime() - start >= 20_000_000);
            assertFalse(never.trySend(1), "nobody is left");
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void whatComesBeforeTheTimeIsOverIsTaken(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make();
      var got = new AtomicReference<Object>();
      Goroutine g = lab.go(() -> got.set(select(recv(ch, v -> v), after(LONG, () -> "late"))));
      Lab.awaitWaiting(g);
      ch.send(3);
      g.join();
      assertEquals(3, got.get());
    }
  }

  @Test
  void aTimeOfZeroIsReadyAtOnceAndCompetes() throws Exception {
    Chan<Integer> never = Chan.make();
    assertEquals("time", select(recv(never, v -> "v"), after(Duration.ZERO, () -> "time")));
    assertEquals(
        "time", select(after(Duration.ofSeconds(-1), () -> "time"), otherwise(() -> "otherwise")));
    int trials = 2_000;
    Chan<Integer> ch = full(trials);
    int[] chosen = new int[2];
    for (int i = 0; i < trials; i++) {
      chosen[select(recv(ch, v -> 0), after(Duration.ZERO, () -> 1))]++;
    }
    even(trials, chosen);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aTimeOutRacesASend(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            for (int i = 0; i < 200; i++) {
              Chan<Integer> ch = Chan.make();
              var sent = new AtomicInteger();
              Goroutine sender =
                  Gloom.go(
                      () -> {
                        Lab.spin(200_000);
                        sent.set(ch.trySend(1) ? 1 : 0);
                      });
              int got = select(recv(ch, v -> v), after(Duration.ofNanos(200_000), () -> 0));
              sender.join();
              assertEquals(sent.get(), got);
            }
          });
    }
  }

  // Misuse and trouble.

  @Test
  void badCasesAreRefused() {
    Chan<Integer> ch = Chan.make(1);
    assertThrows(
        IllegalArgumentException.class, () -> select(otherwise(() -> 1), otherwise(() -> 2)));
    var e = assertThrows(NullPointerException.class, () -> select(recv(ch, v -> v), null));
    assertEquals("select: case 1 is null", e.getMessage());
    assertThrows(NullPointerException.class, () -> send(ch, null, () -> 1));
    assertThrows(NullPointerException.class, () -> recv(ch, null));
    assertThrows(NullPointerException.class, () -> send(ch, 1, null));
    assertThrows(NullPointerException.class, () -> after(null, () -> 1));
    assertThrows(NullPointerException.class, () -> after(LONG, null));
    assertThrows(NullPointerException.class, () -> otherwise(null));
    assertTrue(ch.trySend(1), "no lock is left behind");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aBranchMayThrowAndMayWait(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            Chan<Integer> a = Chan.make(1);
            Chan<Integer> b = Chan.make();
            a.send(1);
            assertThrows(
                IOException.class,
                () ->
                    select(
                        recv(
                            a,
                            v -> {
                              throw new IOException("of the branch");
                            }),
                        recv(b, v -> v)));
            assertEquals(0, a.len(), "it was received all the same");
            a.send(2);
            Gloom.go(() -> b.send(3));
            int sum = select(recv(a, v -> v + b.recv()));
            assertEquals(5, sum);
            a.send(4);
            int nested = select(recv(a, v -> select(otherwise(() -> v))));
            assertEquals(4, nested);
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aCaseMayBeUsedAgainAlsoByTwoAtOnceAndTwiceInOneSelect(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make();
      Case<Integer> shared = recv(ch, v -> v);
      var got = new AtomicInteger();
      for (int round = 0; round < 50; round++) {
        got.set(0);
        var all = new ArrayList<Goroutine>();
        for (int i = 0; i < 3; i++) {
          all.add(
              lab.go(
                  () -> got.addAndGet(select(shared, recv((Chan<Integer>) null, v -> v), shared))));
        }
        all.forEach(Lab::awaitWaiting);
        ch.send(1);
        ch.send(10);
        ch.send(100);
        for (Goroutine g : all) {
          g.join();
        }
        assertEquals(111, got.get());
        assertFalse(ch.trySend(1));
      }
    }
  }
}
