package dev.gloom.java;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CountedCompleter;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/// Executors and futures. The workers are threads of the crew, where an executor takes a factory;
/// pools that insist on threads of their own are used from threads of the crew.
final class ExecutorCases {
  private static final int WORKERS = 4;
  private static final int TASKS = 200;

  private ExecutorCases() {}

  static List<ConcurrentCase> cases() {
    return List.of(
        new ConcurrentCase(
            ThreadPoolExecutor.class,
            "fixed, more tasks than workers",
            n -> sumTo(TASKS * n),
            crew -> sums(crew, Executors.newFixedThreadPool(WORKERS, crew.factory()))),
        new ConcurrentCase(
            ThreadPoolExecutor.class,
            "cached, workers come and go",
            n -> sumTo(TASKS * n),
            crew -> sums(crew, Executors.newCachedThreadPool(crew.factory()))),
        new ConcurrentCase(
            ThreadPoolExecutor.class,
            "full, the caller runs it or is refused",
            n -> "ran " + TASKS * n + ", refused after the end 1",
            ExecutorCases::fullPool),
        new ConcurrentCase(
            ThreadPoolExecutor.class,
            "shutdownNow interrupts those who run and hands back who waits",
            n -> "interrupted " + WORKERS + ", handed back 10",
            ExecutorCases::stopped),
        new ConcurrentCase(
            ScheduledThreadPoolExecutor.class,
            "never early, in a period, cancelled",
            n -> "ran " + 20 * n + ", early 0, periodic true, after its cancel 0",
            ExecutorCases::scheduled),
        new ConcurrentCase(
            Executors.class,
            "newThreadPerTaskExecutor",
            n -> sumTo(TASKS * n),
            crew -> sums(crew, Executors.newThreadPerTaskExecutor(crew.factory()))),
        new ConcurrentCase(
            Executors.class,
            "newSingleThreadExecutor keeps the order",
            n -> "in order",
            ExecutorCases::oneByOne),
        new ConcurrentCase(
            AbstractExecutorService.class,
            "invokeAll and invokeAny, with and without a time limit",
            n -> "sum " + sumTo(50) + ", any 7, failed all, timed out, cancelled 2",
            ExecutorCases::invokes),
        new ConcurrentCase(
            ExecutorCompletionService.class,
            "everything comes back once",
            n -> sumTo(TASKS * n),
            ExecutorCases::completions),
        new ConcurrentCase(
            FutureTask.class,
            "runs once, all see the result",
            n -> "runs " + 50 * n + ", right " + 50 * n * 8,
            ExecutorCases::futures),
        new ConcurrentCase(
            CompletableFuture.class, "a tree of stages", n -> sumTo(64) * n, ExecutorCases::stages),
        new ConcurrentCase(
            CompletableFuture.class,
            "failures, time-outs and handlers",
            n -> "handled boom, timed out, default 5, any 1, cancelled",
            ExecutorCases::failures),
        new ConcurrentCase(
            SubmissionPublisher.class,
            "every subscriber gets everything in order",
            n -> "items " + 3 * TASKS * n + ", out of order 0, completed 3",
            ExecutorCases::published),
        new ConcurrentCase(
            Flow.class,
            "back-pressure: nobody gets more than asked for",
            n -> "items " + TASKS * n + ", unasked 0",
            ExecutorCases::backPressure),
        new ConcurrentCase(
            ForkJoinPool.class,
            "invoked from inside",
            n -> 4L * sumTo(1_000),
            ExecutorCases::forkJoin),
        new ConcurrentCase(
            RecursiveTask.class,
            "in the common pool, joined from inside",
            n -> 4L * 610,
            crew -> each(crew, () -> new Fibonacci(15).invoke())),
        new ConcurrentCase(
            RecursiveAction.class,
            "in the common pool, joined from inside",
            n -> 4L * sumTo(1_000),
            crew ->
                each(
                    crew,
                    () -> {
                      var squares = new long[1_000];
                      ForkJoinPool.commonPool().invoke(new Fill(squares, 0, squares.length));
                      long sum = 0;
                      for (long v : squares) {
                        sum += v;
                      }
                      return sum;
                    })),
        new ConcurrentCase(
            CountedCompleter.class,
            "in the common pool, joined from inside",
            n -> 4L * sumTo(1_000),
            crew -> each(crew, () -> new Count(null, 0, 1_000).invoke())),
        new ConcurrentCase(
            ForkJoinTask.class,
            "adapted, joined and got from inside",
            n -> 4L * sumTo(100),
            crew ->
                each(
                    crew,
                    () -> {
                      List<ForkJoinTask<Integer>> tasks = new ArrayList<>();
                      for (int i = 0; i < 100; i++) {
                        int v = i;
                        Callable<Integer> call = () -> v;
                        tasks.add(ForkJoinPool.commonPool().submit(ForkJoinTask.adapt(call)));
                      }
                      long sum = 0;
                      for (int i = 0; i < 100; i++) {
                        sum += i % 2 == 0 ? tasks.get(i).join() : tasks.get(i).get(1, HOURS);
                      }
                      return sum;
                    })));
  }

