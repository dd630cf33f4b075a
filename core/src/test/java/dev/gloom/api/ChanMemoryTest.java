package dev.gloom.api;

import static dev.gloom.Gloom.after;
import static dev.gloom.Gloom.recv;
import static dev.gloom.Gloom.select;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gloom.Chan;
import dev.gloom.Goroutine;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What nobody can reach any more is collected, whatever was done with it before. (A goroutine that
/// waits in a channel for ever is reached through the list of all goroutines, and so is the
/// channel, unless the JVM is told otherwise: `AbandonedTest`.)
@Timeout(60)
class ChanMemoryTest {
  private static void collected(String what, WeakReference<?> ref) {
    Lab.await(
        what + " is collected",
        () -> {
          System.gc();
          return ref.get() == null;
        });
  }

  @Test
  void aChannelAndWhatIsInIt() throws Exception {
    for (WeakReference<?> ref : used()) {
      collected("the channel, or its element,", ref);
    }
  }

  private static List<WeakReference<?>> used() throws Exception {
    Chan<Object> ch = Chan.make(4);
    var element = new Object();
    try (var lab = Lab.procs(2)) {
      ch.send(element);
      lab.go(ch::recv).join();
      ch.send(element);
    }
    return List.of(new WeakReference<>(ch), new WeakReference<>(element));
  }

  @Test
  void anElementThatWasReceivedFromAChannelThatStays() throws Exception {
    Chan<Object> bare = Chan.make();
    Chan<Object> buffered = Chan.make(4);
    for (Chan<Object> ch : List.of(bare, buffered)) {
      try (var lab = Lab.procs(2)) {
        WeakReference<Object> ref = through(lab, ch);
        collected("the element", ref);
      }
    }
    assertEquals(0, bare.len() + buffered.len());
  }

  private static WeakReference<Object> through(Lab lab, Chan<Object> ch) throws Exception {
    var ref = new WeakReference<>(new Object());
    Goroutine waits = lab.go(() -> ch.recv());
    Lab.awaitWaiting(waits);
    ch.send(ref.get());
    waits.join();
    Goroutine sends = lab.go(() -> ch.send(ref.get()));
    if (ch.cap() == 0) {
      Lab.awaitWaiting(sends);
    } else {
      sends.join();
    }
    ch.recv();
    sends.join();
    return ref;
  }

  /// A select with a long time-out that is over, and one that was interrupted: neither the clock
  /// nor the channel that stays holds on to the other channel.
  @Test
  void aChannelThatWasSelectedTogetherWithOneThatStays() throws Exception {
    Chan<Object> stays = Chan.make();
    try (var lab = Lab.procs(2)) {
      collected("the served one", selected(lab, stays, false));
      collected("the interrupted one", selected(lab, stays, true));
    }
    assertEquals(false, stays.trySend(1), "nobody is left");
  }

  private static WeakReference<?> selected(Lab lab, Chan<Object> stays, boolean interrupted)
      throws Exception {
    Chan<Object> goes = Chan.make();
    Goroutine g =
        lab.go(
            () -> {
              try {
                select(
                    recv(stays, v -> v),
                    recv(goes, v -> v),
                    after(Duration.ofHours(1), () -> "late"));
              } catch (InterruptedException e) {
                // as the test wants it
              }
            });
    Lab.awaitWaiting(g);
    if (interrupted) {
      g.thread().interrupt();
    } else {
      goes.send("value");
    }
    g.join();
    return new WeakReference<>(goes);
  }
}
