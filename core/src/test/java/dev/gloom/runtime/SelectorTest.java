package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gloom.api.Lab;
import java.time.Duration;
import java.util.ArrayList;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What a select leaves in the queues of its channels: nothing, whichever way it ends.
@Timeout(60)
class SelectorTest {
  private static final Duration LONG = Duration.ofHours(1);

  private static Ticket recv(Channel c) {
    return new Answering(Ticket.Kind.RECV, c, null);
  }

  private static Ticket send(Channel c, Object v) {
    return new Answering(Ticket.Kind.SEND, c, v);
  }

  private static Ticket after(Duration d) {
    return new Answering(Ticket.Kind.AFTER, null, d);
  }

  private static void nobodyIn(Channel... channels) {
    for (Channel c : channels) {
      assertNull(c.queue(Ticket.Kind.RECV).first, c::toString);
      assertNull(c.queue(Ticket.Kind.SEND).first, c::toString);
      assertNull(c.nextLocked);
      assertEquals(0, c.held);
    }
  }

  /// Starts a select on a thread of its own, waits until it waits, lets `end` end it.
  private static Object ended(Consumer<Thread> end, Ticket... cases) throws Exception {
    var answer = new ArrayList<Object>();
    Thread t =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    answer.add(Selector.select(cases));
                  } catch (Exception e) {
                    answer.add(e.getClass());
                  }
                });
    Lab.await("it waits", () -> t.getState() == Thread.State.TIMED_WAITING);
    end.accept(t);
    t.join();
    return answer.getFirst();
  }

  @Test
  void whoLosesLeavesEveryQueue() throws Exception {
    for (int n = 1; n <= 20; n++) { // few and many, which are locked in different ways
      var channels = new Channel[n];
      var cases = new Ticket[n + 2];
      for (int i = 0; i < n; i++) {
        channels[i] = new Channel(0);
        cases[n - 1 - i] = i % 3 == 0 ? send(channels[i], i) : recv(channels[i]);
      }
      cases[n] = recv(channels[0]);
      cases[n + 1] = after(LONG);
      int winner = n / 2;
      Object got =
          ended(
              _ -> {
                if (winner % 3 == 0) {
                  assertEquals(winner, channels[winner].tryRecv());
                } else {
                  assertEquals(Channel.Outcome.DONE, channels[winner].trySend("value"));
                }
              },
              cases);
      assertEquals(winner % 3 == 0 ? "true null" : "true value", got);
      nobodyIn(channels);
    }
  }

  @Test
  void afterAnInterruptNobodyIsLeft() throws Exception {
    var a = new Channel(0);
    var b = new Channel(0);
    assertEquals(
        InterruptedException.class,
        ended(Thread::interrupt, recv(a), send(b, 1), recv(a), after(LONG)));
    nobodyIn(a, b);
  }

  @Test
  void afterATimeOutNobodyIsLeft() throws Exception {
    var a = new Channel(0);
    var b = new Channel(3);
    Object got = Selector.select(new Object[] {recv(a), recv(b), after(Duration.ofMillis(5))});
    assertEquals("true null", got);
    nobodyIn(a, b);
  }

  @Test
  void afterACloseNobodyIsLeft() throws Exception {
    var a = new Channel(0);
    var b = new Channel(0);
    assertEquals("false null", ended(_ -> b.close(), recv(a), recv(b), send(a, 1)));
    nobodyIn(a, b);
    var c = new Channel(0);
    assertEquals("false null", ended(_ -> c.close(), recv(a), send(c, 1)));
    nobodyIn(a, c);
  }

  @Test
  void anErrorBeforeItWaitsLeavesNoLockBehind() {
    var a = new Channel(0);
    assertThrows(NullPointerException.class, () -> Selector.select(new Object[] {recv(a), null}));
    nobodyIn(a);
  }

  /// The same with everything at once: after the storm all queues are empty.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void afterAStormOfSelectsTimeOutsAndInterruptsNobodyIsLeft(int procs) throws Exception {
    var sched = new Sched(procs, Knobs.ofProcess());
    var channels = new Channel[5];
    for (int i = 0; i < channels.length; i++) {
      channels[i] = new Channel(i % 2);
    }
    int rounds = Seed.times(300);
    long seed = Seed.pick();
    var gs = new ArrayList<G>();
    var interrupts = new AtomicInteger();
    for (int i = 0; i < 12; i++) {
      var random = new SplittableRandom(seed + i * 0xBF58476D1CE4E5B9L);
      gs.add(
          Spawn.go(
              sched,
              "",
              () -> {
                for (int k = 0; k < rounds; k++) {
                  try {
                    Selector.select(
                        new Object[] {
                          recv(channels[random.nextInt(5)]),
                          send(channels[random.nextInt(5)], k),
                          recv(channels[random.nextInt(5)]),
                          after(Duration.ofNanos(random.nextInt(300_000)))
                        });
                  } catch (InterruptedException e) {
                    interrupts.incrementAndGet();
                  }
                }
                return null;
              }));
    }
    var random = new SplittableRandom(seed);
    for (int i = 0; i < 200; i++) {
      gs.get(random.nextInt(gs.size())).thread().interrupt();
      Thread.sleep(0, 200_000);
    }
    for (G g : gs) {
      g.join();
    }
    nobodyIn(channels);
    assertEquals(0, sched.counters().rescues());
    sched.close();
  }

  /// A case whose branch answers how it was called.
  private static class Answering extends Ticket {
    Answering(Kind kind, Channel channel, Object value) {
      super(kind, channel, value);
    }

    @Override
    protected Object chosen(Object received, boolean ok) {
      return ok + " " + received;
    }
  }
}
