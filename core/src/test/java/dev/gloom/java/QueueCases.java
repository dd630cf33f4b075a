package dev.gloom.java;

import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/// The queues: everything arrives once, and, where the queue promises it, in order.
final class QueueCases {
  private static final int PAIRS = 4;
  private static final int EACH = 200;
  private static final int STRIDE = 1 << 20;

  private QueueCases() {}

  static List<ConcurrentCase> cases() {
    return List.of(
        fifo(ArrayBlockingQueue.class, "unfair", () -> new ArrayBlockingQueue<>(5, false)),
        fifo(ArrayBlockingQueue.class, "fair", () -> new ArrayBlockingQueue<>(5, true)),
        fifo(LinkedBlockingQueue.class, "bounded", () -> new LinkedBlockingQueue<>(5)),
        fifo(LinkedBlockingQueue.class, "unbounded", LinkedBlockingQueue::new),
        fifo(LinkedBlockingDeque.class, "as a queue", () -> new LinkedBlockingDeque<>(5)),
        fifo(SynchronousQueue.class, "unfair", () -> new SynchronousQueue<>(false)),
        fifo(SynchronousQueue.class, "fair", () -> new SynchronousQueue<>(true)),
        fifo(LinkedTransferQueue.class, "as a queue", LinkedTransferQueue::new),
        new ConcurrentCase(
            LinkedBlockingDeque.class,
            "at both ends",
            n -> "all once",
            crew -> bothEnds(crew, new LinkedBlockingDeque<>(5))),
        new ConcurrentCase(
            LinkedTransferQueue.class,
            "transfer waits for the taker",
            n -> "all once, early 0",
            QueueCases::transfers),
        new ConcurrentCase(
            PriorityBlockingQueue.class,
            "everything once, and the rest in order",
            n -> "all once, then in order",
            QueueCases::priorities),
        new ConcurrentCase(
            DelayQueue.class,
            "nothing before its time",
            n -> "all once, early 0",
            QueueCases::delays),
        new ConcurrentCase(
            ConcurrentLinkedQueue.class,
            "in order for each producer",
            n -> "all once, out of order 0",
            crew -> polled(crew, new ConcurrentLinkedQueue<>())),
        new ConcurrentCase(
            ConcurrentLinkedDeque.class,
            "in order for each producer",
            n -> "all once, out of order 0",
            crew -> polled(crew, new ConcurrentLinkedDeque<>())));
  }

  private interface Make {
    BlockingQueue<Integer> queue();
  }

  private static ConcurrentCase fifo(Class<?> type, String name, Make make) {
    return new ConcurrentCase(
        type,
        name + ", in order for each producer",
        n -> "all once, out of order 0",
        crew -> inOrder(crew, make.queue()));
  }

  /// Producers and consumers with every kind of put and take. What one consumer gets of one
  /// producer comes in the order in which it was put.
  private static String inOrder(Crew crew, BlockingQueue<Integer> queue) throws Exception {
    int each = crew.times(EACH);
    var seen = new Seen(each);
    var disorder = new AtomicInteger();
    crew.each(
        2 * PAIRS,
        me -> {
          var random = crew.random(me);
          var last = new int[PAIRS];
          Arrays.fill(last, -1);
          for (int i = 0; i < each; i++) {
            if (me < PAIRS) {
              put(queue, me * STRIDE + i, random);
            } else {
              int value = take(queue, random);
              seen.add(value);
              int from = value / STRIDE;
              if (value % STRIDE <= last[from]) {
                disorder.incrementAndGet();
              }
              last[from] = value % STRIDE;
            }
            Crew.stir(random);
          }
        });
    return seen + (queue.isEmpty() ? "" : ", left " + queue.size()) + ", out of order " + disorder;
  }

  private static void put(BlockingQueue<Integer> queue, int value, SplittableRandom random)
      throws InterruptedException {
    if (random.nextBoolean()) {
      queue.put(value);
    } else {
      while (!queue.offer(value, random.nextInt(300), MICROSECONDS)) {
        Crew.stir(random);
      }
    }
  }

  private static int take(BlockingQueue<Integer> queue, SplittableRandom random)
      throws InterruptedException {
    if (random.nextBoolean()) {
      return queue.take();
    }
    for (; ; ) {
      Integer value = queue.poll(random.nextInt(300), MICROSECONDS);
      if (value != null) {
        return value;
      }
    }
  }

  private static String bothEnds(Crew crew, LinkedBlockingDeque<Integer> deque) throws Exception {
    int each = crew.times(EACH);
    var seen = new Seen(each);
    crew.each(
        2 * PAIRS,
        me -> {
          var random = crew.random(me);
          for (int i = 0; i < each; i++) {
            boolean first = random.nextBoolean();
            if (me < PAIRS) {
              int value = me * STRIDE + i;
              if (first) {
                deque.putFirst(value);
              } else {
                while (!deque.offerLast(value, 300, MICROSECONDS)) {
                  Crew.stir(random);
                }
              }
            } else if (first) {
              seen.add(deque.takeFirst());
            } else {
              Integer value;
              do {
                value = deque.pollLast(300, MICROSECONDS);
              } while (value == null);
              seen.add(value);
            }
          }
        });
    return seen.toString();
  }

