package dev.gloom.java;

import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Exchanger;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/// The synchronizers: who may go on, and that all do.
final class SynchronizerCases {
  private static final int WORKERS = 8;
  private static final int ROUNDS = 100;

  private SynchronizerCases() {}

  static List<ConcurrentCase> cases() {
    return List.of(
        new ConcurrentCase(
            Semaphore.class,
            "unfair, never more inside than permits",
            n -> "passed " + WORKERS * ROUNDS * n + ", too many 0, permits left 3",
            crew -> semaphore(crew, new Semaphore(3, false))),
        new ConcurrentCase(
            Semaphore.class,
            "fair, never more inside than permits",
            n -> "passed " + WORKERS * ROUNDS * n + ", too many 0, permits left 3",
            crew -> semaphore(crew, new Semaphore(3, true))),
        new ConcurrentCase(
            CountDownLatch.class,
            "one after the other, with and without a time limit",
            n -> "seen early 0, passed " + WORKERS * ROUNDS * n,
            SynchronizerCases::latches),
        new ConcurrentCase(
            CyclicBarrier.class,
            "all arrive before any leaves",
            n -> "trips " + ROUNDS * n + ", out of step 0",
            SynchronizerCases::barrier),
        new ConcurrentCase(
            CyclicBarrier.class,
            "a time-out breaks it for all",
            n -> "timed out 1, broken " + (WORKERS - 2),
            SynchronizerCases::brokenBarrier),
        new ConcurrentCase(
            Phaser.class,
            "phases with parties that come and go",
            n -> "phases " + (ROUNDS * n + 1) + ", out of step 0",
            SynchronizerCases::phaser),
        new ConcurrentCase(
            Phaser.class,
            "a tree of phasers ends when all have left",
            n -> true,
            SynchronizerCases::tree),
        new ConcurrentCase(
            Exchanger.class,
            "everything is swapped, nothing lost or doubled",
            n -> sumTo(WORKERS * ROUNDS * n),
            SynchronizerCases::exchanger));
  }

  private static long sumTo(long n) {
    return n * (n - 1) / 2;
  }

  private static String semaphore(Crew crew, Semaphore semaphore) throws Exception {
    var inside = new AtomicInteger();
    var tooMany = new AtomicInteger();
    var passed = new AtomicInteger();
    crew.each(
        WORKERS,
        me -> {
          var random = crew.random(me);
          for (int i = 0; i < crew.times(ROUNDS); i++) {
            int want = random.nextInt(1, 4);
            switch (random.nextInt(3)) {
              case 0 -> semaphore.acquire(want);
              case 1 -> semaphore.acquireUninterruptibly(want);
              default -> {
                while (!semaphore.tryAcquire(want, random.nextInt(500), MICROSECONDS)) {
                  Crew.stir(random);
                }
              }
            }
            if (inside.addAndGet(want) > 3) {
              tooMany.incrementAndGet();
            }
            Crew.stir(random);
            inside.addAndGet(-want);
            passed.incrementAndGet();
            semaphore.release(want);
          }
        });
    return "passed %d, too many %d, permits left %d"
        .formatted(passed.get(), tooMany.get(), semaphore.availablePermits());
  }

  private static String latches(Crew crew) throws Exception {
    int rounds = crew.times(ROUNDS);
    var latches = new CountDownLatch[rounds];
    for (int i = 0; i < rounds; i++) {
      latches[i] = new CountDownLatch(WORKERS);
    }
    var arrived = new AtomicInteger[rounds];
    for (int i = 0; i < rounds; i++) {
      arrived[i] = new AtomicInteger();
    }
    var early = new AtomicInteger();
    var passed = new AtomicInteger();
    crew.each(
        WORKERS,
        me -> {
          var random = crew.random(me);
          for (int i = 0; i < rounds; i++) {
            Crew.stir(random);
            arrived[i].incrementAndGet();
            latches[i].countDown();
            if (random.nextBoolean()) {
              latches[i].await();
            } else {
              while (!latches[i].await(random.nextInt(300), MICROSECONDS)) {
                Crew.stir(random);
              }
            }
            if (arrived[i].get() != WORKERS) {
              early.incrementAndGet();
            }
            passed.incrementAndGet();
          }
        });
    return "seen early " + early + ", passed " + passed;
  }

