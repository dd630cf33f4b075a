package dev.gloom.soak;

import static dev.gloom.Gloom.after;
import static dev.gloom.Gloom.otherwise;
import static dev.gloom.Gloom.recv;
import static dev.gloom.Gloom.select;
import static dev.gloom.Gloom.send;

import dev.gloom.Case;
import dev.gloom.Chan;
import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import dev.gloom.TryRecv;
import dev.gloom.api.Lab;
import dev.gloom.runtime.Apart;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/// A random graph of channels, round after round: senders and receivers with random sets of them,
/// which use every operation there is, plain, non-blocking, in selects with time-outs, and are
/// interrupted at random. Checks that every value that was sent is received once, and that what one
/// sender put into one channel comes out in that order, to each receiver.
///
/// By hand: `java … dev.gloom.soak.ChannelSoak SECONDS SEED PROCS [apart]`.
public final class ChannelSoak {
  private final Scheduler scheduler;
  private final SplittableRandom random;
  private final List<Chan<Item>> channels = new ArrayList<>();
  private final AtomicReference<String> broken = new AtomicReference<>();
  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong received = new AtomicLong();
  private final AtomicLong interrupts = new AtomicLong();
  private final AtomicInteger sending = new AtomicInteger();
  private final ConcurrentHashMap<Item, Item> open = new ConcurrentHashMap<>();

  /// The n-th value of a sender in a channel.
  private record Item(int sender, int channel, int number) {}

  private ChannelSoak(Scheduler scheduler, long seed) {
    this.scheduler = scheduler;
    this.random = new SplittableRandom(seed);
  }

  public static void main(String[] args) throws Exception {
    long nanos = Long.parseLong(args[0]) * 1_000_000_000;
    boolean apart = args.length > 3 && args[3].equals("apart");
    System.out.println(run(nanos, Long.parseLong(args[1]), Integer.parseInt(args[2]), apart));
  }

  /// Plays rounds for so long, if `apart` with goroutines that meet where they can, and answers
  /// what they did; throws if anything was wrong.
  static String run(long nanos, long seed, int procs, boolean apart) throws Exception {
    long until = System.nanoTime() + nanos;
    var seeds = new SplittableRandom(seed);
    long rounds = 0;
    long values = 0;
    long interrupts = 0;
    try (var scheduler = Scheduler.builder().maxProcs(procs).build();
        var _ = apart ? new Apart(scheduler) : null) {
      do {
        var soak = new ChannelSoak(scheduler, seeds.nextLong());
        soak.round();
        rounds++;
        values += soak.received.get();
        interrupts += soak.interrupts.get();
      } while (System.nanoTime() - until < 0);
      Lab.quiet(scheduler);
      if (apart && scheduler.stats().meetings() == 0) {
        throw new AssertionError("nobody ever met: " + scheduler.stats());
      }
      return "channels on %d Ps, seed %d: %,d rounds, %,d values, %,d interrupts; %s"
          .formatted(procs, seed, rounds, values, interrupts, scheduler.stats());
    }
  }

  private void round() throws Exception {
    int n = 1 + random.nextInt(8);
    for (int i = 0; i < n; i++) {
      channels.add(Chan.make(random.nextBoolean() ? 0 : random.nextInt(5)));
    }
    int senders = 1 + random.nextInt(8);
    int each = 1 + random.nextInt(400);
    var all = new ArrayList<Goroutine>();
    sending.set(senders);
    for (int s = 0; s < senders; s++) {
      int me = s;
      var own = random.split();
      all.add(scheduler.go(() -> guard(() -> sender(me, each, own))));
    }
    int receivers = n + random.nextInt(4); // each channel has at least one
    for (int r = 0; r < receivers; r++) {
      int first = r % n;
      var own = random.split();
      all.add(scheduler.go(() -> guard(() -> receiver(first, own))));
    }
    interrupt(all);
    for (Goroutine g : all) {
      if (!g.join(Duration.ofSeconds(60))) {
        throw new AssertionError(
            "stuck: " + g + ", sent " + sent + ", received " + received + ", " + broken.get());
      }
    }
    if (broken.get() != null || sent.get() != received.get() || !open.isEmpty()) {
      throw new AssertionError(
          broken.get() + ", sent " + sent + ", received " + received + ", never came: " + open);
    }
  }

