package dev.gloom.contract;

import dev.gloom.Chan;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import dev.gloom.api.Lab;
import dev.gloom.runtime.Apart;
import java.time.Duration;

/// Two goroutines that meet, one of them at every depth near the end of its stack: a value whose
/// receive threw is still there to be received, and a send that threw has not happened.
///
/// First so many meet at an ordinary depth (an argument) that the JVM knows all ways through the
/// code: the first time that compiled code goes a way that it was compiled without, it is given up,
/// which needs stack, and may throw anywhere, after a value has been taken too.
final class MeetingStackOverflowProgram {
  private static final Object END = -1;
  private static final int ATTEMPTS = 20_000;

  private final int ordinary;

  private final Chan<Object> channel = Chan.make();
  private final boolean receives;
  private final Object[] values;
  private int next;
  private int attempts;
  private int thrown;
  private int wrong;

  private MeetingStackOverflowProgram(boolean receives, int ordinary) {
    this.receives = receives;
    this.ordinary = ordinary;
    values = new Object[ordinary + ATTEMPTS];
    for (int i = 0; i < values.length; i++) {
      values[i] = i;
    }
  }

  public static void main(String[] args) throws Exception {
    try (Scheduler scheduler = Scheduler.builder().maxProcs(2).build();
        var _ = new Apart(scheduler)) {
      for (boolean receives : new boolean[] {true, false}) {
        new MeetingStackOverflowProgram(receives, Integer.parseInt(args[0])).play(scheduler);
        long meetings = scheduler.stats().meetings();
        System.out.println("receives=" + receives + " meetings=" + meetings);
        if (meetings == 0) {
          throw new AssertionError("nobody met: " + scheduler.stats());
        }
      }
      Lab.quiet(scheduler);
    }
  }

  private void play(Scheduler scheduler) throws Exception {
    Goroutine partner = scheduler.go(receives ? this::send : this::receive);
    scheduler.run(
        () -> {
          while (attempts < ordinary) {
            attempt();
          }
          while (attempts < values.length) {
            descend();
          }
          if (receives) {
            while (channel.recv() != END) {
              attempts++;
            }
          } else {
            channel.send(END);
          }
        });
    if (!partner.join(Duration.ofSeconds(20))) {
      throw new AssertionError("nobody woke the partner");
    }
    if (wrong != 0 || thrown == 0 || next == 0) {
      throw new AssertionError(wrong + " wrong, " + thrown + " thrown, " + next + " went well");
    }
  }

  @SuppressWarnings("InfiniteRecursion") // what it is for
  private void descend() {
    try {
      descend();
    } catch (StackOverflowError e) {
      // The level below, or its attempt, had no room. Here there is a little more.
      thrown++;
    }
    attempt();
  }

  private void attempt() {
    if (attempts == values.length) {
      return;
    }
    attempts++;
    Object value = values[next]; // compared by identity: no call after the receive
    try {
      if (!receives) {
        channel.send(value);
      } else if (channel.recv() != value) {
        wrong++;
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    next++;
  }

  private void send() throws Exception {
    for (Object value : values) {
      channel.send(value);
    }
    channel.send(END);
  }

  private void receive() throws Exception {
    int expected = 0;
    for (Object value = channel.recv(); value != END; value = channel.recv()) {
      wrong += value == values[expected] ? 0 : 1;
      expected++;
    }
  }
}
