package dev.gloom.bench.cases;

import java.util.stream.Stream;

/// A sender at each of several channels without capacity, and one receiver that takes from
/// whichever is ready; an operation is one message.
public record Select(int sources) implements Work {
  @Override
  public Needs needs() {
    return Needs.SELECT;
  }

  @Override
  public long run(Threads threads, long size) {
    long each = Math.max(1, size / sources);
    var channels = Stream.generate(() -> threads.channels().make(0)).limit(sources).toList();
    var left = new Countdown(sources);
    for (var channel : channels) {
      threads.start(
          () -> {
            for (int n = 0; n < each; n++) {
              channel.send(n);
            }
            left.down();
          });
    }
    var any = threads.channels().anyOf(channels);
    long sum = 0;
    for (long n = 0; n < sources * each; n++) {
      sum += any.recv();
    }
    threads.await(left);
    Work.check("sum of the messages", sum, sources * each * (each - 1) / 2);
    return sources * each;
  }
}
