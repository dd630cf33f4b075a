package dev.gloom.runtime;

import static dev.gloom.runtime.TimerHeap.Added.CLOSED;
import static dev.gloom.runtime.TimerHeap.Added.EARLIEST;
import static dev.gloom.runtime.TimerHeap.Added.LATER;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.ChildJvm;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The heap of alarms: each rule by hand, and all of them at random against a PriorityQueue.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TimerHeapTest {
  private static final long LATEST = Alarm.NEVER - 1;

  private final TimerHeap heap = new TimerHeap();
  private final List<Integer> rung = new ArrayList<>();

  private Bell add(int id, long when) {
    Bell bell = Bell.at(id, when, () -> rung.add(id));
    assertTrue(heap.add(bell) != CLOSED);
    return bell;
  }

  @Test
  void emptyHeapHasNothingToRing() {
    assertEquals(Alarm.NEVER, heap.earliest());
    assertEquals(0, heap.ringDue(LATEST));
    assertEquals(0, heap.size());
    assertEquals(0, heap.sweep());
  }

  @Test
  void tellsWhetherANewOneIsTheFirstToRing() {
    assertEquals(EARLIEST, heap.add(Bell.at(100)));
    assertEquals(LATER, heap.add(Bell.at(200)));
    assertEquals(LATER, heap.add(Bell.at(100)), "as early is not earlier");
    assertEquals(100, heap.earliest());
    assertEquals(EARLIEST, heap.add(Bell.at(99)));
    assertEquals(99, heap.earliest());
  }

  @Test
  void ringsWhatIsDueInTheOrderOfTime() {
    long[] times = {50, 10, 40, 10, 30, 20, 60};
    for (int i = 0; i < times.length; i++) {
      add((int) times[i], times[i]);
    }
    assertEquals(0, heap.ringDue(9));
    assertEquals(5, heap.ringDue(40), "one that is due now is due");
    assertEquals(List.of(10, 10, 20, 30, 40), rung);
    assertEquals(50, heap.earliest());
    assertEquals(2, heap.ringDue(LATEST));
    assertEquals(List.of(10, 10, 20, 30, 40, 50, 60), rung);
    assertEquals(Alarm.NEVER, heap.earliest());
  }

  @Test
  void ringsMoreThanItTakesOutAtOnce() {
    for (int i = 999; i >= 0; i--) {
      add(i, i);
    }
    assertEquals(1000, heap.ringDue(999));
    for (int i = 0; i < 1000; i++) {
      assertEquals(i, rung.get(i));
    }
    assertEquals(0, heap.size());
  }

  @Test
  void ringsOutsideItsLockSoThatABellMayArmAnother() {
    Bell second = Bell.at(2, 5, () -> rung.add(2)); // in the past, when it is added
    heap.add(
        Bell.at(
            1,
            10,
            () -> {
              rung.add(1);
              heap.add(second);
            }));
    assertEquals(2, heap.ringDue(10), "what a bell adds and is due rings as well");
    assertEquals(List.of(1, 2), rung);
  }

  @Test
  void alarmsOfTheSameTimeAllRing() {
    for (int i = 0; i < 100; i++) {
      add(i, 7);
    }
    assertEquals(100, heap.ringDue(7));
    assertEquals(100, rung.stream().distinct().count());
  }

  @Test
  void latestTimeOfAllIsATimeLikeAnyOther() {
    assertEquals(EARLIEST, heap.add(Bell.at(LATEST)));
    assertEquals(LATEST, heap.earliest(), "not taken for an empty heap");
    assertEquals(0, heap.ringDue(LATEST - 1));
    assertEquals(1, heap.ringDue(LATEST));
  }

  // Cancelled ones.

  @Test
  void cancelledOneDoesNotRingAndIsDroppedWhenItsTimeComes() {
    Bell bell = add(1, 10);
    add(2, 20);
    assertTrue(bell.cancel());
    assertEquals(2, heap.size(), "it stays for now");
    assertEquals(10, heap.earliest(), "and its time stays the earliest: to wake too early is safe");
    assertEquals(0, heap.ringDue(10));
    assertEquals(1, heap.size());
    assertEquals(20, heap.earliest());
    assertEquals(0, bell.rang.get());
  }

  @Test
  void tooLateToCancelWhatRang() {
    Bell bell = add(1, 10);
    heap.ringDue(10);
    assertFalse(bell.cancel());
  }

  @Test
  void whoCancelsTheLastOfManySweepsThem() {
    Bell[] bells = new Bell[200];
    for (int i = 0; i < bells.length; i++) {
      bells[i] = add(i, 1_000 - i);
    }
    for (int i = 0; i < 50; i++) {
      bells[199 - i].cancel(); // the earliest ones
    }
    assertEquals(200, heap.size(), "a quarter may stay");
    assertEquals(801, heap.earliest());
    bells[149].cancel();
    assertEquals(149, heap.size());
    assertEquals(852, heap.earliest());
    assertEquals(149, heap.ringDue(LATEST));
    for (int i = 0; i < 149; i++) {
      assertEquals(148 - i, rung.get(i), "in order after the sweep");
    }
  }

  @Test
  void fewCancelledOnesAreNotWorthASweep() {
    for (int i = 0; i < 32; i++) {
      add(i, i).cancel();
    }
    assertEquals(32, heap.size());
    add(32, 32).cancel();
    assertEquals(0, heap.size());
    assertEquals(Alarm.NEVER, heap.earliest());
  }

  @Test
  void isNeverMuchLargerThanItNeedsToBe() {
    var random = new Random(1);
    var armed = new ArrayList<Bell>();
    for (int i = 0; i < 100_000; i++) {
      if (random.nextInt(100) < 51) {
        armed.add(add(i, random.nextInt(1_000_000)));
      } else if (!armed.isEmpty()) {
        int at = random.nextInt(armed.size());
        Bell last = armed.removeLast();
        if (at < armed.size()) {
          assertTrue(armed.set(at, last).cancel());
        } else {
          assertTrue(last.cancel());
        }
      }
      int needed = armed.size();
      assertTrue(
          heap.size() <= Math.max(needed + 33, needed * 4 / 3 + 1), heap.size() + " for " + needed);
    }
  }

  @Test
  void roomIsGivenBackByASweep() {
    var all = new Bell[10_000];
    for (int i = 0; i < all.length; i++) {
      all[i] = add(i, i);
    }
    assertEquals(16_384, room());
    for (Bell bell : all) {
      bell.cancel();
    }
    assertTrue(room() <= 256, "room for " + room());
    for (int i = 0; i < 100; i++) {
      add(i, i);
    }
    assertEquals(100, heap.ringDue(LATEST));
  }

  private int room() {
    try {
      var field = TimerHeap.class.getDeclaredField("alarms");
      field.setAccessible(true);
      return Array.getLength(field.get(heap));
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void emptySlotsKeepNothing() throws Exception {
    for (int i = 0; i < 100; i++) {
      Bell bell = add(i, i);
      if (i % 2 == 0) {
        bell.cancel();
      }
    }
    heap.ringDue(30);
    heap.sweep();
    var field = TimerHeap.class.getDeclaredField("alarms");
    field.setAccessible(true);
    var slots = (Alarm[]) field.get(heap);
    for (int i = 0; i < slots.length; i++) {
      assertEquals(i < heap.size(), slots[i] != null, "slot " + i);
    }
    assertEquals(35, heap.size());
  }

  /// A sweep walks through all of memory, and an alarm that is due does not wait for it.
  @Test
  void othersGetInDuringASweep() throws Exception {
    for (int i = 0; i < 200_000; i++) {
      add(i, 1_000 + i);
    }
    var added = new AtomicInteger();
    var stop = new AtomicBoolean();
    Thread adder =
        Thread.ofPlatform()
            .start(
                () -> {
                  while (!stop.get()) {
                    heap.add(Bell.at(1));
                    heap.ringDue(1);
                    added.incrementAndGet();
                  }
                });
    // Each sweep gives it 390 chances, but it may be without a core for many of them. If no sweep
    // lets it in, it gets ahead only where the sweeper loses its core between two of them.
    int open = 0;
    try {
      while (added.get() == 0) {
        Thread.onSpinWait();
      }
      for (int sweep = 0; sweep < 300; sweep++) {
        int before = added.get();
        heap.sweep();
        open += added.get() - before >= 100 ? 1 : 0;
      }
    } finally {
      stop.set(true);
      adder.join();
    }
    assertTrue(open >= 30, "a hundred or more got in during " + open + " sweeps of 300");
    assertEquals(200_000, heap.size());
  }

  // The end.

  @Test
  void closedHeapGivesOutWhatIsArmedAndRefusesTheRest() {
    Bell first = add(1, 10);
    Bell cancelled = add(2, 5);
    Bell second = add(3, 20);
    cancelled.cancel();
    var given = new ArrayList<Alarm>();
    for (Alarm a = heap.close(); a != null; a = a.link) {
      given.add(a);
    }
    assertEquals(List.of(first, second), given);
    assertEquals(Alarm.NEVER, heap.earliest());
    assertEquals(0, heap.size());
    Bell late = Bell.at(1);
    assertEquals(CLOSED, heap.add(late));
    assertNull(late.heap, "it belongs to no heap");
    assertTrue(late.isArmed(), "and can go to another one");
    assertEquals(0, heap.ringDue(LATEST));
    assertNull(heap.close(), "a second time");
    for (int i = 0; i < 100; i++) {
      heap.cancelledOne(); // of those that have moved, late
    }
    assertEquals(0, heap.sweep());
  }

  // Out of memory.

  @Test
  void withoutMemoryToGrowNothingHasChanged() throws Exception {
    var child =
        ChildJvm.run(
                120,
                List.of(ChildJvm.OPEN, "-Xmx24m", "-XX:+UseSerialGC", "-ea"),
                TimerHeapMemoryProgram.class)
            .succeeded();
    assertEquals(1, child.figure("refused"), "the one that needed room");
    assertEquals(1_024, child.figure("rang"), "all that were there before");
    assertEquals(1, child.figure("inOrder"));
    assertEquals(3_000, child.figure("rangLater"), "and with memory it grows again");
  }

  // At random.

  @ParameterizedTest
  @ValueSource(ints = {3, 1_000, 1_000_000_000})
  void doesAsAPriorityQueueDoes(int times) {
    for (int round = 0; round < Seed.times(20); round++) {
      long seed = Seed.pick() + round;
      try {
        new Model(seed, times).play(5_000);
      } catch (Throwable e) {
        throw new AssertionError(Seed.hint(seed) + " (round 0): " + e, e);
      }
    }
  }

  /// A heap and a queue that get the same operations.
  private static final class Model {
    private final Random random;
    private final int times;
    private TimerHeap heap = new TimerHeap();
    private final PriorityQueue<Bell> queue =
        new PriorityQueue<>((a, b) -> Long.compare(a.when, b.when));
    private final List<Bell> armed = new ArrayList<>(); // for a random choice; some have rung
    private final List<Bell> rung = new ArrayList<>();
    private int ids;

    Model(long seed, int times) {
      random = new Random(seed);
      this.times = times;
    }

    void play(int steps) {
      int growing = 50;
      for (int i = 0; i < steps; i++) {
        if (i % 500 == 0) {
          growing = random.nextInt(20, 80); // grows for a while, or shrinks
        }
        int dice = random.nextInt(100);
        if (dice < growing) {
          add();
        } else if (dice < 90) {
          cancel();
        } else if (dice < 98) {
          ring(random.nextInt(20) == 0 ? LATEST : now());
        } else if (dice == 98) {
          heap.sweep();
          assertEquals(queue.size(), heap.size(), "swept");
        } else {
          move();
        }
        Bell first = queue.peek();
        // Cancelled ones may make it earlier, never later.
        assertTrue(heap.earliest() <= (first == null ? Alarm.NEVER : first.when), "earliest");
        assertTrue(heap.size() >= queue.size(), "size");
      }
      ring(LATEST);
      assertEquals(Alarm.NEVER, heap.earliest());
      assertEquals(0, heap.size());
    }

    private long now() {
      long earliest = heap.earliest();
      return earliest >= LATEST ? LATEST - 1 : earliest + random.nextInt(times);
    }

    private void add() {
      long when = random.nextInt(50) == 0 ? LATEST : random.nextInt(times);
      Bell[] self = new Bell[1];
      self[0] = Bell.at(ids++, when, () -> rung.add(self[0]));
      boolean first = when < heap.earliest();
      assertEquals(first ? EARLIEST : LATER, heap.add(self[0]));
      queue.add(self[0]);
      armed.add(self[0]);
    }

    private void cancel() {
      if (!armed.isEmpty()) {
        int at = random.nextInt(armed.size());
        Bell bell = armed.get(at);
        armed.set(at, armed.getLast());
        armed.removeLast();
        assertEquals(queue.remove(bell), bell.cancel(), "cancelled if it had not rung");
      }
    }

    private void ring(long now) {
      rung.clear();
      int n = heap.ringDue(now);
      assertEquals(n, rung.size());
      for (Bell bell : rung) {
        assertEquals(queue.peek().when, bell.when, "in order");
        assertTrue(queue.remove(bell), "once, and not if cancelled");
      }
      assertTrue(queue.isEmpty() || queue.peek().when > now, "all that are due");
    }

    /// As when a P goes: everything into another heap.
    private void move() {
      TimerHeap from = heap;
      heap = new TimerHeap();
      int n = 0;
      for (Alarm a = from.close(); a != null; n++) {
        Alarm next = a.link;
        a.link = null;
        assertTrue(heap.add(a) != CLOSED);
        a = next;
      }
      assertEquals(queue.size(), n);
    }
  }

  // Many threads.

  @Test
  void eachEndsOnceWhoeverRingsCancelsAndCloses() throws Exception {
    for (int round = 0; round < Seed.times(20); round++) {
      endsOnce();
    }
  }

  private static void endsOnce() throws InterruptedException {
    int threads = 4;
    int each = 2_000;
    var heaps = new TimerHeap[] {new TimerHeap(), new TimerHeap()};
    var bells = new Bell[threads * each];
    var cancelled = new boolean[bells.length]; // each written by one thread
    var start = new CountDownLatch(1);
    var adders = new AtomicInteger(threads);
    var all = new ArrayList<Thread>();
    for (int t = 0; t < threads; t++) {
      int from = t * each;
      var random = new Random(from);
      all.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    await(start);
                    for (int i = from; i < from + each; i++) {
                      bells[i] = Bell.at(random.nextInt(1_000));
                      if (heaps[0].add(bells[i]) == CLOSED) {
                        heaps[1].add(bells[i]);
                      }
                      int other = from + random.nextInt(i - from + 1);
                      if (random.nextBoolean() && bells[other].cancel()) {
                        cancelled[other] = true;
                      }
                    }
                    adders.decrementAndGet();
                  }));
    }
    for (TimerHeap heap : heaps) {
      all.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    await(start);
                    for (long now = 0; adders.get() > 0; now = (now + 1) % 500) {
                      heap.ringDue(now);
                    }
                  }));
    }
    all.add(
        Thread.ofPlatform()
            .start(
                () -> {
                  await(start);
                  while (heaps[0].size() < each && adders.get() > 0) {
                    Thread.onSpinWait();
                  }
                  for (Alarm a = heaps[0].close(); a != null; ) {
                    Alarm next = a.link;
                    a.link = null;
                    heaps[1].add(a);
                    a = next;
                  }
                }));
    start.countDown();
    for (Thread t : all) {
      t.join();
    }
    heaps[0].ringDue(LATEST);
    heaps[1].ringDue(LATEST);
    for (int i = 0; i < bells.length; i++) {
      assertEquals(cancelled[i] ? 0 : 1, bells[i].rang.get(), bells[i].toString());
    }
    assertEquals(0, heaps[0].size() + heaps[1].size(), Arrays.toString(heaps));
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
