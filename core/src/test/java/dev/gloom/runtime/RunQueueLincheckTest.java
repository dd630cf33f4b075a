package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayDeque;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The run queue against a sequential one: in the interleavings of small scenarios (model checking)
/// and on real threads (stress), one owner and one or two thieves, rings of 2 and of 4.
///
/// Each check is also run on a queue with a fault in it, {@link FaultyRunQueue}, and must find it.
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RunQueueLincheckTest {
  /// The situations that the queue is afraid of: before | owner | thief | thief.
  private static final String[] SCENARIOS = {
    "offer offer | offer poll | steal | steal", // who gets the last; a slot is used again
    "offer offer | poll offer offer | steal steal",
    "offer offer | offerOrTakeOlderHalf poll | steal", // overflow against a thief
    "offerChain | takeChain offerChain | steal | steal", // batches in and out
    "offer | poll forgetTaken offer | steal steal", // forgetting against a late thief
    "offer offer | poll forgetTaken | steal", // forgetting while there is something left
    "swapNext | offer takeNext | isEmpty | stealNext", // from run-next to the ring, unseen
    "swapNext | swapNext takeNext swapNext | stealNext | stealNext",
    "swapNext | offerNext takeNext offerNext | stealNext | isEmpty",
  };

  private static final G[] GS = new Still(1).gs(32);

  @Test
  void ringOfTwoIsLinearizableInEveryInterleaving() {
    check(modelChecking(), OfTwo.class, OfTwoSpec.class);
  }

  @Test
  void ringOfFourIsLinearizableInEveryInterleaving() {
    check(modelChecking(), OfFour.class, OfFourSpec.class);
  }

  @Test
  void ringOfTwoIsLinearizableOnRealThreads() {
    check(stress(), OfTwo.class, OfTwoSpec.class);
  }

  @Test
  void ringOfFourIsLinearizableOnRealThreads() {
    check(stress(), OfFour.class, OfFourSpec.class);
  }

  private static <O extends Options<O, ?>> void check(O options, Class<?> ops, Class<?> spec) {
    Scenario.add(options, ops, SCENARIOS).sequentialSpecification(spec).check(ops);
  }

  private static ModelCheckingOptions modelChecking() {
    return new ModelCheckingOptions()
        .invocationsPerIteration(Seed.times(200))
        .iterations(3) // of random scenarios
        .threads(3)
        .actorsBefore(3)
        .actorsPerThread(3)
        .actorsAfter(1);
  }

  private static StressOptions stress() {
    return new StressOptions()
        .invocationsPerIteration(Seed.times(500))
        .iterations(3)
        .threads(3)
        .actorsBefore(3)
        .actorsPerThread(3)
        .actorsAfter(1);
  }

  /// What owner and thieves do. The owner's operations are one group: never two at a time.
  public abstract static class Ops {
    private final int capacity;
    private final RunQueue queue;
    private int made; // owner only

    Ops(int capacity) {
      this.capacity = capacity;
      this.queue = new RunQueue(capacity, -2); // wraps soon
    }

    @Operation(nonParallelGroup = "owner")
    public boolean offer() {
      return queue.offer(GS[made++]);
    }

    @Operation(nonParallelGroup = "owner")
    public long swapNext() {
      return id(queue.swapNext(GS[made++]));
    }

    @Operation(nonParallelGroup = "owner")
    public boolean offerNext() {
      return queue.offerNext(GS[made++]);
    }

    @Operation(nonParallelGroup = "owner")
    public long takeNext() {
      return id(queue.takeNext());
    }

    @Operation(nonParallelGroup = "owner")
    public long poll() {
      return id(queue.poll());
    }

    @Operation(nonParallelGroup = "owner")
    public long takeChain() {
      return ids(queue.takeChain(2));
    }

    /// Two at once into an empty ring, as the scheduler does: how many fit into one that thieves
    /// are emptying is a matter of luck.
    @Operation(nonParallelGroup = "owner")
    public boolean offerChain() {
      return queue.size() == 0 && offerTwo();
    }

    private boolean offerTwo() {
      G first = GS[made++];
      G second = GS[made++];
      first.link = second;
      second.link = null; // it was in a chain in another run
      return queue.offerChain(first) == null;
    }

    /// Both in one, as the scheduler does: whether the ring is still full at the second look is a
    /// matter of luck.
    @Operation(nonParallelGroup = "owner")
    public long offerOrTakeOlderHalf() {
      G g = GS[made++];
      while (!queue.offer(g)) {
        G half = queue.takeOlderHalf();
        if (half != null) {
          return ids(half);
        }
      }
      return 0;
    }

    @Operation(nonParallelGroup = "owner")
    public void forgetTaken() {
      queue.forgetTaken();
    }

    @Operation
    public long steal() {
      var into = new RunQueue(capacity);
      G last = queue.stealInto(into);
      long stolen = 0;
      if (last != null) {
        for (G g = into.poll(); g != null; g = into.poll()) {
          stolen = and(stolen, g.id);
        }
        stolen = and(stolen, last.id);
      }
      return stolen;
    }

    @Operation
    public long stealNext() {
      for (; ; ) {
        G g = queue.peekNext();
        if (g == null || queue.stealNext(g)) {
          return id(g);
        }
      }
    }

    @Operation
    public boolean isEmpty() {
      return queue.isEmpty();
    }
  }

  public static class OfTwo extends Ops {
    public OfTwo() {
      super(2);
    }
  }

  public static class OfFour extends Ops {
    public OfFour() {
      super(4);
    }
  }

  /// The same, one after the other.
  public abstract static class Spec {
    private final int capacity;
    private final ArrayDeque<Long> ring = new ArrayDeque<>();
    private long next;
    private int made;

    Spec(int capacity) {
      this.capacity = capacity;
    }

    public boolean offer() {
      long id = GS[made++].id;
      return ring.size() < capacity && ring.add(id);
    }

    public long swapNext() {
      long before = next;
      next = GS[made++].id;
      return before;
    }

    public boolean offerNext() {
      long id = GS[made++].id;
      if (next != 0) {
        return false;
      }
      next = id;
      return true;
    }

    public long takeNext() {
      long g = next;
      next = 0;
      return g;
    }

    public long poll() {
      return ring.isEmpty() ? 0 : ring.poll();
    }

    public long takeChain() {
      return take(Math.min(ring.size(), 2));
    }

    public boolean offerChain() {
      return ring.isEmpty() && offer() && offer();
    }

    public long offerOrTakeOlderHalf() {
      return offer() ? 0 : take(capacity / 2);
    }

    public void forgetTaken() {}

    public long steal() {
      return take(ring.size() - ring.size() / 2);
    }

    public long stealNext() {
      return takeNext();
    }

    public boolean isEmpty() {
      return ring.isEmpty() && next == 0;
    }

    private long take(int n) {
      long taken = 0;
      for (int i = 0; i < n; i++) {
        taken = and(taken, ring.poll());
      }
      return taken;
    }
  }

  public static class OfTwoSpec extends Spec {
    public OfTwoSpec() {
      super(2);
    }
  }

  public static class OfFourSpec extends Spec {
    public OfFourSpec() {
      super(4);
    }
  }

  private static long id(G g) {
    return g == null ? 0 : g.id;
  }

  /// The ids of a chain as one number: a light answer makes a fast model.
  private static long ids(G chain) {
    long ids = 0;
    for (G g = chain; g != null; g = g.link) {
      ids = and(ids, g.id);
    }
    return ids;
  }

  private static long and(long ids, long id) {
    return 100 * ids + id;
  }

  // The checks can fail.

  private static final String[] FAULTY_SCENARIOS = {
    SCENARIOS[0], SCENARIOS[1], "swapNext | offer takeNext | isEmpty"
  };

  @Test
  void copyWithoutAFaultPasses() {
    checkFaulty(modelChecking(), NoFault.class);
  }

  @Test
  void headMovedByAStoreIsFound() {
    assertFound(modelChecking(), PlainHead.class);
  }

  @Test
  void headMovedByAStoreIsFoundOnRealThreads() {
    assertFound(stress().invocationsPerIteration(20_000), PlainHead.class);
  }

  @Test
  void copyingAfterHeadHasMovedIsFound() {
    assertFound(modelChecking(), CopyAfterCas.class);
  }

  @Test
  void oneLookAtTailIsFound() {
    assertFound(modelChecking(), OneLookAtTail.class);
  }

  private static <O extends Options<O, ?>> void assertFound(O options, Class<?> ops) {
    assertThrows(LincheckAssertionError.class, () -> checkFaulty(options, ops));
  }

  private static <O extends Options<O, ?>> void checkFaulty(O options, Class<?> ops) {
    Scenario.add(options, ops, FAULTY_SCENARIOS)
        .iterations(0)
        .minimizeFailedScenario(false)
        .sequentialSpecification(OfTwoSpec.class)
        .check(ops);
  }

  public abstract static class FaultyOps {
    private final FaultyRunQueue queue;
    private int made;

    FaultyOps(FaultyRunQueue.Fault fault) {
      queue = new FaultyRunQueue(fault);
    }

    @Operation(nonParallelGroup = "owner")
    public boolean offer() {
      return queue.offer(GS[made++]);
    }

    @Operation(nonParallelGroup = "owner")
    public long swapNext() {
      return id(queue.swapNext(GS[made++]));
    }

    @Operation(nonParallelGroup = "owner")
    public long takeNext() {
      return id(queue.takeNext());
    }

    @Operation(nonParallelGroup = "owner")
    public long poll() {
      return id(queue.poll());
    }

    @Operation
    public long steal() {
      return id(queue.steal());
    }

    @Operation
    public boolean isEmpty() {
      return queue.isEmpty();
    }
  }

  public static class NoFault extends FaultyOps {
    public NoFault() {
      super(FaultyRunQueue.Fault.NONE);
    }
  }

  public static class PlainHead extends FaultyOps {
    public PlainHead() {
      super(FaultyRunQueue.Fault.PLAIN_HEAD);
    }
  }

  public static class CopyAfterCas extends FaultyOps {
    public CopyAfterCas() {
      super(FaultyRunQueue.Fault.COPY_AFTER_CAS);
    }
  }

  public static class OneLookAtTail extends FaultyOps {
    public OneLookAtTail() {
      super(FaultyRunQueue.Fault.ONE_LOOK_AT_TAIL);
    }
  }
}
