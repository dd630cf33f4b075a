package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayDeque;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The global queue against a sequential one, as {@link RunQueueLincheckTest}, and with a planted
/// fault. Its lock spins; Lincheck then lets another thread go on.
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GlobalQueueLincheckTest {
  private static final String[] SCENARIOS = {
    "put | take | take | put",
    "put put | takeTwo | take | putTwo",
    "put | size take | putTwoFirst size | isEmpty",
    " | putTwo putTwo | takeTwo take | take size",
  };

  private static final int EACH = 8; // for each thread
  private static final G[] GS = new Still(1).gs(5 * EACH);

  @Test
  void isLinearizableInEveryInterleaving() {
    check(modelChecking(), Ops.class);
  }

  @Test
  void isLinearizableOnRealThreads() {
    check(stress(), Ops.class);
  }

  @Test
  void headReadOutsideTheLockIsFound() {
    assertThrows(LincheckAssertionError.class, () -> check(modelChecking(), Unlocked.class));
  }

  private static <O extends Options<O, ?>> void check(O options, Class<?> ops) {
    Scenario.add(options, ops, ops == Ops.class ? SCENARIOS : new String[] {SCENARIOS[0]})
        .sequentialSpecification(Spec.class)
        .check(ops);
  }

  /// What any thread may do. Each thread puts goroutines of its own.
  @Param(name = "thread", gen = ThreadIdGen.class)
  public static class Ops {
    private final GlobalQueue queue = new GlobalQueue();
    private final Supply supply = new Supply();

    @Operation
    public void put(@Param(name = "thread") int thread) {
      queue.put(supply.next(thread));
    }

    @Operation
    public void putTwo(@Param(name = "thread") int thread) {
      G first = supply.next(thread);
      G second = supply.next(thread);
      first.link = second;
      second.link = null;
      queue.putChain(first, second, 2);
    }

    @Operation
    public void putTwoFirst(@Param(name = "thread") int thread) {
      G first = supply.next(thread);
      G second = supply.next(thread);
      first.link = second;
      second.link = null;
      queue.putChainFirst(first, second, 2);
    }

    @Operation
    public long take() {
      G g = queue.take();
      return g == null ? 0 : g.id;
    }

    @Operation
    public long takeTwo() {
      G g = queue.takeChain(2);
      return g == null ? 0 : g.link == null ? g.id : 100 * g.id + g.link.id;
    }

    @Operation
    public int size() {
      return queue.size();
    }

    @Operation
    public boolean isEmpty() {
      return queue.isEmpty();
    }
  }

  /// The same, one after the other.
  public static class Spec {
    private final ArrayDeque<Long> queue = new ArrayDeque<>();
    private final Supply supply = new Supply();

    public void put(int thread) {
      queue.add(supply.next(thread).id);
    }

    public void putTwo(int thread) {
      put(thread);
      put(thread);
    }

    public void putTwoFirst(int thread) {
      long first = supply.next(thread).id;
      queue.addFirst(supply.next(thread).id);
      queue.addFirst(first);
    }

    public long take() {
      return queue.isEmpty() ? 0 : queue.poll();
    }

    public long takeTwo() {
      long first = take();
      return queue.isEmpty() ? first : 100 * first + take();
    }

    public int size() {
      return queue.size();
    }

    public boolean isEmpty() {
      return queue.isEmpty();
    }
  }

  private static final class Supply {
    private final int[] made = new int[5]; // before, three threads, after

    G next(int thread) {
      return GS[thread * EACH + made[thread]++];
    }
  }

  /// A queue under the same lock, but a taker reads the head before it has it: two get the same.
  @Param(name = "thread", gen = ThreadIdGen.class)
  public static class Unlocked {
    private final SpinLock lock = new SpinLock();
    private final ArrayDeque<G> queue = new ArrayDeque<>();
    private final Supply supply = new Supply();

    @Operation
    public void put(@Param(name = "thread") int thread) {
      G g = supply.next(thread);
      lock.acquire();
      queue.add(g);
      lock.held = 0;
    }

    @Operation
    public long take() {
      G g = queue.peek();
      if (g == null) {
        return 0;
      }
      lock.acquire();
      queue.poll();
      lock.held = 0;
      return g.id;
    }
  }

  private static ModelCheckingOptions modelChecking() {
    return new ModelCheckingOptions()
        .invocationsPerIteration(Seed.times(200))
        .iterations(3)
        .threads(3)
        .actorsBefore(1)
        .actorsPerThread(2)
        .actorsAfter(1);
  }

  private static StressOptions stress() {
    return new StressOptions()
        .invocationsPerIteration(Seed.times(500))
        .iterations(3)
        .threads(3)
        .actorsBefore(1)
        .actorsPerThread(3)
        .actorsAfter(1);
  }
}
