package dev.gloom.contract;

import static dev.gloom.Gloom.recv;
import static dev.gloom.Gloom.select;
import static dev.gloom.Gloom.send;

import dev.gloom.Chan;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import dev.gloom.TryRecv;
import dev.gloom.api.Lab;
import java.util.ArrayList;
import java.util.List;

/// Uses channels at every depth near the end of a stack, as {@link StackOverflowProgram} uses the
/// scheduler: an operation that returned has happened, one that threw has not, whoever was served
/// is woken, and no lock is left held. A program too, so that it can be run in a JVM that only
/// interprets.
final class ChannelStackOverflowProgram {
  /// What is done at each depth, each time with a channel of its own.
  enum Deed {
    /// Sends to a receiver that waits.
    HAND_OVER,
    /// Receives from a sender that waits.
    TAKE,
    /// Sends into a buffer.
    BUFFER,
    /// Sends by a select to a receiver that waits. Here an error may come from the branch, when the
    /// value is sent already.
    SELECT,
    /// Closes a channel with a receiver that waits.
    CLOSE
  }

  private static final int ATTEMPTS = 1_000;

  private final Scheduler scheduler;
  private final Deed deed;
  private final List<Chan<Integer>> channels = new ArrayList<>();
  private final List<Goroutine> partners = new ArrayList<>();
  private final int[] got = new int[ATTEMPTS]; // published by join
  private final boolean[] returned = new boolean[ATTEMPTS];
  private final Integer[] taken = new Integer[ATTEMPTS];
  private final Chan<Integer> never = Chan.make();
  private int next;

  private ChannelStackOverflowProgram(Scheduler scheduler, Deed deed) {
    this.scheduler = scheduler;
    this.deed = deed;
  }

  /// With an argument: only so many rounds of selects, in a JVM that compiles.
  public static void main(String[] args) throws Exception {
    if (args.length == 1) {
      Scheduler scheduler = Scheduler.builder().maxProcs(1).build();
      for (int round = 0; round < Integer.parseInt(args[0]); round++) {
        System.out.println(Deed.SELECT + " " + run(scheduler, Deed.SELECT, true));
      }
      Lab.quiet(scheduler);
      return;
    }
    for (int procs : new int[] {1, 2}) {
      for (Deed deed : Deed.values()) {
        Scheduler scheduler = Scheduler.builder().maxProcs(procs).build();
        for (boolean fromGoroutine : new boolean[] {true, false}) {
          int succeeded = run(scheduler, deed, fromGoroutine);
          System.out.println(procs + " " + deed + " " + succeeded);
          // The compiler may put all of it into one frame, and then there is always room.
          if (succeeded == ATTEMPTS) {
            throw new AssertionError("the stack was never too full: is this the interpreter?");
          }
        }
        Lab.quiet(scheduler);
      }
    }
  }

  /// One descent; throws if anything is wrong, else answers how many succeeded.
  static int run(Scheduler scheduler, Deed deed, boolean fromGoroutine) throws Exception {
    var program = new ChannelStackOverflowProgram(scheduler, deed);
    program.prepare();
    if (fromGoroutine) {
      scheduler.run(program::act);
    } else {
      Thread t = new Thread(null, program::act, "deep", 512 * 1024);
      t.start();
      t.join();
    }
    return program.check();
  }

  private void prepare() {
    for (int i = 0; i < ATTEMPTS; i++) {
      int me = i;
      Chan<Integer> ch = Chan.make(deed == Deed.BUFFER ? 1 : 0);
      channels.add(ch);
      switch (deed) {
        case HAND_OVER, SELECT, CLOSE ->
            partners.add(
                scheduler.go(
                    () -> {
                      Integer v = ch.recv();
                      got[me] = v == null ? -1 : v;
                    }));
        case TAKE -> partners.add(scheduler.go(() -> ch.send(me)));
        case BUFFER -> {}
      }
    }
    partners.forEach(Lab::awaitWaiting);
  }

  private void act() {
    // The first at an ordinary depth: what is initialised at the end of a stack is broken for ever.
    attempt();
    descend();
  }

  @SuppressWarnings("InfiniteRecursion") // what it is for
  private void descend() {
    try {
      descend();
    } catch (StackOverflowError e) {
      // The level below, or its attempt, had no room. Here there is a little more.
    }
    attempt();
  }

  private void attempt() {
    int i = next;
    if (i == ATTEMPTS) {
      return;
    }
    next = i + 1;
    Chan<Integer> ch = channels.get(i);
    try {
      switch (deed) {
        case HAND_OVER, BUFFER -> ch.send(i + 1);
        case TAKE -> taken[i] = ch.recv(); // no call after it, not even to unbox
        case SELECT -> select(send(ch, i + 1, () -> i), recv(never, v -> v));
        case CLOSE -> ch.close();
      }
    } catch (Exception e) {
      throw new AssertionError(e);
    }
    returned[i] = true;
  }

  private int check() throws Exception {
    int succeeded = 0;
    for (int i = 0; i < ATTEMPTS; i++) {
      succeeded += returned[i] ? 1 : 0;
      if (!returned[i]) {
        again(i);
      } else if (deed == Deed.TAKE) {
        got[i] = taken[i] + 1;
      }
      if (!partners.isEmpty() && !partners.get(i).join(java.time.Duration.ofSeconds(20))) {
        throw new AssertionError(deed + ": nobody woke the partner of " + i + ", " + returned[i]);
      }
      Chan<Integer> ch = channels.get(i);
      int expected = deed == Deed.CLOSE ? -1 : i + 1;
      int value =
          deed != Deed.BUFFER ? got[i] : ch.tryRecv() instanceof TryRecv.Value(Integer v) ? v : 0;
      if (value != expected) {
        throw new AssertionError(deed + " " + i + ": got " + value + ", returned " + returned[i]);
      }
      if (deed != Deed.CLOSE && (ch.len() != 0 || !ch.tryRecv().equals(new TryRecv.Empty<>()))) {
        throw new AssertionError(deed + " " + i + ": something is left");
      }
    }
    if (never.trySend(1)) {
      throw new AssertionError("somebody is left in the other queue");
    }
    if (succeeded == 0) {
      throw new AssertionError(deed + ": none went well");
    }
    return succeeded;
  }

  /// What threw has not happened, so it can be done now.
  private void again(int i) throws Exception {
    Chan<Integer> ch = channels.get(i);
    boolean done =
        switch (deed) {
          case HAND_OVER, BUFFER -> ch.trySend(i + 1);
          case TAKE -> ch.tryRecv() instanceof TryRecv.Value(Integer v) && (got[i] = v + 1) > 0;
          case SELECT -> ch.trySend(i + 1) || true;
          case CLOSE -> {
            ch.close();
            yield true;
          }
        };
    if (!done) {
      throw new AssertionError(deed + " " + i + " threw, but it has happened");
    }
  }
}