  private static long sumTo(long n) {
    return n * (n - 1) / 2;
  }

  private static long each(Crew crew, Callable<? extends Number> call) throws Exception {
    var sum = new AtomicLong();
    crew.each(4, _ -> sum.addAndGet(call.call().longValue()));
    return sum.get();
  }

  private static long sums(Crew crew, ExecutorService executor) throws Exception {
    long sum = 0;
    try (executor) {
      var results = new ArrayList<Future<Integer>>();
      for (int i = 0; i < crew.times(TASKS); i++) {
        int n = i;
        results.add(
            executor.submit(
                () -> {
                  Crew.stir(crew.random(n));
                  return n;
                }));
      }
      for (Future<Integer> result : results) {
        sum += result.get();
      }
    }
    return executor.isTerminated() ? sum : -1;
  }

  private static String fullPool(Crew crew) throws Exception {
    var ran = new AtomicInteger();
    var pool =
        new ThreadPoolExecutor(
            1,
            WORKERS,
            100,
            MILLISECONDS,
            new ArrayBlockingQueue<>(2),
            crew.factory(),
            new ThreadPoolExecutor.CallerRunsPolicy());
    for (int i = 0; i < crew.times(TASKS); i++) {
      int n = i;
      pool.execute(
          () -> {
            Crew.stir(crew.random(n));
            ran.incrementAndGet();
          });
    }
    pool.shutdown();
    if (!pool.awaitTermination(30, java.util.concurrent.TimeUnit.SECONDS)) {
      return "does not end: " + pool;
    }
    int refused = 0;
    pool.setRejectedExecutionHandler(new ThreadPoolExecutor.AbortPolicy());
    try {
      pool.execute(() -> {});
    } catch (RejectedExecutionException e) {
      refused++;
    }
    return "ran " + ran + ", refused after the end " + refused;
  }

  private static String stopped(Crew crew) throws Exception {
    var running = new CountDownLatch(WORKERS);
    var interrupted = new AtomicInteger();
    ExecutorService pool = Executors.newFixedThreadPool(WORKERS, crew.factory());
    for (int i = 0; i < WORKERS + 10; i++) {
      pool.execute(
          () -> {
            running.countDown();
            try {
              HOURS.sleep(1);
            } catch (InterruptedException e) {
              interrupted.incrementAndGet();
            }
          });
    }
    running.await();
    int back = pool.shutdownNow().size();
    pool.close();
    return "interrupted " + interrupted + ", handed back " + back;
  }

