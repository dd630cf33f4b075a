package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Body;
import dev.gloom.Chan;
import dev.gloom.ChannelClosedException;
import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.RecvChan;
import dev.gloom.SendChan;
import dev.gloom.TryRecv;
import dev.gloom.WaitGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Channels as Go has them: spec section 10, items 4 to 31 of section 15.
@Timeout(60)
class ChanTest {
  static Stream<Arguments> procsAndCaps() {
    return Stream.of(1, 2, 8)
        .flatMap(procs -> Stream.of(0, 1, 2, 10).map(cap -> Arguments.of(procs, cap)));
  }

  static Stream<Arguments> procsAndBuffers() {
    return Stream.of(1, 2, 8)
        .flatMap(procs -> Stream.of(1, 2, 10).map(cap -> Arguments.of(procs, cap)));
  }

  // Closing: items 4 to 9.

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 10})
  void closingTwiceSaysSoInGosWords(int cap) {
    Chan<Integer> ch = Chan.make(cap);
    ch.close();
    var e = assertThrows(ChannelClosedException.class, ch::close);
    assertTrue(
        e.getMessage().matches("close of closed channel: chan#\\d+ cap=" + cap), e::getMessage);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 10})
  void sendingOnAClosedChannelSaysSoInGosWords(int cap) {
    Chan<Integer> ch = Chan.make(cap);
    ch.close();
    var e = assertThrows(ChannelClosedException.class, () -> ch.send(1));
    assertTrue(
        e.getMessage().matches("send on closed channel: chan#\\d+ cap=" + cap), e::getMessage);
    assertThrows(ChannelClosedException.class, () -> ch.trySend(1));
    assertEquals(0, ch.len());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 10})
  void aClosedAndDrainedChannelAnswersAtOnceEveryTime(int cap) throws Exception {
    Chan<Integer> ch = Chan.make(cap);
    ch.close();
    for (int i = 0; i < 100; i++) {
      assertNull(ch.recv());
      assertInstanceOf(TryRecv.Closed.class, ch.tryRecv());
    }
  }

  @ParameterizedTest
  @MethodSource("procsAndBuffers")
  void whatWasSentBeforeTheCloseComesFirstInOrder(int procs, int cap) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            Chan<Integer> ch = Chan.make(cap);
            for (int i = 0; i < cap; i++) {
              ch.send(i);
            }
            ch.close();
            for (int i = 0; i < cap; i++) {
              assertEquals(i, ch.recv());
            }
            assertNull(ch.recv());
          });
    }
  }

  @ParameterizedTest
  @MethodSource("procsAndCaps")
  void closeWakesAllReceivers(int procs, int cap) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make(cap);
      var nulls = new AtomicInteger();
      var all = new ArrayList<Goroutine>();
      for (int i = 0; i < 20; i++) {
        all.add(
            lab.go(
                () -> {
                  if (ch.recv() == null) {
                    nulls.incrementAndGet();
                  }
                }));
      }
      all.forEach(Lab::awaitWaiting);
      ch.close();
      for (Goroutine g : all) {
        g.join();
      }
      assertEquals(20, nulls.get());
    }
  }

  @ParameterizedTest
  @MethodSource("procsAndCaps")
  void closeThrowsInAllSendersThatWait(int procs, int cap) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make(cap);
      for (int i = 0; i < cap; i++) {
        ch.send(i);
      }
      var thrown = new AtomicInteger();
      var all = new ArrayList<Goroutine>();
      for (int i = 0; i < 20; i++) {
        all.add(
            lab.go(
                () -> {
                  assertThrows(ChannelClosedException.class, () -> ch.send(-1));
                  thrown.incrementAndGet();
                }));
      }
      all.forEach(Lab::awaitWaiting);
      ch.close();
      for (Goroutine g : all) {
        g.join();
      }
      assertEquals(20, thrown.get());
      for (int i = 0; i < cap; i++) {
        assertEquals(i, ch.recv());
      }
      assertNull(ch.recv());
    }
  }

  // Waiting: items 10 to 12.

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void anUnbufferedSendEndsWhenTheValueIsTaken(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make();
      Goroutine sender = lab.go(() -> ch.send(42));
      Lab.awaitWaiting(sender);
      assertEquals(0, ch.len());
      assertEquals(42, ch.recv());
      sender.join();
    }
  }

  @ParameterizedTest
  @MethodSource("procsAndBuffers")
  void aBufferedSendWaitsOnlyWhenFull(int procs, int cap) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make(cap);
      var sent = new AtomicInteger();
      Goroutine sender =
          lab.go(
              () -> {
                for (int i = 0; i <= cap; i++) {
                  ch.send(i);
                  sent.incrementAndGet();
                }
              });
      Lab.await("the buffer is full", () -> sent.get() == cap);
      Lab.awaitWaiting(sender);
      assertEquals(cap, sent.get());
      assertEquals(0, ch.recv());
      sender.join();
      assertEquals(cap, ch.len());
    }
  }

  @ParameterizedTest
  @MethodSource("procsAndCaps")
  void aReceiveFromAnEmptyChannelWaits(int procs, int cap) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make(cap);
      var got = new AtomicInteger(-1);
      Goroutine receiver = lab.go(() -> got.set(ch.recv()));
      Lab.awaitWaiting(receiver);
      assertEquals(-1, got.get());
      ch.send(7);
      receiver.join();
      assertEquals(7, got.get());
      assertEquals(0, ch.len());
    }
  }

  // Order: items 13 to 17.

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void valuesComeInOrderAtEveryCapacity(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      for (int cap = 0; cap <= 200; cap += cap < 12 ? 1 : 17) {
        Chan<Integer> ch = Chan.make(cap);
        lab.run(
            () -> {
              Gloom.go(
                  () -> {
                    for (int i = 0; i < 500; i++) {
                      ch.send(i);
                    }
                    ch.close();
                  });
              int expected = 0;
              for (int v : ch) {
                assertEquals(expected++, v);
              }
              assertEquals(500, expected);
            });
      }
    }
  }

  @ParameterizedTest
  @MethodSource("procsAndCaps")
  void manySendersAndReceiversLoseAndDoubleNothing(int procs, int cap) throws Exception {
    int senders = 4;
    int receivers = 4;
    int each = 1_000 * Lab.stress();
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make(cap);
      var seen = new AtomicInteger[each];
      for (int i = 0; i < each; i++) {
        seen[i] = new AtomicInteger();
      }
      lab.run(
          () -> {
            var sending = new WaitGroup();
            var receiving = new WaitGroup();
            for (int s = 0; s < senders; s++) {
              sending.go(
                  () -> {
                    for (int i = 0; i < each; i++) {
                      ch.send(i);
                    }
                  });
            }
            for (int r = 0; r < receivers; r++) {
              receiving.go(
                  () -> {
                    for (int v : ch) {
                      seen[v].incrementAndGet();
                    }
                  });
            }
            sending.await();
            ch.close();
            receiving.await();
          });
      for (int i = 0; i < each; i++) {
        int value = i;
        assertEquals(senders, seen[i].get(), () -> "value " + value);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("procsAndCaps")
  void receiversAreServedAsTheyCame(int procs, int cap) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make(cap);
      int n = 20;
      var got = new int[n];
      var all = new ArrayList<Goroutine>();
      for (int i = 0; i < n; i++) {
        int me = i;
        Goroutine g = lab.go(() -> got[me] = ch.recv());
        Lab.awaitWaiting(g);
        all.add(g);
      }
      for (int i = 0; i < n; i++) {
        ch.send(i);
      }
      for (Goroutine g : all) {
        g.join();
      }
      for (int i = 0; i < n; i++) {
        assertEquals(i, got[i]);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("procsAndCaps")
  void sendersAreServedAsTheyCame(int procs, int cap) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make(cap);
      int n = 20;
      for (int i = 0; i < cap; i++) {
        ch.send(i);
      }
      for (int i = cap; i < cap + n; i++) {
        int value = i;
        Lab.awaitWaiting(lab.go(() -> ch.send(value)));
      }
      for (int i = 0; i < cap + n; i++) {
        assertEquals(i, ch.recv());
      }
    }
  }

  @ParameterizedTest
  @MethodSource("procsAndBuffers")
  void aHandOverToAWaitingReceiverPassesTheBufferByAndKeepsTheOrder(int procs, int cap)
      throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make(cap);
      var got = new AtomicInteger(-1);
      Goroutine receiver = lab.go(() -> got.set(ch.recv()));
      Lab.awaitWaiting(receiver);
      ch.send(0);
      assertEquals(0, ch.len(), "went to the receiver, which need not have run yet");
      for (int i = 1; i <= cap; i++) {
        assertTrue(ch.trySend(i));
      }
      receiver.join();
      assertEquals(0, got.get());
      for (int i = 1; i <= cap; i++) {
        assertEquals(i, ch.recv());
      }
    }
  }

  // What it says of itself: items 18, 20, 26.

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 10, 200})
  void lenGrowsWithSendsAndCapStays(int cap) throws Exception {
    Chan<Integer> ch = Chan.make(cap);
    for (int i = 0; i <= cap; i++) {
      assertEquals(i, ch.len());
      assertEquals(cap, ch.cap());
      if (i < cap) {
        ch.send(i);
      }
    }
    for (int i = cap; i > 0; i--) {
      assertEquals(i, ch.len());
      ch.recv();
    }
    assertEquals(0, ch.len());
    assertTrue(ch.toString().matches("chan#\\d+ cap=" + cap + " len=0"), ch::toString);
  }

  @ParameterizedTest
  @MethodSource("procsAndCaps")
  void lenDoesNotCountSendersThatWait(int procs, int cap) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make(cap);
      for (int i = 0; i < cap; i++) {
        ch.send(i);
      }
      var all = new ArrayList<Goroutine>();
      for (int i = 0; i < 5; i++) {
        all.add(lab.go(() -> ch.send(99)));
      }
      all.forEach(Lab::awaitWaiting);
      assertEquals(cap, ch.len());
      for (int i = 0; i < cap + 5; i++) {
        ch.recv();
      }
    }
  }

  @Test
  void aCapacityOutOfRangeIsRefusedInGosWords() {
    var e = assertThrows(IllegalArgumentException.class, () -> Chan.make(-1));
    assertEquals("makechan: size out of range: -1", e.getMessage());
    e = assertThrows(IllegalArgumentException.class, () -> Chan.make(Integer.MAX_VALUE));
    assertEquals("makechan: size out of range: 2147483647", e.getMessage());
  }

  @Test
  void nullIsNoElement() {
    Chan<Integer> ch = Chan.make(1);
    var e = assertThrows(NullPointerException.class, () -> ch.send(null));
    assertTrue(e.getMessage().startsWith("send of null: "), e::getMessage);
    assertThrows(NullPointerException.class, () -> ch.trySend(null));
    assertEquals(0, ch.len());
  }

  // Iteration: item 21.

  @ParameterizedTest
  @MethodSource("procsAndCaps")
  void iterationEndsAfterCloseAndDrain(int procs, int cap) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make(cap);
      lab.go(
          () -> {
            for (int i = 0; i < 100; i++) {
              ch.send(i);
            }
            ch.close();
          });
      var got = new ArrayList<Integer>();
      lab.run(
          () -> {
            for (int v : ch) {
              got.add(v);
            }
          });
      assertEquals(Stream.iterate(0, i -> i + 1).limit(100).toList(), got);
    }
  }

  @Test
  void anIteratorKeepsItsRules() throws Exception {
    Chan<String> ch = Chan.make(2);
    ch.send("a");
    ch.send("b");
    ch.close();
    var it = ch.iterator();
    assertTrue(it.hasNext());
    assertTrue(it.hasNext(), "asking takes nothing");
    assertEquals("a", it.next());
    assertEquals("b", it.next(), "also without asking first");
    assertFalse(it.hasNext());
    assertThrows(NoSuchElementException.class, it::next);
  }

  // Not waiting: items 22, 23, 25.

  @ParameterizedTest
  @MethodSource("procsAndCaps")
  void aNonBlockingSendGoesIntoTheBufferOrToAReceiverElseNowhere(int procs, int cap)
      throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make(cap);
      for (int i = 0; i < cap; i++) {
        assertTrue(ch.trySend(i));
      }
      assertFalse(ch.trySend(-1), "full");
      for (int i = 0; i < cap; i++) {
        assertEquals(i, ch.recv());
      }
      var got = new AtomicInteger(-1);
      Goroutine receiver = lab.go(() -> got.set(ch.recv()));
      Lab.awaitWaiting(receiver);
      assertTrue(ch.trySend(5), "to the receiver");
      receiver.join();
      assertEquals(5, got.get());
    }
  }

  @ParameterizedTest
  @MethodSource("procsAndCaps")
  void aNonBlockingReceiveTellsValueEmptyAndClosedApart(int procs, int cap) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make(cap);
      assertEquals(new TryRecv.Empty<>(), ch.tryRecv());
      Goroutine sender = lab.go(() -> ch.send(5));
      if (cap == 0) {
        Lab.awaitWaiting(sender);
      } else {
        sender.join();
      }
      assertEquals(new TryRecv.Value<>(5), ch.tryRecv());
      assertEquals(new TryRecv.Empty<>(), ch.tryRecv());
      ch.close();
      assertEquals(new TryRecv.Closed<>(), ch.tryRecv());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aNonBlockingReceiveBesideACloseStillGetsTheValue(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            for (int i = 0; i < 5_000; i++) {
              Chan<Integer> ch = Chan.make(1);
              ch.send(1);
              Goroutine closer = Gloom.go(ch::close);
              assertEquals(new TryRecv.Value<>(1), ch.tryRecv());
              closer.join();
            }
          });
    }
  }

  // Together: items 28 to 31.

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aChainOf10000GoroutinesPassesAValueOn(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            int n = 10_000;
            Chan<Integer> leftmost = Chan.make();
            Chan<Integer> left = leftmost;
            for (int i = 0; i < n; i++) {
              Chan<Integer> into = left;
              Chan<Integer> from = Chan.make();
              Gloom.go(() -> into.send(from.recv() + 1));
              left = from;
            }
            left.send(0);
            assertEquals(n, leftmost.recv());
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void manyConsumersThatYieldGetEverything(int procs) throws Exception {
    int workers = 23;
    int n = 10_000;
    try (var lab = Lab.procs(procs)) {
      var sum = new AtomicLong();
      lab.run(
          () -> {
            Chan<Integer> in = Chan.make(workers);
            Chan<Integer> out = Chan.make(workers);
            var working = new WaitGroup();
            for (int w = 0; w < workers; w++) {
              int me = w;
              working.go(
                  () -> {
                    for (int v : in) {
                      if (v % workers == me) {
                        Gloom.gosched();
                      }
                      out.send(v);
                    }
                  });
            }
            var summing = new WaitGroup();
            summing.go(
                () -> {
                  for (int v : out) {
                    sum.addAndGet(v);
                  }
                });
            for (int i = 1; i <= n; i++) {
              in.send(i);
            }
            in.close();
            working.await();
            out.close();
            summing.await();
          });
      assertEquals(n * (n + 1L) / 2, sum.get());
    }
  }

  @ParameterizedTest
  @MethodSource("procsAndBuffers")
  void aChannelAsSemaphoreHoldsItsLimit(int procs, int cap) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<String> semaphore = Chan.make(cap);
      var inside = new AtomicInteger();
      var most = new AtomicInteger();
      lab.run(
          () -> {
            var all = new WaitGroup();
            for (int i = 0; i < 50; i++) {
              all.go(
                  () -> {
                    for (int k = 0; k < 10; k++) {
                      semaphore.send("in");
                      most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                      Gloom.gosched();
                      inside.decrementAndGet();
                      semaphore.recv();
                    }
                  });
            }
            all.await();
          });
      assertEquals(0, inside.get());
      assertTrue(most.get() <= cap, () -> most + " inside, with room for " + cap);
      assertTrue(most.get() >= 1);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void whatHappensBeforeIsSeenAfter(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            for (int i = 1; i <= 2_000; i++) {
              int round = i;
              var box = new int[3]; // plain
              Chan<String> buffered = Chan.make(1);
              Chan<String> closed = Chan.make();
              Chan<String> bare = Chan.make();
              Goroutine other =
                  Gloom.go(
                      () -> {
                        box[0] = round;
                        buffered.send("sent");
                        box[1] = round;
                        closed.close();
                        box[2] = round;
                        bare.recv();
                      });
              buffered.recv();
              assertEquals(round, box[0], "before the send, after the receive");
              assertNull(closed.recv());
              assertEquals(round, box[1], "before the close, after the receive");
              bare.send("taken");
              assertEquals(round, box[2], "before the receive, after the send");
              other.join();
            }
          });
    }
  }

  // Each operation is a scheduling point: an endless loop of those that never wait does not keep
  // the only processor for itself.

  static Stream<Arguments> endless() {
    Chan<Integer> ch = Chan.make(1);
    var group = new WaitGroup();
    return Stream.of(
        loop(
            "send, recv",
            () -> {
              ch.send(1);
              ch.recv();
            }),
        loop(
            "trySend, tryRecv",
            () -> {
              ch.trySend(1);
              ch.tryRecv();
            }),
        loop("select", () -> Gloom.select(Gloom.recv(ch, v -> v), Gloom.otherwise(() -> 0))),
        loop("close", () -> Chan.make().close()),
        loop(
            "wait group",
            () -> {
              group.add(1);
              group.done();
              group.await();
            }));
  }

  private static Arguments loop(String name, Body body) {
    return Arguments.of(Named.of(name, body));
  }

  @ParameterizedTest
  @MethodSource("endless")
  void anEndlessLoopOfOperationsLetsOthersRun(Body body) throws Exception {
    try (var lab = Lab.procs(1)) {
      var stop = new AtomicInteger();
      lab.run(
          () -> {
            Goroutine other = Gloom.go(() -> stop.set(1));
            while (stop.get() == 0) {
              body.run();
            }
            other.join();
          });
      assertEquals(1, stop.get());
    }
  }

  // Directions and element types.

  @Test
  void aChannelHasTwoEnds() throws Exception {
    Chan<Integer> ch = Chan.make(1);
    SendChan<Integer> in = ch;
    RecvChan<Integer> out = ch;
    in.send(1);
    assertEquals(1, in.len());
    assertEquals(1, out.recv());
    in.close();
    assertNull(out.recv());
  }

  @Test
  void anySortOfElementPasses() throws Exception {
    Chan<Object> ch = Chan.make(4);
    var own = new Object();
    for (Object o : List.of(own, Chan.make(), "", 0)) {
      ch.send(o);
    }
    assertEquals(own, ch.recv());
    assertInstanceOf(Chan.class, ch.recv());
    assertEquals("", ch.recv());
    assertEquals(0, ch.recv());
  }

  // Who waits may be any thread.

  @ParameterizedTest
  @MethodSource("procsAndCaps")
  void platformThreadsForeignVirtualThreadsAndGoroutinesMix(int procs, int cap) throws Exception {
    int each = 200;
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make(cap);
      var got = new ConcurrentLinkedQueue<Integer>();
      var threads = new ArrayList<Thread>();
      for (Thread.Builder kind :
          List.of(Thread.ofPlatform(), Thread.ofVirtual(), Thread.ofPlatform())) {
        threads.add(kind.start(() -> assertDoesNotThrow(() -> send(ch, each))));
      }
      var receivers = new ArrayList<Thread>();
      receivers.add(Thread.ofPlatform().start(() -> ch.forEach(got::add)));
      receivers.add(Thread.ofVirtual().start(() -> ch.forEach(got::add)));
      Goroutine sender = lab.go(() -> send(ch, each));
      Goroutine receiver = lab.go(() -> ch.forEach(got::add));
      for (Thread t : threads) {
        t.join();
      }
      sender.join();
      ch.close();
      for (Thread t : receivers) {
        t.join();
      }
      receiver.join();
      assertEquals(4 * each, got.size());
      assertEquals(4L * each * (each - 1) / 2, got.stream().mapToLong(v -> v).sum());
    }
  }

  private static void send(Chan<Integer> ch, int n) throws InterruptedException {
    for (int i = 0; i < n; i++) {
      ch.send(i);
    }
  }
}
