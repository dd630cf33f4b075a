package dev.gloom.dropin;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/// The work of one class loader in the soak: virtual threads that sleep, park, lock, hand over,
/// start others. Answers how many it started and how many came to their end. Knows only the JDK.
public final class SoakWork implements Callable<long[]> {
  private static final int BATCH = 200;

  private final RandomGenerator random;
  private final long seconds;
  private final AtomicLong started = new AtomicLong();
  private final AtomicLong ended = new AtomicLong();
  private final ReentrantLock lock = new ReentrantLock();
  private final Object monitor = new Object();

  public SoakWork(long seed, long seconds) {
    this.random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    this.seconds = seconds;
  }

  @Override
  public long[] call() throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    while (System.nanoTime() < end) {
      batch();
    }
    return new long[] {started.get(), ended.get()};
  }

  private void batch() throws Exception {
    List<Thread> threads = new ArrayList<>();
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < BATCH; i++) {
        int what = random.nextInt(7);
        int size = random.nextInt(1, 5);
        Runnable body = () -> counted(what, size);
        started.incrementAndGet();
        switch (random.nextInt(3)) {
          case 0 -> executor.execute(body);
          case 1 -> threads.add(Thread.startVirtualThread(body));
          default -> threads.add(Thread.ofVirtual().name("soak-", i).start(body));
        }
      }
    }
    for (Thread t : threads) {
      t.join();
    }
  }

  private void counted(int what, int size) {
    try {
      work(what, size);
      ended.incrementAndGet();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void work(int what, int size) throws InterruptedException {
    switch (what) {
      case 0 -> Thread.sleep(size);
      case 1 -> LockSupport.parkNanos(size * 100_000L);
      case 2 -> {
        lock.lock();
        try {
          Thread.yield();
        } finally {
          lock.unlock();
        }
      }
      case 3 -> {
        synchronized (monitor) {
          monitor.wait(1);
        }
      }
      case 4 -> handOver(size);
      case 5 -> children(size);
      default -> {
        for (int i = 0; i < size; i++) {
          Thread.yield();
        }
      }
    }
  }

  private void handOver(int size) throws InterruptedException {
    var queue = new SynchronousQueue<Integer>();
    started.incrementAndGet();
    Thread giver =
        Thread.startVirtualThread(
            () -> {
              try {
                for (int i = 0; i < size; i++) {
                  queue.put(i);
                }
                ended.incrementAndGet();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    for (int i = 0; i < size; i++) {
      queue.take();
    }
    giver.join();
  }

  private void children(int size) throws InterruptedException {
    var done = new CountDownLatch(size);
    for (int i = 0; i < size; i++) {
      started.incrementAndGet();
      Thread.startVirtualThread(
          () -> {
            ended.incrementAndGet();
            done.countDown();
          });
    }
    done.await();
  }
}
