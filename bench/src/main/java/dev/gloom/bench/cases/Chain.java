package dev.gloom.bench.cases;

/// Threads in a row, each waiting for its right neighbour to hand it a number, which it hands on
/// plus one; an operation is one of them, start to end.
public record Chain(int length) implements Work {
  @Override
  public Needs needs() {
    return Needs.CHANNELS;
  }

  @Override
  public long run(Threads threads, long size) {
    int links = (int) Math.min(length, size);
    long chains = size / links;
    for (long n = 0; n < chains; n++) {
      runOne(threads, links);
    }
    return chains * links;
  }

  private static void runOne(Threads threads, int links) {
    var left = new Countdown(links);
    var leftmost = threads.channels().make(0);
    var end = leftmost;
    for (int i = 0; i < links; i++) {
      var to = end;
      var from = threads.channels().make(0);
      threads.start(
          () -> {
            to.send(from.recv() + 1);
            left.down();
          });
      end = from;
    }
    end.send(0);
    Work.check("number at the end of the chain", leftmost.recv(), links);
    threads.await(left);
  }
}