  private static String scheduled(Crew crew) throws Exception {
    var ran = new AtomicInteger();
    var early = new AtomicInteger();
    var late = new AtomicInteger();
    boolean periodic;
    try (var pool = new ScheduledThreadPoolExecutor(WORKERS, crew.factory())) {
      var random = crew.random(0);
      for (int i = 0; i < crew.times(20); i++) {
        long delay = random.nextLong(10_000_000);
        long due = System.nanoTime() + delay;
        ScheduledFuture<?> _ =
            pool.schedule(
                () -> {
                  if (System.nanoTime() - due < 0) {
                    early.incrementAndGet();
                  }
                  ran.incrementAndGet();
                },
                delay,
                java.util.concurrent.TimeUnit.NANOSECONDS);
      }
      var ticks = new CountDownLatch(10);
      ScheduledFuture<?> ticker = pool.scheduleAtFixedRate(ticks::countDown, 1, 1, MILLISECONDS);
      ScheduledFuture<?> never = pool.schedule(() -> late.incrementAndGet(), 1, HOURS);
      periodic = ticks.await(30, java.util.concurrent.TimeUnit.SECONDS);
      periodic &= ticker.cancel(false) && ticker.isCancelled();
      if (!never.cancel(false)) {
        late.incrementAndGet();
      }
    } // waits for the tasks that are due later
    return "ran %d, early %d, periodic %s, after its cancel %d"
        .formatted(ran.get(), early.get(), periodic, late.get());
  }

  private static String oneByOne(Crew crew) throws Exception {
    var next = new int[1];
    var wrong = new AtomicInteger();
    try (ExecutorService one = Executors.newSingleThreadExecutor(crew.factory())) {
      for (int i = 0; i < crew.times(TASKS); i++) {
        int n = i;
        one.execute(
            () -> {
              if (next[0]++ != n) {
                wrong.incrementAndGet();
              }
              Crew.stir(crew.random(n));
            });
      }
    }
    return wrong.get() == 0 && next[0] == crew.times(TASKS) ? "in order" : "wrong " + wrong;
  }

  private static String invokes(Crew crew) throws Exception {
    try (ExecutorService executor = Executors.newThreadPerTaskExecutor(crew.factory())) {
      var all = new ArrayList<Callable<Integer>>();
      for (int i = 0; i < 50; i++) {
        int n = i;
        all.add(
            () -> {
              Crew.stir(crew.random(n));
              return n;
            });
      }
      long sum = 0;
      for (Future<Integer> result : executor.invokeAll(all)) {
        sum += result.resultNow();
      }
      Callable<Integer> fails =
          () -> {
            throw new IllegalStateException();
          };
      Callable<Integer> sleeps =
          () -> {
            HOURS.sleep(1);
            return -1;
          };
      int any = executor.invokeAny(List.of(fails, sleeps, () -> 7, fails));
      String failed = "no";
      try {
        executor.invokeAny(List.of(fails, fails));
      } catch (ExecutionException e) {
        failed = e.getCause() instanceof IllegalStateException ? "all" : "otherwise";
      }
      String timed = "not timed out";
      try {
        executor.invokeAny(List.of(sleeps, sleeps), 5, MILLISECONDS);
      } catch (TimeoutException e) {
        timed = "timed out";
      }
      long cancelled =
          executor.invokeAll(List.of(sleeps, () -> 1, sleeps), 500, MILLISECONDS).stream()
              .filter(Future::isCancelled)
              .count();
      return "sum %d, any %d, failed %s, %s, cancelled %d"
          .formatted(sum, any, failed, timed, cancelled);
    }
  }

  private static long completions(Crew crew) throws Exception {
    try (ExecutorService executor = Executors.newFixedThreadPool(WORKERS, crew.factory())) {
      var service = new ExecutorCompletionService<Integer>(executor);
      for (int i = 0; i < crew.times(TASKS); i++) {
        int n = i;
        Future<Integer> _ =
            service.submit(
                () -> {
                  Crew.stir(crew.random(n));
                  return n;
                });
      }
      long sum = 0;
      for (int i = 0; i < crew.times(TASKS); i++) {
        Future<Integer> done = null;
        while (done == null) {
          done = i % 2 == 0 ? service.take() : service.poll(1, MILLISECONDS);
        }
        sum += done.resultNow();
      }
      return service.poll() == null ? sum : -1;
    }
  }

