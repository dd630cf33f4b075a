package dev.gloom.java;

import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.AbstractQueuedLongSynchronizer;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/// The locks: what they guard is plain memory, so a lock that lets two in, or does not publish,
/// shows in the sum.
final class LockCases {
  private static final int WORKERS = 8;
  private static final int ROUNDS = 200;

  private LockCases() {}

  static List<ConcurrentCase> cases() {
    return List.of(
        new ConcurrentCase(
            ReentrantLock.class,
            "unfair, excludes and nests",
            n -> WORKERS * ROUNDS * n,
            crew -> excludes(crew, new ReentrantLock(false))),
        new ConcurrentCase(
            ReentrantLock.class,
            "fair, excludes and nests",
            n -> WORKERS * ROUNDS * n,
            crew -> excludes(crew, new ReentrantLock(true))),
        new ConcurrentCase(
            ReentrantLock.class,
            "tryLock with a time limit, until it succeeds",
            n -> WORKERS * ROUNDS / 4 * n,
            LockCases::timedLocks),
        new ConcurrentCase(
            Condition.class,
            "a bounded buffer of two conditions",
            n -> sumTo(4 * ROUNDS * n),
            LockCases::boundedBuffer),
        new ConcurrentCase(
            ReentrantReadWriteLock.class,
            "unfair, readers see no half of a write",
            n -> "writes " + 4 * ROUNDS * n + ", torn 0",
            crew -> readersAndWriters(crew, new ReentrantReadWriteLock(false))),
        new ConcurrentCase(
            ReentrantReadWriteLock.class,
            "fair, readers see no half of a write",
            n -> "writes " + 4 * ROUNDS * n + ", torn 0",
            crew -> readersAndWriters(crew, new ReentrantReadWriteLock(true))),
        new ConcurrentCase(
            StampedLock.class,
            "optimistic, converted and exclusive",
            n -> "writes " + 4 * ROUNDS * n + ", torn 0",
            LockCases::stamped),
        new ConcurrentCase(
            LockSupport.class,
            "a token goes round by unpark",
            n -> WORKERS * ROUNDS * n,
            LockCases::tokenRing),
        new ConcurrentCase(
            AbstractQueuedSynchronizer.class,
            "a mutex made of it",
            n -> WORKERS * ROUNDS * n,
            crew -> {
              var mutex = new Mutex();
              return counts(crew, () -> mutex.acquire(1), () -> mutex.release(1));
            }),
        new ConcurrentCase(
            AbstractQueuedLongSynchronizer.class,
            "a mutex made of it",
            n -> WORKERS * ROUNDS * n,
            crew -> {
              var mutex = new LongMutex();
              return counts(crew, () -> mutex.acquire(1L << 40), () -> mutex.release(1L << 40));
            }),
        new ConcurrentCase(
            AbstractOwnableSynchronizer.class,
            "the owner is the goroutine",
            n -> 0,
            crew -> {
              var mutex = new Mutex();
              var wrong = new AtomicInteger();
              counts(
                  crew,
                  () -> {
                    mutex.acquire(1);
                    if (mutex.owner() != Thread.currentThread()) {
                      wrong.incrementAndGet();
                    }
                  },
                  () -> {
                    if (mutex.owner() != Thread.currentThread()) {
                      wrong.incrementAndGet();
                    }
                    mutex.release(1);
                  });
              return wrong.get();
            }));
  }

  private static long sumTo(long n) {
    return n * (n - 1) / 2;
  }

  private static int excludes(Crew crew, ReentrantLock lock) throws Exception {
    return counts(
        crew,
        () -> {
          lock.lock();
          lock.lock();
        },
        () -> {
          lock.unlock();
          lock.unlock();
        });
  }

  /// Counts in plain memory between enter and leave.
  private static int counts(Crew crew, Runnable enter, Runnable leave) throws Exception {
    var counter = new int[1];
    crew.each(
        WORKERS,
        me -> {
          var random = crew.random(me);
          for (int i = 0; i < crew.times(ROUNDS); i++) {
            enter.run();
            int before = counter[0];
            Crew.stir(random);
            counter[0] = before + 1;
            leave.run();
            Crew.stir(random);
          }
        });
    return counter[0];
  }

  private static int timedLocks(Crew crew) throws Exception {
    var lock = new ReentrantLock();
    var counter = new int[1];
    crew.each(
        WORKERS,
        me -> {
          var random = crew.random(me);
          for (int i = 0; i < crew.times(ROUNDS / 4); i++) {
            while (!lock.tryLock(random.nextInt(300), TimeUnit.MICROSECONDS)) {
              Crew.stir(random);
            }
            int before = counter[0];
            Crew.stir(random);
            counter[0] = before + 1;
            lock.unlock();
          }
        });
    return counter[0];
  }

