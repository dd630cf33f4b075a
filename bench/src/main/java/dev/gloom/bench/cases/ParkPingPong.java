package dev.gloom.bench.cases;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Two threads that park and unpark each other in strict turns; an operation is one round trip.
public record ParkPingPong() implements Work {
  @Override
  public long run(Threads threads, long size) {
    var table = new Table(Thread.currentThread());
    var left = new Countdown(1);
    threads.start(
        () -> {
          table.receiver = Thread.currentThread();
          for (long n = 0; n < size; n++) {
            table.awaitTurn(Table.RECEIVER);
            table.passTo(Table.SERVER, table.server);
          }
          left.down();
        });
    // The receiver must have a name before the first ball: it hands over the first turn itself.
    for (long n = 0; n < size; n++) {
      table.awaitTurn(Table.SERVER);
      table.passTo(Table.RECEIVER, table.receiver);
    }
    threads.await(left);
    return size;
  }

  private static final class Table {
    static final int SERVER = 0;
    static final int RECEIVER = 1;

    final Thread server;

    /// Plain: written before the turn first goes to the server, and read only after.
    @Nullable Thread receiver;

    volatile int turn = RECEIVER;

    Table(Thread server) {
      this.server = server;
    }

    void awaitTurn(int mine) {
      while (turn != mine) {
        LockSupport.park(this);
      }
    }

    void passTo(int other, @Nullable Thread thread) {
      turn = other;
      LockSupport.unpark(thread);
    }
  }
}
