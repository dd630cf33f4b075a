package dev.gloom.api;

import static dev.gloom.Gloom.after;
import static dev.gloom.Gloom.otherwise;
import static dev.gloom.Gloom.recv;
import static dev.gloom.Gloom.select;
import static dev.gloom.Gloom.send;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Body;
import dev.gloom.Chan;
import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.TryRecv;
import dev.gloom.jdk.Vthread;
import dev.gloom.runtime.G;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Java's side of waiting in a channel: interrupts, permits, what a goroutine waits for.
@Timeout(60)
class ChanInterruptTest {
  private static final Duration LONG = Duration.ofHours(1);

  /// Interrupts `body` while it waits, and checks that it ends with an InterruptedException and
  /// without the flag.
  private static void interrupted(int procs, Body body) throws Exception {
    try (var lab = Lab.procs(procs)) {
      var ended = new AtomicInteger();
      Goroutine g =
          lab.go(
              () -> {
                assertThrows(InterruptedException.class, body::run);
                assertFalse(Thread.currentThread().isInterrupted());
                ended.incrementAndGet();
              });
      Lab.awaitWaiting(g);
      g.thread().interrupt();
      g.join();
      assertEquals(1, ended.get());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void anInterruptedSendHasNotHappened(int procs) throws Exception {
    Chan<Integer> ch = Chan.make(1);
    ch.send(1);
    interrupted(procs, () -> ch.send(2));
    assertEquals(1, ch.recv());
    assertInstanceOf(TryRecv.Empty.class, ch.tryRecv());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void anInterruptedReceiveTakesNothing(int procs) throws Exception {
    Chan<Integer> ch = Chan.make();
    interrupted(procs, ch::recv);
    assertFalse(ch.trySend(1), "nobody waits");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void anInterruptedSelectDoesNothing(int procs) throws Exception {
    Chan<Integer> a = Chan.make();
    Chan<Integer> b = Chan.make();
    interrupted(procs, () -> select(recv(a, v -> v), send(b, 1, () -> 1), after(LONG, () -> 2)));
    assertFalse(a.trySend(1));
    assertInstanceOf(TryRecv.Empty.class, b.tryRecv());
  }

  @Test
  void whoIsInterruptedAlreadyDoesNotBegin() throws Exception {
    Chan<Integer> ch = Chan.make(1);
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> ch.send(1));
    assertFalse(Thread.currentThread().isInterrupted());
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> select(send(ch, 1, () -> 1)));
    assertEquals(0, ch.len());
    ch.send(1);
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, ch::recv);
    assertEquals(1, ch.len());
  }

  @Test
  void whatNeverWaitsIgnoresAnInterrupt() throws Exception {
    Chan<Integer> ch = Chan.make(1);
    Thread.currentThread().interrupt();
    assertTrue(ch.trySend(1));
    assertEquals(new TryRecv.Value<>(1), ch.tryRecv());
    assertEquals("otherwise", select(recv(ch, v -> "v"), otherwise(() -> "otherwise")));
    ch.close();
    assertTrue(Thread.interrupted(), "the flag is as it was");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void anInterruptEndsAnIterationAndTheFlagStays(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make(1);
      ch.send(1);
      var caught = new AtomicReference<RuntimeException>();
      var seen = new AtomicInteger();
      Goroutine g =
          lab.go(
              () -> {
                try {
                  for (int v : ch) {
                    seen.addAndGet(v);
                  }
                } catch (CancellationException e) {
                  caught.set(e);
                  seen.addAndGet(Thread.currentThread().isInterrupted() ? 10 : 0);
                }
              });
      Lab.await("it has received", () -> seen.get() == 1);
      Lab.awaitWaiting(g);
      g.thread().interrupt();
      g.join();
      assertEquals(11, seen.get());
      assertInstanceOf(InterruptedException.class, caught.get().getCause());
      assertTrue(
          caught.get().getMessage().matches("interrupted while receiving from chan#\\d+ cap=1"),
          () -> caught.get().getMessage());
    }
  }

  /// An interrupt beside a send: either the value arrives or the send knows that it did not.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void anInterruptRacesAHandOver(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var kinds = new int[2];
            for (int i = 0; i < 2_000 * Lab.stress(); i++) {
              boolean selects = i % 2 == 0;
              Chan<Integer> ch = Chan.make();
              Chan<Integer> never = Chan.make();
              var got = new AtomicInteger();
              var flag = new AtomicInteger();
              Goroutine receiver =
                  Gloom.go(
                      () -> {
                        try {
                          got.set(
                              selects ? select(recv(ch, v -> v), recv(never, v -> v)) : ch.recv());
                          flag.set(Thread.currentThread().isInterrupted() ? 1 : 0);
                        } catch (InterruptedException e) {
                          flag.set(2);
                        }
                      });
              Gloom.gosched();
              Goroutine interrupter = Gloom.go(() -> receiver.thread().interrupt());
              boolean sent = ch.trySend(1);
              interrupter.join();
              receiver.join();
              assertEquals(sent ? 1 : 0, got.get());
              assertEquals(sent, flag.get() != 2);
              assertFalse(ch.trySend(1), "nobody is left");
              assertFalse(never.trySend(1), "nobody is left");
              kinds[sent ? 0 : 1]++;
            }
          });
    }
  }

  /// A permit that somebody else gave is not mistaken for a value, nor is one of ours left over.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aForeignUnparkDoesNotEndTheWait(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      Chan<Integer> ch = Chan.make();
      var got = new AtomicInteger();
      Goroutine g = lab.go(() -> got.set(ch.recv()));
      for (int i = 0; i < 20; i++) {
        Lab.awaitWaiting(g);
        LockSupport.unpark(g.thread());
      }
      Lab.awaitWaiting(g);
      assertEquals(0, got.get());
      ch.send(4);
      g.join();
      assertEquals(4, got.get());
    }
  }

  @Test
  void whoWaitsSaysWhatFor() throws Exception {
    try (var lab = Lab.procs(2)) {
      Chan<Integer> ch = Chan.make();
      Chan<Integer> never = Chan.make();
      var group = new dev.gloom.WaitGroup();
      group.add(1);
      says("chan receive", lab.go(ch::recv));
      ch.send(1);
      says("chan send", lab.go(() -> ch.send(1)));
      ch.recv();
      says("select", lab.go(() -> select(recv(ch, v -> v), recv(never, v -> v))));
      ch.send(1);
      says("sync.WaitGroup.Wait", lab.go(group::await));
      group.done();
      Goroutine g = lab.go(() -> assertThrows(InterruptedException.class, Gloom::select));
      says("select (no cases)", g);
      g.thread().interrupt();
      g.join();
      assertEquals(null, g(g).waitReason());
    }
  }

  private static void says(String reason, Goroutine g) {
    Lab.awaitWaiting(g);
    assertEquals(reason, g(g).waitReason().text);
  }

  private static G g(Goroutine goroutine) {
    return (G) Vthread.scheduler(goroutine.thread());
  }
}
