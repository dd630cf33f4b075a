package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

/// A channel against a sequential one, and with planted faults.
///
/// Operations that wait and then give up are like those that do not wait at all, for whoever looks
/// at the answers: a receive that gave up saw an empty channel when it queued up; one that was
/// served meanwhile received after that send. So one sequential channel speaks for both. It has a
/// capacity: without one, a try succeeds or not by who happens to wait, and no order of operations
/// one after the other can tell.
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ChannelLincheckTest {
  private static final String[] SCENARIOS = {
    " | recvOrCancel | trySend | recvOrCancel",
    "trySend | sendOrCancel | tryRecv | sendOrCancel",
    "trySend | sendOrCancel tryRecv | recvOrCancel trySend",
    " | recvOrCancel recvOrCancel | trySend trySend | tryRecv",
    " | recvOrCancel | close | trySend",
    " | close | trySend | close",
    "trySend | sendOrCancel | close | tryRecv tryRecv",
    "trySend | sendOrCancel tryRecv | sendOrCancel | recvOrCancel len",
  };

  @Test
  void isLinearizableInEveryInterleaving() {
    check(modelChecking(), One.class, SpecOfOne.class);
    check(modelChecking(), Two.class, SpecOfTwo.class);
  }

  @Test
  void isLinearizableOnRealThreads() {
    check(stress(), One.class, SpecOfOne.class);
    check(stress(), Two.class, SpecOfTwo.class);
  }

  @Test
  void givingUpWithoutAskingWhetherOneWasServedIsFound() {
    isFound(GivesUpAnyhow.class);
  }

  @Test
  void closingWithoutTheLockIsFound() {
    isFound(ClosesBesideTheLock.class);
  }

  private static void isFound(Class<?> faulty) {
    var e =
        assertThrows(
            LincheckAssertionError.class, () -> check(modelChecking(), faulty, SpecOfOne.class));
    assertTrue(e.getMessage().contains("Invalid execution results"), e::getMessage);
  }

  private static <O extends Options<O, ?>> void check(O options, Class<?> ops, Class<?> spec) {
    Scenario.add(options, ops, SCENARIOS).sequentialSpecification(spec).check(ops);
  }

  /// What any thread may do. The values of each thread tell it and how many it sent before.
  @Param(name = "thread", gen = ThreadIdGen.class)
  public abstract static class Ops {
    final Channel channel;
    private final int[] made = new int[5];

    Ops(int capacity) {
      channel = new Channel(capacity);
    }

    private Integer next(int thread) {
      return value(thread, made);
    }

    @Operation
    public String trySend(@Param(name = "thread") int thread) {
      Integer value = next(thread);
      return channel.putIntoRing(value) ? "DONE" : channel.attemptSend(value, null).toString();
    }

    @Operation
    public String sendOrCancel(@Param(name = "thread") int thread) {
      var w = new Waiter(Ticket.Kind.SEND, next(thread), false);
      Channel.Outcome outcome = channel.attemptSend(w.value(), w);
      if (outcome != Channel.Outcome.BLOCKED || giveUp(w, Ticket.Kind.SEND)) {
        return outcome.toString();
      }
      return w.ok ? "DONE" : "CLOSED";
    }

    @Operation
    public String tryRecv() {
      Object value = channel.takeFromRing();
      return value != null ? value.toString() : channel.attemptRecv(null).toString();
    }

    @Operation
    public String recvOrCancel() {
      var w = new Waiter(Ticket.Kind.RECV, null, false);
      Object got = channel.attemptRecv(w);
      if (got != Channel.Outcome.BLOCKED || giveUp(w, Ticket.Kind.RECV)) {
        return got.toString();
      }
      return w.ok ? w.value().toString() : "CLOSED";
    }

    @Operation
    public boolean close() {
      return channel.closeNow();
    }

    @Operation
    public int len() {
      channel.acquire();
      channel.held = 0;
      return channel.len();
    }

    /// As an interrupt does it.
    boolean giveUp(Waiter w, Ticket.Kind kind) {
      if (channel.queue(kind).withdraw(channel, w, w)) {
        return true;
      }
      while (w.state != Waiter.DONE) {
        Thread.onSpinWait();
      }
      return false;
    }
  }

  public static class One extends Ops {
    public One() {
      super(1);
    }
  }

  public static class Two extends Ops {
    public Two() {
      super(2);
    }
  }

  /// Looks at its state instead of the queue: it may have been taken out and not yet woken.
  public static class GivesUpAnyhow extends Ops {
    public GivesUpAnyhow() {
      super(1);
    }

    @Override
    boolean giveUp(Waiter w, Ticket.Kind kind) {
      if (w.state == Waiter.DONE) {
        return false;
      }
      channel.queue(kind).withdraw(channel, w, w);
      return true;
    }
  }

  /// Looks whether it is closed, and closes, at two moments.
  public static class ClosesBesideTheLock extends Ops {
    private volatile boolean closed;

    public ClosesBesideTheLock() {
      super(1);
    }

    @Override
    public boolean close() {
      if (closed) {
        return false;
      }
      closed = true;
      channel.closeNow();
      return true;
    }
  }

  /// The same, one after the other.
  public abstract static class Spec {
    private final int capacity;
    private final ArrayDeque<Integer> queue = new ArrayDeque<>();
    private final int[] made = new int[5];
    private boolean closed;

    Spec(int capacity) {
      this.capacity = capacity;
    }

    public String trySend(int thread) {
      Integer v = value(thread, made);
      if (closed) {
        return "CLOSED";
      }
      if (queue.size() == capacity) {
        return "BLOCKED";
      }
      queue.add(v);
      return "DONE";
    }

    public String sendOrCancel(int thread) {
      return trySend(thread);
    }

    public String tryRecv() {
      if (queue.isEmpty()) {
        return closed ? "CLOSED" : "BLOCKED";
      }
      return queue.poll().toString();
    }

    public String recvOrCancel() {
      return tryRecv();
    }

    public boolean close() {
      boolean first = !closed;
      closed = true;
      return first;
    }

    public int len() {
      return queue.size();
    }
  }

  public static class SpecOfOne extends Spec {
    public SpecOfOne() {
      super(1);
    }
  }

  public static class SpecOfTwo extends Spec {
    public SpecOfTwo() {
      super(2);
    }
  }

  private static Integer value(int thread, int[] made) {
    return 100 * thread + made[thread]++;
  }

  private static ModelCheckingOptions modelChecking() {
    return new ModelCheckingOptions()
        .invocationsPerIteration(Seed.times(100))
        .iterations(2)
        .threads(3)
        .actorsBefore(1)
        .actorsPerThread(2)
        .actorsAfter(1);
  }

  private static StressOptions stress() {
    return new StressOptions()
        .invocationsPerIteration(Seed.times(200))
        .iterations(2)
        .threads(3)
        .actorsBefore(1)
        .actorsPerThread(3)
        .actorsAfter(1);
  }
}