  private static String futures(Crew crew) throws Exception {
    int tasks = crew.times(50);
    var runs = new AtomicInteger();
    var right = new AtomicInteger();
    var all = new ArrayList<FutureTask<Integer>>();
    for (int i = 0; i < tasks; i++) {
      int n = i;
      all.add(
          new FutureTask<>(
              () -> {
                runs.incrementAndGet();
                Crew.stir(crew.random(n));
                return n;
              }));
    }
    crew.each(
        8,
        me -> {
          var random = crew.random(me);
          for (int i = 0; i < tasks; i++) {
            if (random.nextInt(3) == 0 || me == 0) {
              all.get(i).run(); // whoever is first
            }
            Integer got = null;
            while (got == null) {
              try {
                got = me % 2 == 0 ? all.get(i).get() : all.get(i).get(100, MILLISECONDS);
              } catch (TimeoutException e) {
                Crew.stir(random);
              }
            }
            if (got == i) {
              right.incrementAndGet();
            }
          }
        });
    return "runs " + runs + ", right " + right;
  }

  private static long stages(Crew crew) throws Exception {
    try (ExecutorService executor = Executors.newThreadPerTaskExecutor(crew.factory())) {
      long sum = 0;
      for (int round = 0; round < crew.times(1); round++) {
        var layer = new ArrayList<CompletableFuture<Long>>();
        for (long i = 0; i < 64; i++) {
          long n = i;
          layer.add(
              CompletableFuture.supplyAsync(() -> n, executor)
                  .thenApplyAsync(
                      v -> {
                        Crew.stir(crew.random((int) n));
                        return v;
                      },
                      executor));
        }
        while (layer.size() > 1) {
          var above = new ArrayList<CompletableFuture<Long>>();
          for (int i = 0; i < layer.size(); i += 2) {
            CompletableFuture<Long> right = layer.get(i + 1);
            above.add(
                i % 4 == 0
                    ? layer.get(i).thenCombineAsync(right, Long::sum, executor)
                    : layer.get(i).thenCompose(a -> right.thenApply(b -> a + b)));
          }
          layer = above;
        }
        CompletableFuture<Long> last = layer.getFirst();
        sum += round % 2 == 0 ? last.get() : last.join();
      }
      return sum;
    }
  }

  private static String failures(Crew crew) throws Exception {
    try (ExecutorService executor = Executors.newThreadPerTaskExecutor(crew.factory())) {
      String handled =
          CompletableFuture.<String>supplyAsync(
                  () -> {
                    throw new IllegalStateException("boom");
                  },
                  executor)
              .thenApply(v -> "not " + v)
              .handleAsync((_, e) -> e.getCause().getMessage(), executor)
              .get();
      String timed = "not timed out";
      try {
        new CompletableFuture<String>().orTimeout(5, MILLISECONDS).join();
      } catch (CompletionException e) {
        timed = e.getCause() instanceof TimeoutException ? "timed out" : "otherwise";
      }
      int byDefault = new CompletableFuture<Integer>().completeOnTimeout(5, 2, MILLISECONDS).get();
      Object any =
          CompletableFuture.anyOf(
                  new CompletableFuture<Integer>(),
                  CompletableFuture.supplyAsync(
                      () -> 1, CompletableFuture.delayedExecutor(1, MILLISECONDS, executor)))
              .get(30, java.util.concurrent.TimeUnit.SECONDS);
      var waits = new CompletableFuture<String>();
      crew.start(() -> waits.cancel(true));
      String cancelled = "not cancelled";
      try {
        waits.get();
      } catch (CancellationException e) {
        cancelled = "cancelled";
      }
      return "handled %s, %s, default %d, any %s, %s"
          .formatted(handled, timed, byDefault, any, cancelled);
    }
  }

  private static final class Subscriber implements Flow.Subscriber<Integer> {
    private final int batch;
    private final CountDownLatch done;
    private final AtomicInteger items;
    private final AtomicInteger wrong;
    private Flow.Subscription subscription;
    private int last = -1;
    private int asked;

    Subscriber(int batch, CountDownLatch done, AtomicInteger items, AtomicInteger wrong) {
      this.batch = batch;
      this.done = done;
      this.items = items;
      this.wrong = wrong;
    }

    @Override
    public void onSubscribe(Flow.Subscription s) {
      subscription = s;
      asked = batch;
      s.request(batch);
    }

    @Override
    public void onNext(Integer item) {
      if (item != last + 1 || asked-- == 0) {
        wrong.incrementAndGet();
      }
      last = item;
      items.incrementAndGet();
      if (asked == 0) {
        asked = batch;
        subscription.request(batch);
      }
    }

