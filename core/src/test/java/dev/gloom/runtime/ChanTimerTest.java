package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.api.Lab;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A timer's channel has an alarm exactly while somebody waits.
@Timeout(60)
class ChanTimerTest {
  private static final long HOUR = 3_600_000_000_000L;

  @Test
  void anAlarmIsArmedOnlyWhileSomebodyWaits() throws Exception {
    try (var lab = Lab.procs(2)) {
      var timer = new ChanTimer(HOUR, 0);
      assertEquals(Channel.Outcome.BLOCKED, timer.channel().tryRecv());
      assertFalse(timer.isArmed());
      Goroutine one =
          lab.go(() -> assertThrows(InterruptedException.class, () -> timer.channel().recv()));
      Goroutine two =
          lab.go(() -> assertThrows(InterruptedException.class, () -> timer.channel().recv()));
      Lab.awaitWaiting(one);
      Lab.awaitWaiting(two);
      assertTrue(timer.isArmed());
      one.thread().interrupt();
      Lab.await("one leaves", () -> one.state() == Goroutine.State.DEAD);
      assertTrue(timer.isArmed(), "the other still waits");
      two.thread().interrupt();
      two.join();
      assertFalse(timer.isArmed());
    }
  }

  @Test
  void aTickerIsArmedAgainForTheNextAndThenLetGo() throws Exception {
    try (var lab = Lab.procs(1)) {
      var ticker = new ChanTimer(1_000_000, 1_000_000);
      lab.run(
          () -> {
            Goroutine other = Gloom.go(() -> ticker.channel().recv());
            ticker.channel().recv();
            other.join();
            assertFalse(ticker.isArmed());
          });
    }
  }

  @Test
  void stopTakesTheAlarmFromThoseThatWait() throws Exception {
    try (var lab = Lab.procs(1)) {
      var timer = new ChanTimer(HOUR, 0);
      Goroutine g = lab.go(() -> timer.channel().recv());
      Lab.awaitWaiting(g);
      assertTrue(timer.stop());
      assertFalse(timer.isArmed());
      assertFalse(timer.reset(HOUR, 0));
      assertTrue(timer.isArmed());
      assertTrue(timer.reset(0, 0));
      g.join();
      assertFalse(timer.isArmed());
    }
  }
}
