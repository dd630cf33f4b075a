package dev.gloom.bench.cases;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/// Threads that sleep for a millisecond again and again; an operation is one sleep.
///
/// So many that nobody can serve all of them within the millisecond: what is measured is how fast
/// sleepers are put down and woken, not how long they sleep.
public record Timers(int sleepers) implements Work {
  private static final Duration NAP = Duration.ofMillis(1);

  @Override
  public Needs needs() {
    return Needs.SLEEP;
  }

  @Override
  public long run(Threads threads, long size) {
    int count = (int) Math.min(sleepers, size);
    long sleeps = size / count;
    var early = new AtomicInteger();
    var left = new Countdown(count);
    Threads.Code sleeper =
        () -> {
          long start = System.nanoTime();
          for (long n = 0; n < sleeps; n++) {
            threads.sleep(NAP);
          }
          if (System.nanoTime() - start < sleeps * NAP.toNanos()) {
            early.incrementAndGet();
          }
          left.down();
        };
    for (int i = 0; i < count; i++) {
      threads.start(sleeper);
    }
    threads.await(left);
    Work.check("number of sleepers that came back early", early.get(), 0);
    return count * sleeps;
  }
}
