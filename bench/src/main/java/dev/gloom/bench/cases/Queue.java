package dev.gloom.bench.cases;

import java.util.concurrent.atomic.AtomicLong;

/// So many senders and as many receivers at one channel; an operation is one message.
public record Queue(int pairs, int capacity) implements Work {
  @Override
  public Needs needs() {
    return Needs.CHANNELS;
  }

  @Override
  public long run(Threads threads, long size) {
    long each = Math.max(1, size / pairs);
    var channel = threads.channels().make(capacity);
    var sum = new AtomicLong();
    var left = new Countdown(2 * pairs);
    for (int i = 0; i < pairs; i++) {
      threads.start(
          () -> {
            for (int n = 0; n < each; n++) {
              channel.send(n);
            }
            left.down();
          });
      threads.start(
          () -> {
            long mine = 0;
            for (int n = 0; n < each; n++) {
              mine += channel.recv();
            }
            sum.addAndGet(mine);
            left.down();
          });
    }
    threads.await(left);
    Work.check("sum of the messages", sum.get(), pairs * each * (each - 1) / 2);
    return pairs * each;
  }
}