  private static String barrier(Crew crew) throws Exception {
    var trips = new AtomicInteger();
    var wrong = new AtomicInteger();
    var at = new int[WORKERS];
    var barrier =
        new CyclicBarrier(
            WORKERS,
            () -> {
              int trip = trips.getAndIncrement();
              for (int where : at) {
                if (where != trip) {
                  wrong.incrementAndGet();
                }
              }
            });
    crew.each(
        WORKERS,
        me -> {
          var random = crew.random(me);
          for (int i = 0; i < crew.times(ROUNDS); i++) {
            at[me] = i;
            Crew.stir(random);
            if (random.nextBoolean()) {
              barrier.await();
            } else {
              barrier.await(1, java.util.concurrent.TimeUnit.HOURS);
            }
            if (trips.get() != i + 1) {
              wrong.incrementAndGet();
            }
          }
        });
    return "trips " + trips + ", out of step " + wrong;
  }

  private static String brokenBarrier(Crew crew) throws Exception {
    var barrier = new CyclicBarrier(WORKERS);
    var timedOut = new AtomicInteger();
    var broken = new AtomicInteger();
    crew.each(
        WORKERS - 1, // one never comes
        me -> {
          try {
            if (me == 0) {
              while (barrier.getNumberWaiting() < WORKERS - 2) {
                MILLISECONDS.sleep(1);
              }
              barrier.await(2, MILLISECONDS);
            } else {
              barrier.await();
            }
          } catch (TimeoutException e) {
            timedOut.incrementAndGet();
          } catch (BrokenBarrierException e) {
            broken.incrementAndGet();
          }
        });
    return "timed out " + timedOut + ", broken " + broken;
  }

  /// Every third phase a guest joins and leaves.
  private static String phaser(Crew crew) throws Exception {
    var wrong = new AtomicInteger();
    var at = new int[WORKERS];
    var phaser =
        new Phaser(WORKERS) {
          @Override
          protected boolean onAdvance(int phase, int parties) {
            for (int where : at) {
              if (where != phase) {
                wrong.incrementAndGet();
              }
            }
            return parties == 0;
          }
        };
    int phases = crew.times(ROUNDS);
    crew.each(
        WORKERS,
        me -> {
          var random = crew.random(me);
          for (int i = 0; i < phases; i++) {
            at[me] = i;
            Crew.stir(random);
            Thread guest = null;
            if (i % 3 == 0 && me == i % WORKERS) {
              phaser.register();
              guest = crew.start(phaser::arriveAndDeregister);
            }
            if (phaser.arriveAndAwaitAdvance() != i + 1) {
              wrong.incrementAndGet();
            }
            if (guest != null) {
              guest.join();
            }
          }
          at[me] = phases;
          phaser.arriveAndDeregister();
        });
    if (!phaser.isTerminated()) {
      wrong.incrementAndGet();
    }
    return "phases " + (phaser.getPhase() - Integer.MIN_VALUE) + ", out of step " + wrong;
  }

  private static boolean tree(Crew crew) throws Exception {
    var root = new Phaser();
    var leaves = new Phaser[] {new Phaser(root), new Phaser(root), new Phaser(root)};
    for (int i = 0; i < WORKERS; i++) {
      leaves[i % leaves.length].register();
    }
    crew.each(
        WORKERS,
        me -> {
          Phaser mine = leaves[me % leaves.length];
          var random = crew.random(me);
          for (int i = 0; i < crew.times(ROUNDS); i++) {
            int phase = mine.arrive();
            Crew.stir(random);
            mine.awaitAdvanceInterruptibly(phase);
          }
          mine.arriveAndDeregister();
        });
    return root.isTerminated();
  }

  /// All swap at random until nobody has anything to swap; what everybody holds at the end are the
  /// numbers of the beginning.
  private static long exchanger(Crew crew) throws Exception {
    var exchanger = new Exchanger<Integer>();
    var sum = new AtomicLong();
    int rounds = crew.times(ROUNDS);
    crew.each(
        WORKERS,
        me -> {
          var random = crew.random(me);
          for (int i = 0; i < rounds; i++) {
            int mine = me * rounds + i;
            try {
              mine = exchanger.exchange(mine, random.nextLong(2_000), MICROSECONDS);
            } catch (TimeoutException e) {
              // still mine
            }
            sum.addAndGet(mine);
            Crew.stir(random);
          }
        });
    return sum.get();
  }
}