    @Override
    public void onError(Throwable e) {
      wrong.incrementAndGet();
      done.countDown();
    }

    @Override
    public void onComplete() {
      done.countDown();
    }
  }

  private static String published(Crew crew) throws Exception {
    var items = new AtomicInteger();
    var wrong = new AtomicInteger();
    var done = new CountDownLatch(3);
    try (ExecutorService executor = Executors.newThreadPerTaskExecutor(crew.factory())) {
      try (var publisher = new SubmissionPublisher<Integer>(executor, 8)) {
        for (int batch : new int[] {1, 3, 1_000}) {
          publisher.subscribe(new Subscriber(batch, done, items, wrong));
        }
        for (int i = 0; i < crew.times(TASKS); i++) {
          publisher.submit(i); // waits while a subscriber's buffer is full
        }
      }
      done.await();
    }
    return "items %d, out of order %d, completed %d"
        .formatted(items.get(), wrong.get(), 3 - done.getCount());
  }

  private static String backPressure(Crew crew) throws Exception {
    var items = new AtomicInteger();
    var wrong = new AtomicInteger();
    var done = new CountDownLatch(1);
    try (ExecutorService executor = Executors.newThreadPerTaskExecutor(crew.factory())) {
      try (var publisher = new SubmissionPublisher<Integer>(executor, 2)) {
        publisher.subscribe(new Subscriber(2, done, items, wrong));
        crew.each(
            1,
            _ -> {
              for (int i = 0; i < crew.times(TASKS); i++) {
                while (publisher.offer(i, 1, MILLISECONDS, null) < 0) {
                  Thread.onSpinWait(); // dropped: again
                }
              }
            });
      }
      done.await();
    }
    return "items " + items + ", unasked " + wrong;
  }

  private static long forkJoin(Crew crew) throws Exception {
    try (var pool = new ForkJoinPool(2)) {
      return each(
          crew,
          () -> {
            var values = new long[1_000];
            pool.invoke(new Fill(values, 0, values.length));
            return pool.submit(() -> java.util.Arrays.stream(values).sum()).get();
          });
    }
  }

  @SuppressWarnings("serial") // nobody writes it out
  private static final class Fibonacci extends RecursiveTask<Integer> {
    private final int n;

    Fibonacci(int n) {
      this.n = n;
    }

    @Override
    protected Integer compute() {
      if (n < 2) {
        return n;
      }
      ForkJoinTask<Integer> one = new Fibonacci(n - 1).fork();
      return new Fibonacci(n - 2).compute() + one.join();
    }
  }

  @SuppressWarnings("serial") // nobody writes it out
  private static final class Fill extends RecursiveAction {
    private final long[] values;
    private final int from;
    private final int to;

    Fill(long[] values, int from, int to) {
      this.values = values;
      this.from = from;
      this.to = to;
    }

    @Override
    protected void compute() {
      if (to - from < 50) {
        for (int i = from; i < to; i++) {
          values[i] = i;
        }
      } else {
        int middle = (from + to) >>> 1;
        invokeAll(new Fill(values, from, middle), new Fill(values, middle, to));
      }
    }
  }

  @SuppressWarnings("serial") // nobody writes it out
  private static final class Count extends CountedCompleter<Long> {
    private final int from;
    private final int to;
    private long sum;
    private Count left;
    private Count right;

    Count(CountedCompleter<?> above, int from, int to) {
      super(above);
      this.from = from;
      this.to = to;
    }

    @Override
    public void compute() {
      if (to - from < 50) {
        for (int i = from; i < to; i++) {
          sum += i;
        }
      } else {
        int middle = (from + to) >>> 1;
        left = new Count(this, from, middle);
        right = new Count(this, middle, to);
        setPendingCount(2);
        left.fork();
        right.fork();
      }
      tryComplete();
    }

    @Override
    public void onCompletion(CountedCompleter<?> caller) {
      if (left != null) {
        sum = left.sum + right.sum;
      }
    }

    @Override
    public Long getRawResult() {
      return sum;
    }
  }
}
