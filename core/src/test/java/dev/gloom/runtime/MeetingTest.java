package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Where those meet that run at the same time: who gets what, and who may stay.
@Timeout(60)
class MeetingTest {
  private static final int FOR_EVER = Integer.MAX_VALUE;

  private final Channel channel = new Channel(0);
  private final Meeting meeting = new Meeting();

  /// A receiver that stays until it has something, or finds somebody in the queue.
  private CompletableFuture<Object> receiver() {
    return CompletableFuture.supplyAsync(() -> meeting.receive(channel, null, FOR_EVER, 0));
  }

  private void give(Object value) {
    assertTrue(meeting.give(channel, null, value, FOR_EVER, 0));
  }

  @Test
  void receiverGetsWhatItIsGiven() {
    for (int i = 0; i < 1_000; i++) {
      var receiver = receiver();
      give(i);
      assertEquals(i, receiver.join());
      assertFalse(meeting.give("late"), "nobody is here any more");
    }
  }

  @Test
  void whoWaitsInVainLeavesNothingBehind() {
    assertNull(meeting.receive(channel, null, 100, 0));
    assertFalse(meeting.give("late"));
    assertFalse(meeting.give(channel, null, "early", 100, 0));
    assertNull(meeting.receive(channel, null, 100, 0));
  }

  @Test
  void secondReceiverGoesAway() {
    var first = receiver();
    while (!meeting.isOccupied()) {
      Thread.onSpinWait();
    }
    assertNull(meeting.receive(channel, null, FOR_EVER, 0));
    give("for the first");
    assertEquals("for the first", first.join());
  }

  @Test
  void receiverLooksIntoTheQueue() {
    var receiver = receiver();
    var sender = new Waiter(Ticket.Kind.SEND, "queued", false);
    assertSame(Channel.Outcome.BLOCKED, channel.attemptSend("queued", sender));
    assertNull(receiver.join());
    assertEquals("queued", channel.tryRecv());
  }

  @Test
  void receiverSeesTheEnd() {
    var receiver = receiver();
    channel.close();
    assertNull(receiver.join());
  }

  @Test
  void senderLooksIntoTheQueue() {
    var sender =
        CompletableFuture.supplyAsync(() -> meeting.give(channel, null, "value", FOR_EVER, 0));
    var receiver = new Waiter(Ticket.Kind.RECV, null, false);
    assertSame(Channel.Outcome.BLOCKED, channel.attemptRecv(receiver));
    assertFalse(sender.join());
  }

  @Test
  void senderSeesTheEnd() {
    var sender =
        CompletableFuture.supplyAsync(() -> meeting.give(channel, null, "value", FOR_EVER, 0));
    channel.close();
    assertFalse(sender.join());
  }

  // Who may stay.

  private final Still still = new Still(2);
  private final Sched sched = still.sched;
  private final P p = still.p(0);
  private final P other = still.p(1);

  private boolean stays() {
    return Meeting.nanos(p) != 0;
  }

  @Test
  void nobodyStaysUnlessItIsTried() {
    assertFalse(stays());
    sched.apart.on = true;
    assertTrue(stays());
  }

  @Test
  void nobodyStaysWhileOthersWaitForItsProcessor() {
    sched.apart.on = true;
    p.put(still.g());
    assertFalse(stays(), "in the ring");
    p.queue.poll();
    p.putYielded(still.g());
    assertFalse(stays(), "yielded");
    p.flushYielded(1);
    assertFalse(stays(), "in the global queue");
    sched.global.take();
    assertTrue(stays());
  }

  @Test
  void nobodyStaysWhoIsAskedForSomething() {
    sched.apart.on = true;
    p.ask(P.TIMERS);
    assertFalse(stays());
    p.served(P.TIMERS);
    assertTrue(stays());
  }

  @Test
  void nobodyStaysAgainAndAgainInVain() {
    sched.apart.on = true;
    p.looks = Meeting.CREDIT - 1;
    assertTrue(stays());
    p.looks = Meeting.CREDIT;
    assertFalse(stays());
  }

  @Test
  void alarmsAreLookedAtNowAndThen() {
    sched.apart.on = true;
    still.clock.stopAt(1_000);
    p.timers.add(Bell.at(2_000));
    for (int i = 0; i < 200; i++) {
      assertTrue(stays(), "not due: " + i);
    }
    still.clock.stopAt(1_000_000);
    int goes = 0;
    for (int i = 0; i < 640; i++) {
      goes += stays() ? 0 : 1;
    }
    assertEquals(10, goes);
  }

  @Test
  void theOtherOneOfThePairIsGivenAway() {
    sched.apart.on = true;
    M asleep = still.idle(other);
    G partner = still.g();
    p.putNext(partner);
    assertTrue(stays());
    assertEquals(List.of(partner), still.global());
    assertSame(other, asleep.given, "an M comes for it");
    assertEquals(1, p.pairs);
  }

  @Test
  void thePairStaysTogetherIfNoProcessorIsIdle() {
    sched.apart.on = true;
    p.putNext(still.g());
    assertFalse(stays());
    assertEquals(1, p.queued());
  }

  @Test
  void whoHasMoreThanOnePartnerIsNoPair() {
    sched.apart.on = true;
    still.idle(other);
    p.put(still.g());
    p.putNext(still.g());
    assertFalse(stays());
    assertEquals(2, p.queued());
    assertEquals(0, p.pairs);
  }

  @Test
  void sysmonTriesWhetherPairsGetOnApart() {
    sysmonLooks(0);
    still.idle(other);
    sysmonLooks(255);
    assertFalse(sched.apart.on, "so few are no pair that only talks");
    sysmonLooks(256);
    assertTrue(sched.apart.on);
    p.looks = Meeting.CREDIT;
    p.met += 100_000;
    sysmonLooks(0);
    assertEquals(Meeting.CREDIT, p.looks, "not judged yet");
    while (p.looks != 0) {
      assertTrue(sched.apart.on);
      sysmonLooks(0);
    }
    assertTrue(
        sched.apart.on, "they meet more often than they were dispatched, and have more credit");
    for (int i = 0; i < 50; i++) {
      sysmonLooks(0);
    }
    assertFalse(sched.apart.on, "nothing happens any more");
  }

  @Test
  void noPairIsTriedWhileAllProcessorsAreBusy() {
    sysmonLooks(0);
    sysmonLooks(10_000);
    assertFalse(sched.apart.on);
  }

  private long now = 1_000_000;

  private void sysmonLooks(int pairs) {
    for (int i = 0; i < 100; i++) {
      Still.dispatched(p);
    }
    p.pairs += pairs;
    now += 1_000_000;
    still.clock.stopAt(now);
    sched.sysmon.round(now);
  }
}
