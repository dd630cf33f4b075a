package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The idle M that sleeps in the kernel until a socket is ready: each step of the protocol in
/// Idle's header, N1 to B4, by hand.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PollerTest {
  private static final long NOW = 1_000;

  private final Still still = new Still(4);
  private final Sched sched = still.sched;
  private final Idle idle = sched.idle;
  private final NetPoll netPoll = sched.netPoll;

  @BeforeEach
  void timeStands() {
    still.clock.stopAt(NOW);
  }

  @AfterEach
  void close() {
    while (netPoll.isAwaited()) {
      netPoll.end();
    }
    netPoll.close();
    assertFalse(netPoll.isOpen());
  }

  private List<Thread> woken() {
    var all = List.copyOf(still.parker.woken);
    still.parker.woken.clear();
    return all;
  }

  // I7 and I8: N1 came before.

  @Test
  void threadThatGoesIdleSleepsInTheKernelIfSomebodyWaitsForASocket() {
    assertTrue(netPoll.begin());
    M m = still.idle(still.p(1));
    assertTrue(idle.isPoller(m));
    assertFalse(m.inIdleList);
    assertEquals(1, idle.idleMs(), "it counts as idle");
    assertEquals(List.of(), woken());
  }

  @Test
  void otherwiseItDoesNot() {
    M m = still.idle(still.p(1));
    assertFalse(idle.hasPoller());
    assertTrue(m.inIdleList);
  }

  @Test
  void oneIsEnough() {
    netPoll.begin();
    M first = still.idle(still.p(1));
    M second = still.idle(still.p(2));
    assertTrue(idle.isPoller(first));
    assertTrue(second.inIdleList);
  }

  // N2 to N4: its M has no P.

  @Test
  void whoWaitsWithoutAProcessorHasAThreadWoken() {
    M asleep = still.idle(still.p(1));
    netPoll.begin();
    idle.awaited();
    assertEquals(List.of(asleep), woken());
    assertTrue(idle.await(asleep));
    idle.release(asleep, asleep.p); // finds nothing
    assertTrue(idle.isPoller(asleep));
    idle.awaited();
    assertEquals(List.of(), woken(), "there is one now");
  }

  @Test
  void nobodyIsWokenWhileNoProcessorIsIdle() {
    netPoll.begin();
    idle.awaited();
    assertEquals(List.of(), woken());
    assertEquals(0, idle.searching());
  }

  /// The P of an M that is locked to its goroutine goes to the idle list without it.
  @Test
  void processorThatIsHandedOffHasAPollerToo() {
    M asleep = still.idle(still.p(1));
    netPoll.begin();
    idle.handOff(still.p(2));
    assertEquals(List.of(asleep), woken());
  }

  // The poller is woken for work.

  @Test
  void pollerIsTakenForTheLastIdleProcessorOnly() {
    netPoll.begin();
    M poller = still.idle(still.p(1));
    M asleep = still.idle(still.p(2));
    idle.wake();
    assertEquals(List.of(asleep), woken(), "the other one, while there is one");
    idle.foundWork(takes(asleep));
    idle.wake();
    assertEquals(List.of(poller), woken(), "not in the kernel yet: an unpark will do");
    assertSame(still.p(1), poller.given);
    assertFalse(idle.hasPoller());
  }

  private M takes(M m) {
    assertTrue(idle.await(m));
    return m;
  }

  @Test
  void pollerInTheKernelIsToldByTheEventfd() {
    netPoll.begin();
    M poller = still.idle(still.p(1));
    poller.inPoll = true; // B1
    idle.wake();
    assertEquals(List.of(), woken(), "no unpark");
    P given = poller.given;
    poller.given = null; // as if B2 had come before
    M next = still.idle(still.p(2));
    assertTrue(idle.isPoller(next));
    assertEquals(0, netPoll.block(next), "the break is there, for whoever is in the kernel");
    assertSame(still.p(1), given);
  }

  @Test
  void threadThatWasGivenSomethingDoesNotSleepInTheKernel() {
    netPoll.begin();
    M poller = still.idle(still.p(1));
    idle.wake();
    assertEquals(0, netPoll.block(poller)); // B2; else it would sleep for ever
    assertFalse(poller.inPoll);
    assertTrue(idle.await(poller));
    assertSame(still.p(1), poller.p);
  }

  @Test
  void pollerEndsWithTheOthers() {
    netPoll.begin();
    M poller = still.idle(still.p(1));
    assertEquals(1, idle.endIdleMs());
    assertEquals(List.of(poller), woken());
    assertFalse(idle.await(poller));
  }

  // Beside the watcher.

  private void put(P p, long when) {
    p.timers.add(Bell.at(when));
  }

  @Test
  void withAnAlarmTooAnotherThreadIsTheWatcher() {
    M asleep = still.idle(still.p(1));
    netPoll.begin();
    put(still.p(0), 5_000);
    M m = still.idle(still.p(2));
    assertTrue(idle.isPoller(m));
    assertEquals(List.of(asleep), woken(), "to look around, and then to watch");
    assertTrue(idle.await(asleep));
    idle.release(asleep, asleep.p);
    assertEquals(5_000, idle.watchUntil());
    assertTrue(idle.isPoller(m), "as it was");
    assertEquals(List.of(), woken());
    assertEquals(2, idle.idleMs());
    assertEquals(2, idle.idleProcs());
    assertEquals(0, idle.searching());
  }

  @Test
  void pollerHasTheWatcherChooseItsTimeAnew() {
    put(still.p(0), 9_000);
    M watcher = still.idle(still.p(1));
    assertEquals(9_000, idle.watchUntil());
    netPoll.begin();
    put(still.p(3), 5_000);
    M m = still.idle(still.p(2));
    assertTrue(idle.isPoller(m));
    assertEquals(List.of(watcher), woken());
    still.parker.onPark = () -> still.clock.stopAt(5_000);
    assertTrue(idle.await(watcher));
    assertEquals(4_000, still.parker.lastNanos);
  }
}