  private static String transfers(Crew crew) throws Exception {
    int each = crew.times(EACH);
    var queue = new LinkedTransferQueue<Integer>();
    var seen = new Seen(each);
    var early = new AtomicInteger();
    crew.each(
        2 * PAIRS,
        me -> {
          var random = crew.random(me);
          for (int i = 0; i < each; i++) {
            if (me >= PAIRS) {
              seen.add(take(queue, random));
              continue;
            }
            int value = me * STRIDE + i;
            if (random.nextBoolean()) {
              queue.transfer(value);
            } else {
              while (!queue.tryTransfer(value, random.nextInt(500), MICROSECONDS)) {
                Crew.stir(random);
              }
            }
            if (queue.contains(value)) {
              early.incrementAndGet();
            }
          }
        });
    return seen + ", early " + early;
  }

  private static String priorities(Crew crew) throws Exception {
    int each = crew.times(EACH);
    var queue = new PriorityBlockingQueue<Integer>();
    var seen = new Seen(each);
    crew.each(
        2 * PAIRS,
        me -> {
          var random = crew.random(me);
          for (int i = 0; i < each; i++) {
            if (me < PAIRS) {
              queue.put(me * STRIDE + i);
            } else if (i < each / 2) {
              seen.add(take(queue, random));
            }
            Crew.stir(random);
          }
        });
    int last = -1;
    for (Integer value; (value = queue.poll()) != null; last = value) {
      if (value <= last) {
        return value + " after " + last;
      }
      seen.add(value);
    }
    return seen + ", then in order";
  }

  private record Due(int value, long atNanos) implements Delayed {
    @Override
    public long getDelay(TimeUnit unit) {
      return unit.convert(atNanos - System.nanoTime(), NANOSECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
      return Long.signum(atNanos - ((Due) other).atNanos);
    }
  }

  private static String delays(Crew crew) throws Exception {
    int each = crew.times(EACH / 4);
    var queue = new DelayQueue<Due>();
    var seen = new Seen(each);
    var early = new AtomicInteger();
    crew.each(
        2 * PAIRS,
        me -> {
          var random = crew.random(me);
          for (int i = 0; i < each; i++) {
            if (me < PAIRS) {
              long delay = random.nextLong(-1_000_000, 5_000_000);
              queue.put(new Due(me * STRIDE + i, System.nanoTime() + delay));
              Crew.stir(random);
              continue;
            }
            Due due;
            do {
              due = random.nextBoolean() ? queue.take() : queue.poll(1, TimeUnit.MILLISECONDS);
            } while (due == null);
            if (System.nanoTime() - due.atNanos < 0) {
              early.incrementAndGet();
            }
            seen.add(due.value);
          }
        });
    return seen + ", early " + early;
  }

  private static String polled(Crew crew, Queue<Integer> queue) throws Exception {
    int each = crew.times(EACH);
    var seen = new Seen(each);
    var disorder = new AtomicInteger();
    crew.each(
        2 * PAIRS,
        me -> {
          var random = crew.random(me);
          var last = new int[PAIRS];
          Arrays.fill(last, -1);
          for (int i = 0; i < each; i++) {
            if (me < PAIRS) {
              queue.add(me * STRIDE + i);
            } else {
              Integer value;
              while ((value = queue.poll()) == null) {
                Crew.idle();
              }
              seen.add(value);
              int from = value / STRIDE;
              if (value % STRIDE <= last[from]) {
                disorder.incrementAndGet();
              }
              last[from] = value % STRIDE;
            }
            Crew.stir(random);
          }
        });
    return seen + ", out of order " + disorder;
  }

  /// Whether each value of each producer has arrived, and once: by number, sum and sum of squares.
  private static final class Seen {
    private final int each;
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicLong sum = new AtomicLong();
    private final AtomicLong squares = new AtomicLong();

    Seen(int each) {
      this.each = each;
    }

    void add(int value) {
      count.incrementAndGet();
      sum.addAndGet(value);
      squares.addAndGet((long) value * value);
    }

    @Override
    public String toString() {
      var all = new Seen(each);
      for (int p = 0; p < PAIRS; p++) {
        for (int i = 0; i < each; i++) {
          all.add(p * STRIDE + i);
        }
      }
      return all.count.get() == count.get()
              && all.sum.get() == sum.get()
              && all.squares.get() == squares.get()
          ? "all once"
          : count + " of " + all.count + ", sum " + sum + " instead of " + all.sum;
    }
  }
}
