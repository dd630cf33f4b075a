package dev.gloom.java;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicMarkableReference;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.atomic.AtomicStampedReference;
import java.util.concurrent.atomic.DoubleAccumulator;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/// Maps, sets, lists and atomics: they block nobody for long, but goroutines that yield in the
/// middle of a computation, and move to another thread there, must not confuse them.
final class CollectionCases {
  private static final int WORKERS = 8;
  private static final int ROUNDS = 500;
  private static final int KEYS = 13;

  private CollectionCases() {}

  static List<ConcurrentCase> cases() {
    return List.of(
        new ConcurrentCase(
            ConcurrentHashMap.class,
            "counts, and makes each value once",
            CollectionCases::counted,
            crew -> counts(crew, new ConcurrentHashMap<>())),
        new ConcurrentCase(
            ConcurrentHashMap.class,
            "bulk operations in parallel, from inside",
            n -> 499_500L,
            crew -> {
              var map = new ConcurrentHashMap<Integer, Integer>();
              crew.each(
                  WORKERS,
                  me -> {
                    for (int i = me; i < 1_000; i += WORKERS) {
                      map.put(i, i);
                    }
                  });
              return map.reduceValuesToLong(1, Integer::longValue, 0, Long::sum);
            }),
        new ConcurrentCase(
            ConcurrentSkipListMap.class,
            "counts, in order",
            CollectionCases::counted,
            crew -> counts(crew, new ConcurrentSkipListMap<>())),
        new ConcurrentCase(
            ConcurrentSkipListSet.class,
            "first come, first taken, each once",
            n -> ROUNDS * n,
            CollectionCases::sets),
        new ConcurrentCase(
            CopyOnWriteArrayList.class,
            "everything added, iterators stand still",
            n -> WORKERS * 50 * n,
            crew -> copies(crew, new CopyOnWriteArrayList<>())),
        new ConcurrentCase(
            CopyOnWriteArraySet.class,
            "everything added, iterators stand still",
            n -> WORKERS * 50 * n,
            crew -> copies(crew, new CopyOnWriteArraySet<>())),
        new ConcurrentCase(
            ThreadLocalRandom.class,
            "in range, on whichever thread the goroutine is",
            n -> 0,
            CollectionCases::randoms),
        counter(AtomicInteger.class, AtomicInteger::new, AtomicInteger::incrementAndGet),
        counter(AtomicLong.class, AtomicLong::new, AtomicLong::incrementAndGet),
        counter(
            AtomicReference.class,
            () -> new AtomicReference<>(0),
            a -> a.updateAndGet(v -> v + 1),
            AtomicReference::get),
        counter(
            AtomicIntegerArray.class,
            () -> new AtomicIntegerArray(3),
            a -> a.incrementAndGet(1),
            a -> a.get(1)),
        counter(
            AtomicLongArray.class,
            () -> new AtomicLongArray(3),
            a -> a.incrementAndGet(1),
            a -> a.get(1)),
        counter(
            AtomicReferenceArray.class,
            () -> new AtomicReferenceArray<>(new Integer[] {0}),
            a -> a.updateAndGet(0, v -> v + 1),
            a -> a.get(0)),
        counter(
            AtomicBoolean.class,
            Guarded::new,
            g -> {
              while (!g.busy.compareAndSet(false, true)) {
                Crew.idle();
              }
              g.plain++;
              g.busy.set(false);
            },
            g -> g.plain),
        counter(
            AtomicStampedReference.class,
            () -> new AtomicStampedReference<>(0, 0),
            a -> {
              var stamp = new int[1];
              Integer value;
              do {
                value = a.get(stamp);
              } while (!a.compareAndSet(value, value + 1, stamp[0], stamp[0] + 1));
            },
            AtomicStampedReference::getStamp),
        counter(
            AtomicMarkableReference.class,
            () -> new AtomicMarkableReference<>(0, false),
            a -> {
              var mark = new boolean[1];
              Integer value;
              do {
                value = a.get(mark);
              } while (!a.compareAndSet(value, value + 1, mark[0], !mark[0]));
            },
            AtomicMarkableReference::getReference),
        counter(
            AtomicIntegerFieldUpdater.class,
            Fields::new,
            f -> Fields.INT.incrementAndGet(f),
            f -> f.number),
        counter(
            AtomicLongFieldUpdater.class,
            Fields::new,
            f -> Fields.LONG.incrementAndGet(f),
            f -> f.large),
        counter(
            AtomicReferenceFieldUpdater.class,
            Fields::new,
            f -> Fields.REFERENCE.updateAndGet(f, v -> v + 1),
            f -> f.boxed),
        counter(LongAdder.class, LongAdder::new, LongAdder::increment),
        counter(DoubleAdder.class, DoubleAdder::new, a -> a.add(1)),
        counter(
            LongAccumulator.class, () -> new LongAccumulator(Long::sum, 0), a -> a.accumulate(1)),
        counter(
            DoubleAccumulator.class,
            () -> new DoubleAccumulator(Double::sum, 0),
            a -> a.accumulate(1)));
  }

