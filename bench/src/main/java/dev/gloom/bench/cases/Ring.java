package dev.gloom.bench.cases;

/// A number that goes round through threads, each of which adds one; an operation is one hop.
public record Ring(int nodes) implements Work {
  @Override
  public Needs needs() {
    return Needs.CHANNELS;
  }

  @Override
  public long run(Threads threads, long size) {
    long laps = Math.max(1, size / nodes);
    var left = new Countdown(nodes - 1);
    var first = threads.channels().make(0);
    var last = first;
    for (int i = 1; i < nodes; i++) { // one of them is the caller
      var from = last;
      var to = threads.channels().make(0);
      threads.start(
          () -> {
            for (long lap = 0; lap < laps; lap++) {
              to.send(from.recv() + 1);
            }
            left.down();
          });
      last = to;
    }
    int token = 0;
    for (long lap = 0; lap < laps; lap++) {
      first.send(token + 1);
      token = last.recv();
    }
    threads.await(left);
    Work.check("number of hops", token, nodes * laps);
    return nodes * laps;
  }
}
