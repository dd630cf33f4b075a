package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The dump, in the shape of Go's: spec 12.2 and item 92.
@Timeout(60)
class DumpTest {
  private static final Pattern HEADER =
      Pattern.compile("^goroutine (\\d+) \\[([^]]+)]:$", Pattern.MULTILINE);

  private static List<Long> ids(String dump) {
    return HEADER.matcher(dump).results().map(r -> Long.parseLong(r.group(1))).toList();
  }

  private static void parkHere(CountDownLatch there) {
    there.countDown();
    LockSupport.park();
  }

  @Test
  void oneGoroutineIsPrintedAsInGo() throws Exception {
    try (var lab = Lab.procs(1)) {
      var waiter = new AtomicReference<Goroutine>();
      lab.run(() -> waiter.set(Gloom.go(() -> parkHere(new CountDownLatch(1)))));
      Lab.awaitWaiting(waiter.get());
      String dump = lab.scheduler().dump();
      String expected =
          """
          goroutine %d [park]:
          java.util.concurrent.locks.LockSupport.park(...)
          	LockSupport.java:N
          dev.gloom.api.DumpTest.parkHere(...)
          	DumpTest.java:N
          dev.gloom.api.DumpTest.lambda(...)
          	DumpTest.java:N
          created by dev.gloom.api.DumpTest.lambda in goroutine 1
          	DumpTest.java:N
          """
              .formatted(waiter.get().id());
      assertEquals(
          expected,
          dump.replaceAll("lambda\\$\\w+\\$\\d+", "lambda").replaceAll(":\\d+(?=\n)", ":N"));
      LockSupport.unpark(waiter.get().thread());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void callerComesFirstThenTheOthersInOrderAndThereAreAsManyAsAreCounted(int procs)
      throws Exception {
    try (var lab = Lab.procs(procs)) {
      var waiters = new ArrayList<Goroutine>();
      var there = new CountDownLatch(20);
      for (int i = 0; i < 20; i++) {
        waiters.add(lab.go(() -> parkHere(there)));
      }
      there.await();
      waiters.forEach(Lab::awaitWaiting);
      lab.run(
          () -> {
            String dump = Gloom.dump();
            List<Long> ids = ids(dump);
            assertEquals(Gloom.numGoroutine(), ids.size());
            var expected = new ArrayList<Long>();
            waiters.forEach(g -> expected.add(g.id()));
            expected.sort(null);
            assertEquals(expected, ids.subList(1, ids.size()));
            assertFalse(expected.contains(ids.getFirst()));
            assertTrue(
                dump.startsWith(
                    "goroutine " + ids.getFirst() + " [running]:\ndev.gloom.api.DumpTest.lambda"),
                dump);
            assertEquals(20, dump.split("\n\ngoroutine ", -1).length - 1, "separated by a blank");
          });
      waiters.forEach(g -> LockSupport.unpark(g.thread()));
    }
  }

  @Test
  void stackOfOneThatRunsElsewhereIsShown() throws Exception {
    try (var lab = Lab.procs(1)) {
      var runs = new AtomicBoolean();
      var stop = new AtomicBoolean();
      Goroutine g = lab.go(() -> compute(runs, stop));
      Lab.await("runs", runs::get);
      String dump = lab.scheduler().dump();
      stop.set(true);
      assertTrue(dump.startsWith("goroutine 1 [running]:\n"), dump);
      assertTrue(dump.contains("dev.gloom.api.DumpTest.compute(...)\n\tDumpTest.java:"), dump);
      g.join();
    }
  }

  private static void compute(AtomicBoolean runs, AtomicBoolean stop) {
    while (!stop.get()) {
      runs.set(true);
    }
  }

  @Test
  void oneThatWaitsForItsTurnIsRunnable() throws Exception {
    try (var lab = Lab.procs(1)) {
      lab.run(
          () -> {
            Goroutine other = Gloom.go(() -> {});
            String dump = Gloom.dump();
            assertTrue(
                dump.contains(
                    "\n\ngoroutine " + other.id() + " [runnable]:\ncreated by dev.gloom.api."),
                dump);
          });
    }
  }

  @Test
  void deepStackKeeps50FramesAtEachEnd() throws Exception {
    try (var lab = Lab.procs(1)) {
      Goroutine g = lab.go(() -> descend(1_000));
      Lab.awaitWaiting(g);
      String dump = lab.scheduler().dump();
      List<String> lines = dump.lines().toList();
      // LockSupport.park, 1,001 of descend, the lambda
      assertEquals(1 + 50 * 2 + 1 + 50 * 2, lines.size(), dump);
      assertEquals("...903 frames elided...", lines.get(101));
      assertEquals("java.util.concurrent.locks.LockSupport.park(...)", lines.get(1));
      assertTrue(lines.get(lines.size() - 2).startsWith("dev.gloom.api.DumpTest.lambda"), dump);
      LockSupport.unpark(g.thread());
    }
  }

  private static void descend(int depth) {
    if (depth == 0) {
      LockSupport.park();
    } else {
      descend(depth - 1);
    }
  }

  @Test
  void stackOf100FramesIsWhole() throws Exception {
    try (var lab = Lab.procs(1)) {
      Goroutine g = lab.go(() -> descend(97));
      Lab.awaitWaiting(g);
      String dump = lab.scheduler().dump();
      assertEquals(1 + 100 * 2, dump.lines().count(), dump);
      assertFalse(dump.contains("elided"), dump);
      LockSupport.unpark(g.thread());
    }
  }

  @Test
  void adoptedThreadsAndTasksOfExecutorsShowOnlyTheProgramsFrames() throws Exception {
    try (var lab = Lab.procs(2)) {
      var there = new CountDownLatch(2);
      var threads = new ArrayList<Thread>();
      var executor = lab.scheduler().executor();
      executor.execute(
          () -> {
            threads.add(Thread.currentThread());
            threads.add(Thread.startVirtualThread(() -> parkHere(there)));
            parkHere(there);
          });
      there.await();
      String dump = lab.scheduler().dump();
      assertEquals(2, ids(dump).size(), dump);
      for (String gone : List.of("FutureTask", "VirtualThread", "RunnableAdapter", "dev.gloom.r")) {
        assertFalse(dump.contains(gone), dump);
      }
      threads.forEach(LockSupport::unpark);
      executor.close();
    }
  }

  @Test
  void bodyThatIsAMethodOfTheJdkKeepsItsFrames() throws Exception {
    try (var lab = Lab.procs(1)) {
      Goroutine g = lab.go(LockSupport::park);
      Lab.awaitWaiting(g);
      String dump = lab.scheduler().dump();
      assertTrue(
          dump.startsWith(
              "goroutine 1 [park]:\njava.util.concurrent.locks.LockSupport.park(...)\n\t"),
          dump);
      assertFalse(dump.contains("dev.gloom.Body"), dump);
      LockSupport.unpark(g.thread());
    }
  }

  @Test
  void schedulerWithoutGoroutinesHasNothingToShow() {
    try (var lab = Lab.procs(1)) {
      assertEquals("", lab.scheduler().dump());
    }
  }
}
