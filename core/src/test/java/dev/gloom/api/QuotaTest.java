package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import dev.gloom.runtime.FakeRoot;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The container's CPU quota sets maxProcs and is followed, until somebody says a number. The
/// container is a directory; {@link CgroupTest} has a real one. Spec 12.8.
@Tag("waits")
@Timeout(120)
class QuotaTest {
  private static final int CPUS = 8;

  /// Quotas up and down, each another number.
  private static final List<Change> CHANGES =
      List.of(
          new Change("500000 100000", 5),
          new Change("50000 100000", 2),
          new Change("max 100000", CPUS),
          new Change("320000 100000", 4),
          new Change("600000 100000", 6));

  private record Change(String quota, int procs) {}

  @TempDir Path directory;
  private FakeRoot root;

  @BeforeEach
  void container() {
    root = FakeRoot.container(directory, CPUS).quota("300000 100000");
  }

  /// A scheduler that is built in that container, with these settings.
  private Scheduler inContainer(String... settings) {
    System.setProperty("gloom.cgroup", directory.toString());
    for (int i = 0; i < settings.length; i += 2) {
      System.setProperty(settings[i], settings[i + 1]);
    }
    try {
      return Scheduler.builder().build();
    } finally {
      System.clearProperty("gloom.cgroup");
      for (int i = 0; i < settings.length; i += 2) {
        System.clearProperty(settings[i]);
      }
    }
  }

  private static void hasRun(Scheduler scheduler) throws Exception {
    scheduler.run(() -> {}); // only then does it have threads, sysmon among them
  }

  @Test
  void quotaSetsMaxProcs() throws Exception {
    try (var scheduler = inContainer()) {
      assertEquals(3, scheduler.maxProcs());
      hasRun(scheduler);
      Lab.quiet(scheduler);
    }
  }

  @Test
  void changeIsFollowedWhileNothingRuns() throws Exception {
    try (var scheduler = inContainer()) {
      hasRun(scheduler);
      Lab.quiet(scheduler);
      changesAreFollowed(
          scheduler,
          () ->
              Lab.await(
                  "idle", () -> scheduler.stats().idleProcs() == scheduler.stats().maxProcs()));
      hasRun(scheduler);
      Lab.quiet(scheduler);
    }
  }