  private static Map<Integer, Integer> counted(int scale) {
    var expected = new TreeMap<Integer, Integer>();
    for (int me = 0; me < WORKERS; me++) {
      for (int i = 0; i < ROUNDS * scale; i++) {
        expected.merge((me + i) % KEYS, 1, Integer::sum);
      }
    }
    expected.put(-1, KEYS); // values made
    return expected;
  }

  private static Map<Integer, Integer> counts(Crew crew, ConcurrentMap<Integer, Integer> map)
      throws Exception {
    var made = new AtomicInteger();
    crew.each(
        WORKERS,
        me -> {
          var random = crew.random(me);
          for (int i = 0; i < crew.times(ROUNDS); i++) {
            int key = (me + i) % KEYS;
            Integer before = map.putIfAbsent(key, 0);
            if (before == null) {
              made.incrementAndGet();
            }
            Crew.stir(random);
            if (random.nextBoolean()) {
              map.merge(key, 1, Integer::sum);
            } else {
              map.compute(key, (_, v) -> v == null ? 1 : v + 1);
            }
          }
        });
    var result = new TreeMap<Integer, Integer>(map);
    result.put(-1, made.get());
    return result;
  }

  private static int sets(Crew crew) throws Exception {
    var set = new ConcurrentSkipListSet<Integer>();
    var taken = new AtomicInteger();
    int each = crew.times(ROUNDS);
    var all = new TreeSet<Integer>();
    for (int i = 0; i < each; i++) {
      all.add(i);
    }
    crew.each(
        WORKERS,
        me -> {
          var random = crew.random(me);
          if (me % 2 == 0) {
            for (int i = me / 2; i < each; i += WORKERS / 2) {
              set.add(i);
              Crew.stir(random);
            }
          } else {
            while (taken.get() < each) {
              if (set.pollFirst() != null) {
                taken.incrementAndGet();
              } else {
                Crew.idle();
              }
            }
          }
        });
    return set.isEmpty() ? taken.get() : -set.size();
  }

  private static int copies(Crew crew, Collection<Integer> copies) throws Exception {
    int each = crew.times(50);
    crew.each(
        WORKERS,
        me -> {
          var random = crew.random(me);
          for (int i = 0; i < each; i++) {
            copies.add(me * each + i);
            int before = copies.size();
            int walked = 0;
            for (Integer _ : copies) {
              walked++;
              if (walked == 5) {
                Crew.stir(random);
              }
            }
            if (walked < before) {
              throw new AssertionError(walked + " of at least " + before);
            }
          }
        });
    return copies.size();
  }

  private static int randoms(Crew crew) throws Exception {
    var wrong = new AtomicInteger();
    crew.each(
        WORKERS,
        me -> {
          var random = crew.random(me);
          for (int i = 0; i < crew.times(ROUNDS); i++) {
            int n = ThreadLocalRandom.current().nextInt(3, 17);
            if (n < 3 || n >= 17) {
              wrong.incrementAndGet();
            }
            Crew.stir(random);
          }
        });
    return wrong.get();
  }

  private static final class Guarded {
    final AtomicBoolean busy = new AtomicBoolean();
    int plain;
  }

  private static final class Fields {
    static final AtomicIntegerFieldUpdater<Fields> INT =
        AtomicIntegerFieldUpdater.newUpdater(Fields.class, "number");
    static final AtomicLongFieldUpdater<Fields> LONG =
        AtomicLongFieldUpdater.newUpdater(Fields.class, "large");
    static final AtomicReferenceFieldUpdater<Fields, Integer> REFERENCE =
        AtomicReferenceFieldUpdater.newUpdater(Fields.class, Integer.class, "boxed");

    volatile int number;
    volatile long large;
    volatile Integer boxed = 0;
  }

  private interface Make<T> {
    T make();
  }

  private interface Step<T> {
    void on(T counter);
  }

  private interface Read<T> {
    Number from(T counter);
  }

  private static <T extends Number> ConcurrentCase counter(
      Class<T> type, Make<T> make, Step<T> step) {
    return counter(type, make, step, c -> c);
  }

  private static <T> ConcurrentCase counter(
      Class<?> type, Make<T> make, Step<T> step, Read<T> read) {
    return new ConcurrentCase(
        type,
        "counts",
        n -> (long) WORKERS * ROUNDS * n,
        crew -> {
          T counter = make.make();
          crew.each(
              WORKERS,
              me -> {
                var random = crew.random(me);
                for (int i = 0; i < crew.times(ROUNDS); i++) {
                  step.on(counter);
                  Crew.stir(random);
                }
              });
          return read.from(counter).longValue();
        });
  }
}
