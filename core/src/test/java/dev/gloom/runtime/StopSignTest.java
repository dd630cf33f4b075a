package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.Lab;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The flag that armed loops read: up while anybody is to stop.
@Timeout(60)
class StopSignTest {
  private final StopSign sign = new StopSign();

  @Test
  void isDownAtFirst() {
    assertFalse(sign.isRaised());
  }

  @Test
  void comesDownWhenNobodyIsAskedAnyMore() {
    sign.raise();
    assertTrue(sign.isRaised());
    sign.lower(() -> false);
    assertFalse(sign.isRaised());
  }

  @Test
  void staysUpForOthersThatAreAsked() {
    sign.raise();
    sign.lower(() -> true);
    assertTrue(sign.isRaised());
  }

  @Test
  void isDownWhileItLooksSoThatWhoAsksMeanwhileRaisesIt() {
    sign.raise();
    sign.lower(
        () -> {
          assertFalse(sign.isRaised());
          sign.raise();
          return false; // whom it asked was not seen
        });
    assertTrue(sign.isRaised());
  }

  @Test
  void looksAtNobodyIfItIsDown() {
    sign.lower(
        () -> {
          throw new AssertionError("it looked");
        });
    assertFalse(sign.isRaised());
  }

  @Test
  void staysUpIfThereIsNoRoomToLook() {
    sign.raise();
    sign.lower(
        () -> {
          throw new StackOverflowError();
        });
    assertTrue(sign.isRaised());
    assertThrows(
        IllegalStateException.class,
        () ->
            sign.lower(
                () -> {
                  throw new IllegalStateException();
                }));
    assertTrue(sign.isRaised());
  }

  @Test
  void requestsOfAllSchedulersCount() throws Exception {
    var one = new Sched(1, new Knobs(1, false, true));
    var other = new Sched(2, new Knobs(2, false, true));
    var both = new CountDownLatch(2);
    for (Sched s : new Sched[] {one, other}) {
      Spawn.go(
          s,
          "starts its monitor",
          () -> {
            both.countDown();
            return null;
          });
    }
    both.await();
    Lab.await("both are known", () -> Sched.LIVE.contains(one) && Sched.LIVE.contains(other));
    P mine = one.procs().all[0];
    P others = other.procs().all[1];
    mine.ask(P.PREEMPT);
    others.ask(P.PREEMPT);
    assertTrue(Hogs.SIGN.isRaised());
    mine.served(P.PREEMPT);
    assertTrue(Hogs.SIGN.isRaised(), "the other is asked");
    assertTrue(Hogs.anyAsked());
    others.served(P.PREEMPT);
    assertFalse(
        (others.request & P.PREEMPT) != 0 || (mine.request & P.PREEMPT) != 0, "both served");
    other.overcommitted.incrementAndGet();
    assertTrue(Hogs.anyAsked(), "somebody runs without a processor");
    other.overcommitted.decrementAndGet();
    one.close();
    other.close();
  }
}
