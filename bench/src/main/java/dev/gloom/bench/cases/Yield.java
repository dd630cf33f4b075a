package dev.gloom.bench.cases;

/// Threads that only yield to each other; an operation is one yield.
public record Yield(int threadCount) implements Work {
  @Override
  public long run(Threads threads, long size) {
    int yields = (int) Math.max(1, size / threadCount);
    var left = new Countdown(threadCount);
    for (int i = 0; i < threadCount; i++) {
      threads.start(
          () -> {
            for (int n = 0; n < yields; n++) {
              threads.yield();
            }
            left.down();
          });
    }
    threads.await(left);
    return (long) threadCount * yields;
  }
}
