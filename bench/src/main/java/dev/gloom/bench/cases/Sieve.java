package dev.gloom.bench.cases;

import dev.gloom.bench.cases.Channels.Pipe;
import java.util.concurrent.atomic.AtomicLong;

/// The prime sieve: a thread for each prime passes on what its prime does not divide. The size is
/// the largest number; an operation is one message.
///
/// It ends with a 0 that all of them pass on: not every kind of channel can be closed.
public record Sieve() implements Work {
  private static final int END = 0;

  @Override
  public Needs needs() {
    return Needs.CHANNELS;
  }

  @Override
  public long run(Threads threads, long size) {
    int limit = (int) Math.max(2, size);
    int expected = countPrimes(limit);
    var left = new Countdown(expected + 1);
    var messages = new AtomicLong();
    var numbers = threads.channels().make(0);
    threads.start(
        () -> {
          for (int n = 2; n <= limit; n++) {
            numbers.send(n);
          }
          numbers.send(END);
          left.down();
        });
    int primes = 0;
    var from = numbers;
    for (int prime = from.recv(); prime != END; prime = from.recv()) {
      primes++;
      from = filtered(threads, from, prime, messages, left);
    }
    Work.check("number of primes up to " + limit, primes, expected);
    threads.await(left);
    return messages.get() + primes + 1;
  }

  private static Pipe filtered(
      Threads threads, Pipe from, int prime, AtomicLong messages, Countdown left) {
    var to = threads.channels().make(0);
    threads.start(
        () -> {
          long received = 0;
          int n;
          do {
            n = from.recv();
            received++;
            if (n == END || n % prime != 0) {
              to.send(n);
            }
          } while (n != END);
          messages.addAndGet(received);
          left.down();
        });
    return to;
  }

  /// By the sieve without threads.
  private static int countPrimes(int limit) {
    var composite = new boolean[limit + 1];
    int primes = 0;
    for (int n = 2; n <= limit; n++) {
      if (!composite[n]) {
        primes++;
        for (int multiple = 2 * n; multiple <= limit; multiple += n) {
          composite[multiple] = true;
        }
      }
    }
    return primes;
  }
}
