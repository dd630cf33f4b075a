package dev.gloom.bench.cases;

/// One thread starts all others, which only count themselves out; an operation is one of them,
/// start to end.
public record Spawn() implements Work {
  @Override
  public long run(Threads threads, long size) {
    var left = new Countdown(Math.toIntExact(size));
    Threads.Code body = left::down;
    for (long i = 0; i < size; i++) {
      threads.start(body);
    }
    threads.await(left);
    return size;
  }
}
