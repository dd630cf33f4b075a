package dev.gloom.bench.cases;

import java.util.concurrent.atomic.AtomicLong;

/// A tree of threads in tens, whose leaves' numbers are summed up through the parents; an operation
/// is one leaf.
public record Skynet() implements Work {
  private static final int CHILDREN = 10;

  @Override
  public long run(Threads threads, long size) {
    long leaves = CHILDREN;
    while (leaves * CHILDREN <= size) {
      leaves *= CHILDREN;
    }
    Work.check("sum of the leaves", sum(threads, 0, leaves), leaves * (leaves - 1) / 2);
    return leaves;
  }

  private static long sum(Threads threads, long first, long leaves) {
    if (leaves == 1) {
      return first;
    }
    var sum = new AtomicLong();
    var left = new Countdown(CHILDREN);
    long part = leaves / CHILDREN;
    for (int i = 0; i < CHILDREN; i++) {
      long begin = first + i * part;
      threads.start(
          () -> {
            sum.addAndGet(sum(threads, begin, part));
            left.down();
          });
    }
    threads.await(left);
    return sum.get();
  }
}
