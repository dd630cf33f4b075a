package dev.gloom.bench.cases;

/// Two threads and two channels without capacity; an operation is one round trip.
public record PingPong() implements Work {
  @Override
  public Needs needs() {
    return Needs.CHANNELS;
  }

  @Override
  public long run(Threads threads, long size) {
    var ping = threads.channels().make(0);
    var pong = threads.channels().make(0);
    var left = new Countdown(1);
    threads.start(
        () -> {
          for (long n = 0; n < size; n++) {
            pong.send(ping.recv());
          }
          left.down();
        });
    long sum = 0;
    for (int n = 0; n < size; n++) {
      ping.send(n);
      sum += pong.recv();
    }
    threads.await(left);
    Work.check("sum of what came back", sum, size * (size - 1) / 2);
    return size;
  }
}