  /// A few of them now and then, while there is somebody to interrupt.
  private void interrupt(List<Goroutine> all) throws InterruptedException {
    int times = random.nextInt(20);
    for (int i = 0; i < times && sending.get() > 0; i++) {
      all.get(random.nextInt(all.size())).thread().interrupt();
      Thread.sleep(0, 100_000);
    }
  }

  private interface Part {
    void play() throws Exception;
  }

  private void guard(Part part) {
    try {
      part.play();
    } catch (Throwable e) {
      broken.compareAndSet(null, "failed: " + e);
    }
  }

  private void sender(int me, int each, SplittableRandom own) throws Exception {
    var numbers = new int[channels.size()];
    for (int i = 0; i < each; ) {
      int c = own.nextInt(channels.size());
      int d = own.nextInt(channels.size());
      // Noted first, and taken back if it was not sent.
      var item = note(new Item(me, c, numbers[c]));
      var other = c == d ? item : note(new Item(me, d, numbers[d]));
      Item went = null;
      try {
        went = send(item, other, own);
      } catch (InterruptedException e) {
        interrupts.incrementAndGet();
      }
      for (Item one : List.of(item, other)) {
        if (one != went) {
          open.remove(one);
        }
        if (c == d) {
          break;
        }
      }
      if (went != null) {
        numbers[went.channel]++;
        sent.incrementAndGet();
        i++;
      }
      if (own.nextInt(16) == 0) {
        Gloom.gosched();
      }
    }
    if (sending.decrementAndGet() == 0) {
      channels.forEach(Chan::close);
    }
  }

  private Item note(Item item) {
    open.put(item, item);
    return item;
  }

  /// One of the two, or null if neither was sent.
  private Item send(Item item, Item other, SplittableRandom own) throws Exception {
    Chan<Item> ch = channels.get(item.channel);
    switch (own.nextInt(5)) {
      case 0 -> {
        ch.send(item);
        return item;
      }
      case 1 -> {
        return ch.trySend(item) ? item : null;
      }
      case 2 -> {
        return select(
            Gloom.send(ch, item, () -> item),
            Gloom.send(channels.get(other.channel), other, () -> other));
      }
      case 3 -> {
        return select(
            Gloom.send(ch, item, () -> item),
            after(Duration.ofNanos(own.nextInt(200_000)), () -> null));
      }
      default -> {
        return select(
            Gloom.send(channels.get(other.channel), other, () -> other),
            Gloom.send(ch, item, () -> item),
            otherwise(() -> null));
      }
    }
  }

  /// Receives from one channel until that is closed, and from others as it pleases.
  private void receiver(int mine, SplittableRandom own) throws Exception {
    var last = new ConcurrentHashMap<Long, Integer>();
    Chan<Item> ch = channels.get(mine);
    boolean ended = false;
    while (!ended) {
      try {
        ended = receive(ch, last, own);
      } catch (InterruptedException e) {
        interrupts.incrementAndGet();
      }
    }
  }

  private boolean receive(
      Chan<Item> ch, ConcurrentHashMap<Long, Integer> last, SplittableRandom own) throws Exception {
    Chan<Item> other = channels.get(own.nextInt(channels.size()));
    switch (own.nextInt(4)) {
      case 0 -> {
        return take(ch.recv(), last);
      }
      case 1 -> {
        return switch (ch.tryRecv()) {
          case TryRecv.Value<Item>(Item item) -> take(item, last);
          case TryRecv.Empty<Item>() -> {
            Gloom.gosched();
            yield false;
          }
          case TryRecv.Closed<Item>() -> true;
        };
      }
      case 2 -> {
        Case<Boolean> here = recv(ch, item -> take(item, last));
        Case<Boolean> there = recv(other, item -> take(item, last) && other == ch);
        return own.nextBoolean() ? select(here, there) : select(there, here);
      }
      default -> {
        return select(
            recv(ch, item -> take(item, last)),
            after(Duration.ofNanos(own.nextInt(200_000)), () -> false));
      }
    }
  }

  /// Notes what came; true if it was the end.
  private boolean take(Item item, ConcurrentHashMap<Long, Integer> last) {
    if (item == null) {
      return true;
    }
    received.incrementAndGet();
    if (open.remove(item) == null) {
      broken.compareAndSet(null, item + " came twice, or was never sent");
    }
    Integer before = last.put(item.sender * 1_000L + item.channel, item.number);
    if (before != null && before >= item.number) {
      broken.compareAndSet(null, item + " came after number " + before);
    }
    return false;
  }
}
