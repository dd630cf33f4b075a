package dev.gloom.java;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.api.Lab;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Goroutines that start parallel work of the JDK's own and wait for it: streams, the common pool,
/// completable futures. And monitors under contention, which the JDK hands over by itself.
@Timeout(120)
class ParallelInsideTest {
  private static void inParallel(int procs, int n, Crew.Work work) throws Exception {
    Crew.onGloom(
        procs,
        0,
        1,
        crew -> {
          crew.each(n, work);
          return null;
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void parallelStreams(int procs) throws Exception {
    inParallel(
        procs,
        8,
        me -> {
          for (int round = 0; round < 10; round++) {
            assertEquals(
                5_000L * 9_999, LongStream.range(0, 10_000).parallel().sum(), "sum of " + me);
            Map<Integer, Long> groups =
                IntStream.range(0, 5_000)
                    .boxed()
                    .parallel()
                    .collect(Collectors.groupingByConcurrent(i -> i % 5, Collectors.counting()));
            assertEquals(Map.of(0, 1000L, 1, 1000L, 2, 1000L, 3, 1000L, 4, 1000L), groups);
            int[] numbers = IntStream.range(0, 10_000).map(i -> 9_999 - i).toArray();
            Arrays.parallelSort(numbers);
            assertEquals(0, numbers[0]);
            assertEquals(9_999, numbers[9_999]);
          }
        });
  }

  /// A stage of a stream that waits for a goroutine of the scheduler that waits for the stream.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void parallelStreamsThatUseGoroutines(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      lab.run(
          () -> {
            var ran = new AtomicInteger();
            int sum =
                IntStream.range(0, 100)
                    .parallel()
                    .map(
                        i -> {
                          var future = new CompletableFuture<Integer>();
                          lab.go(
                              () -> {
                                Gloom.gosched();
                                ran.incrementAndGet();
                                future.complete(i);
                              });
                          return future.join();
                        })
                    .sum();
            assertEquals(4_950, sum);
            assertEquals(100, ran.get());
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void completableFuturesOfTheCommonPool(int procs) throws Exception {
    inParallel(
        procs,
        8,
        me -> {
          CompletableFuture<Integer> all = CompletableFuture.completedFuture(0);
          for (int i = 0; i < 100; i++) {
            int n = i;
            all = all.thenCombine(CompletableFuture.supplyAsync(() -> n), Integer::sum);
          }
          int sum = me % 2 == 0 ? all.get(60, TimeUnit.SECONDS) : all.join();
          assertEquals(4_950, sum);
          assertEquals(
              "late",
              new CompletableFuture<String>()
                  .completeOnTimeout("late", 1, TimeUnit.MILLISECONDS)
                  .get());
          assertEquals(7, ForkJoinPool.commonPool().submit(() -> 7).get());
        });
  }

  /// Contended monitors, nested, with waits and yields inside: a bank whose total never changes.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void monitorsUnderContention(int procs) {
    Lab.seeded(
        seed -> {
          int accounts = 5;
          var locks = new Object[accounts];
          Arrays.setAll(locks, _ -> new Object());
          var money = new int[accounts];
          Arrays.fill(money, 10);
          inParallel(
              procs,
              16,
              me -> {
                var random = new SplittableRandom(seed + me);
                for (int i = 0; i < 200 * Lab.stress(); i++) {
                  int a = random.nextInt(accounts);
                  int b = random.nextInt(accounts);
                  synchronized (locks[Math.min(a, b)]) {
                    Crew.stir(random);
                    synchronized (locks[Math.max(a, b)]) {
                      if (money[a] > 0) {
                        money[a]--;
                        Crew.stir(random);
                        money[b]++;
                      }
                    }
                  }
                }
              });
          assertEquals(10 * accounts, Arrays.stream(money).sum());
        });
  }

  /// A bounded buffer of one monitor, many on both sides.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void waitAndNotifyUnderContention(int procs) throws Exception {
    int each = 200 * Lab.stress();
    var buffer = new ArrayDeque<Integer>();
    var sum = new AtomicLong();
    inParallel(
        procs,
        16,
        me -> {
          for (int i = 0; i < each; i++) {
            synchronized (buffer) {
              if (me % 2 == 0) {
                while (buffer.size() == 4) {
                  buffer.wait();
                }
                buffer.add(i);
              } else {
                while (buffer.isEmpty()) {
                  buffer.wait();
                }
                sum.addAndGet(buffer.remove());
              }
              buffer.notifyAll();
            }
          }
        });
    assertEquals(8L * each * (each - 1) / 2, sum.get());
    assertTrue(buffer.isEmpty());
  }
}