  /// Pairs that wake each other, some that yield and some that start others: none of them is lost.
  @Test
  void changeIsFollowedUnderLoad() throws Exception {
    try (var scheduler = inContainer()) {
      var stop = new AtomicBoolean();
      var done = new AtomicLong();
      var expected = new AtomicLong();
      List<Goroutine> all = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        all.add(scheduler.go(() -> yields(stop, done, expected)));
        all.add(scheduler.go(() -> starts(scheduler, stop, done, expected)));
        var to = new Semaphore(1);
        var fro = new Semaphore(0);
        all.add(scheduler.go(() -> passes(to, fro, stop, done, expected)));
        all.add(scheduler.go(() -> passes(fro, to, stop, done, expected)));
      }
      changesAreFollowed(
          scheduler,
          () -> {
            long before = done.get();
            Lab.await("they go on", () -> done.get() > before + 1_000);
          });
      stop.set(true);
      for (Goroutine g : all) {
        g.join();
      }
      Lab.quiet(scheduler);
      assertEquals(expected.get(), done.get());
    }
  }

  private static void yields(AtomicBoolean stop, AtomicLong done, AtomicLong expected) {
    while (!stop.get()) {
      expected.incrementAndGet();
      Lab.spin(10_000);
      Gloom.gosched();
      done.incrementAndGet();
    }
  }

  private static void starts(
      Scheduler scheduler, AtomicBoolean stop, AtomicLong done, AtomicLong expected)
      throws InterruptedException {
    while (!stop.get()) {
      expected.addAndGet(2);
      var first = scheduler.go(done::incrementAndGet);
      scheduler.go(done::incrementAndGet).join();
      first.join();
    }
  }

  private static void passes(
      Semaphore mine, Semaphore other, AtomicBoolean stop, AtomicLong done, AtomicLong expected)
      throws InterruptedException {
    while (!stop.get()) {
      mine.acquire();
      expected.incrementAndGet();
      done.incrementAndGet();
      other.release();
    }
    other.release(); // the partner may wait
  }

  /// Each change arrives. Two seconds are promised; a machine that is busy with other things may
  /// take longer now and then, but not most of the time.
  private void changesAreFollowed(Scheduler scheduler, Runnable between) {
    int quickly = 0;
    for (Change change : CHANGES) {
      between.run();
      long start = System.nanoTime();
      root.quota(change.quota);
      Lab.await(
          "maxProcs of " + change + ", was " + scheduler.maxProcs(),
          () -> scheduler.maxProcs() == change.procs);
      if (System.nanoTime() - start < 2_000_000_000L) {
        quickly++;
      }
      Lab.noRescues(scheduler);
    }
    assertTrue(quickly > CHANGES.size() / 2, quickly + " within two seconds");
  }

  // Whoever says a number keeps it. A second scheduler in the same container shows that the change
  // could be seen; three times, so that the other has had at least a second for the first two.

  private void follows(Scheduler witness) {
    for (Change change : CHANGES.subList(0, 3)) {
      root.quota(change.quota);
      Lab.await("the witness follows", () -> witness.maxProcs() == change.procs);
    }
  }

  private void keeps(int expected, Scheduler scheduler) throws Exception {
    try (var witness = inContainer()) {
      hasRun(witness);
      hasRun(scheduler);
      assertEquals(expected, scheduler.maxProcs());
      follows(witness);
      assertEquals(expected, scheduler.maxProcs());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 7})
  void numberThatWasSetStays(int n) throws Exception {
    try (var scheduler = inContainer()) {
      assertEquals(3, scheduler.maxProcs(n)); // also if it is the old one
      keeps(n, scheduler);
    }
  }

  @Test
  void numberOfTheBuilderStays() throws Exception {
    System.setProperty("gloom.cgroup", directory.toString());
    try (var scheduler = Scheduler.builder().maxProcs(3).build()) {
      keeps(3, scheduler);
    } finally {
      System.clearProperty("gloom.cgroup");
    }
  }

  @Test
  void numberOfTheSettingStays() throws Exception {
    try (var scheduler = inContainer("gloom.maxprocs", "7")) {
      keeps(7, scheduler);
    }
  }

  @Test
  void readingSetsNothing() throws Exception {
    try (var scheduler = inContainer()) {
      assertEquals(3, scheduler.maxProcs(0));
      assertEquals(3, scheduler.maxProcs(-1));
      hasRun(scheduler);
      follows(scheduler);
    }
  }

  @Test
  void updatesCanBeSwitchedOff() throws Exception {
    try (var scheduler = inContainer("gloom.debug", "updatemaxprocs=0")) {
      keeps(3, scheduler);
      int now = scheduler.defaultMaxProcs(); // when told to, it looks once
      assertEquals(now, scheduler.maxProcs());
      root.quota("700000 100000");
      assertEquals(7, scheduler.defaultMaxProcs());
      keeps(7, scheduler);
    }
  }

  @Test
  void quotaCanBeSwitchedOff() throws Exception {
    try (var scheduler = inContainer("gloom.debug", "containermaxprocs=0")) {
      keeps(CPUS, scheduler);
      root.cpus("0-4", "0-7"); // the mask is followed all the same, as in Go
      Lab.await("five CPUs", () -> scheduler.maxProcs() == 5);
    }
  }

  @Test
  void defaultComesBackAtOnceAndIsFollowedAgain() throws Exception {
    try (var scheduler = inContainer("gloom.maxprocs", "7")) {
      hasRun(scheduler);
      assertEquals(3, scheduler.defaultMaxProcs());
      assertEquals(3, scheduler.maxProcs());
      follows(scheduler);
      scheduler.maxProcs(1);
      root.quota("700000 100000");
      scheduler.run(() -> assertEquals(7, Gloom.defaultMaxProcs(), "inside a goroutine"));
      follows(scheduler);
      Lab.quiet(scheduler);
    }
  }
}