  private static long boundedBuffer(Crew crew) throws Exception {
    var lock = new ReentrantLock();
    Condition notFull = lock.newCondition();
    Condition notEmpty = lock.newCondition();
    var buffer = new ArrayDeque<Integer>();
    int all = crew.times(4 * ROUNDS);
    var put = new AtomicInteger();
    var sum = new AtomicLong();
    var taken = new AtomicInteger();
    crew.each(
        WORKERS,
        me -> {
          var random = crew.random(me);
          boolean producer = me % 2 == 0;
          for (int i; (i = (producer ? put : taken).getAndIncrement()) < all; Crew.stir(random)) {
            lock.lockInterruptibly();
            try {
              if (producer) {
                while (buffer.size() == 3) {
                  notFull.await();
                }
                buffer.add(i);
                notEmpty.signal();
              } else {
                while (buffer.isEmpty()) {
                  notEmpty.await();
                }
                sum.addAndGet(buffer.remove());
                notFull.signal();
              }
            } finally {
              lock.unlock();
            }
          }
        });
    return sum.get();
  }

  private static String readersAndWriters(Crew crew, ReentrantReadWriteLock lock) throws Exception {
    var pair = new int[2];
    var torn = new AtomicInteger();
    crew.each(
        WORKERS,
        me -> {
          var random = crew.random(me);
          for (int i = 0; i < crew.times(ROUNDS); i++) {
            if (me % 2 == 0) {
              lock.writeLock().lock();
              pair[0]++;
              Crew.stir(random);
              pair[1]++;
              if (random.nextInt(4) == 0) {
                lock.readLock().lock(); // downgrades
                lock.writeLock().unlock();
                check(pair, torn);
                lock.readLock().unlock();
              } else {
                lock.writeLock().unlock();
              }
            } else {
              lock.readLock().lock();
              check(pair, torn);
              Crew.stir(random);
              check(pair, torn);
              lock.readLock().unlock();
            }
          }
        });
    return "writes " + pair[1] + ", torn " + torn;
  }

  private static void check(int[] pair, AtomicInteger torn) {
    if (pair[0] != pair[1]) {
      torn.incrementAndGet();
    }
  }

  private static String stamped(Crew crew) throws Exception {
    var lock = new StampedLock();
    var pair = new int[2];
    var torn = new AtomicInteger();
    crew.each(
        WORKERS,
        me -> {
          var random = crew.random(me);
          for (int i = 0; i < crew.times(ROUNDS); i++) {
            if (me % 2 == 0) {
              long stamp = writeStamp(lock, random.nextInt(3));
              pair[0]++;
              Crew.stir(random);
              pair[1]++;
              lock.unlockWrite(stamp);
            } else {
              long stamp = lock.tryOptimisticRead();
              int first = pair[0];
              int second = pair[1];
              if (stamp == 0 || !lock.validate(stamp)) {
                stamp = random.nextBoolean() ? lock.readLock() : lock.readLockInterruptibly();
                first = pair[0];
                Crew.stir(random);
                second = pair[1];
                lock.unlockRead(stamp);
              }
              if (first != second) {
                torn.incrementAndGet();
              }
            }
          }
        });
    return "writes " + pair[1] + ", torn " + torn;
  }

  private static long writeStamp(StampedLock lock, int way) throws InterruptedException {
    switch (way) {
      case 0 -> {
        return lock.writeLock();
      }
      case 1 -> {
        for (long stamp; ; ) {
          stamp = lock.tryWriteLock(1, TimeUnit.MILLISECONDS);
          if (stamp != 0) {
            return stamp;
          }
        }
      }
      default -> {
        long read = lock.readLock();
        long write = lock.tryConvertToWriteLock(read);
        if (write != 0) {
          return write;
        }
        lock.unlockRead(read);
        return lock.writeLock();
      }
    }
  }

  private static int tokenRing(Crew crew) throws Exception {
    var threads = new Thread[WORKERS];
    var there = new AtomicInteger();
    var token = new AtomicInteger();
    var steps = new int[1];
    crew.each(
        WORKERS,
        me -> {
          threads[me] = Thread.currentThread();
          there.incrementAndGet();
          while (there.get() < WORKERS) {
            Crew.idle();
          }
          for (int lap = 0; lap < crew.times(ROUNDS); lap++) {
            int mine = WORKERS * lap + me;
            while (token.get() != mine) {
              LockSupport.park();
            }
            steps[0]++;
            token.set(mine + 1);
            LockSupport.unpark(threads[(me + 1) % WORKERS]);
          }
        });
    return steps[0];
  }

  @SuppressWarnings("serial") // nobody writes it out
  private static final class Mutex extends AbstractQueuedSynchronizer {
    @Override
    protected boolean tryAcquire(int ignored) {
      if (compareAndSetState(0, 1)) {
        setExclusiveOwnerThread(Thread.currentThread());
        return true;
      }
      return false;
    }

    @Override
    protected boolean tryRelease(int ignored) {
      setExclusiveOwnerThread(null);
      setState(0);
      return true;
    }

    Thread owner() {
      return getExclusiveOwnerThread();
    }
  }

  @SuppressWarnings("serial") // nobody writes it out
  private static final class LongMutex extends AbstractQueuedLongSynchronizer {
    @Override
    protected boolean tryAcquire(long value) {
      return compareAndSetState(0, value);
    }

    @Override
    protected boolean tryRelease(long value) {
      setState(0);
      return true;
    }
  }
}
