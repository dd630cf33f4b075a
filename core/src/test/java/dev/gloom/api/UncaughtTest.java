package dev.gloom.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Goroutine;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// An exception that leaves a goroutine of a library goes where Java sends it.
@Timeout(60)
class UncaughtTest {
  private record Report(Thread thread, String name, Throwable thrown) {}

  @Test
  void goesToTheDefaultHandlerUnderANameThatTellsIdAndPlaceOfCreation() throws Exception {
    var reports = new ConcurrentLinkedQueue<Report>();
    var before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler((t, e) -> reports.add(new Report(t, t.getName(), e)));
    try (var lab = Lab.procs(1)) {
      var thrown = new IllegalStateException("left a goroutine");
      Goroutine g =
          lab.scheduler()
              .go(
                  () -> {
                    throw thrown;
                  });
      g.join();
      assertEquals(1, reports.size());
      Report report = reports.remove();
      assertSame(thrown, report.thrown);
      assertSame(g.thread(), report.thread);
      assertTrue(
          report.name.startsWith(
              "goroutine " + g.id() + " created by dev.gloom.api.UncaughtTest.goesTo"),
          report.name);
      assertTrue(report.name.contains("(UncaughtTest.java:"), report.name);
      assertEquals(Goroutine.State.DEAD, g.state());
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
  }

  @Test
  void goesToTheThreadsOwnHandlerFirst() throws Exception {
    try (var lab = Lab.procs(1)) {
      var report = new AtomicReference<Report>();
      var thrown = new AssertionError("left a goroutine");
      Goroutine g =
          lab.go(
              () -> {
                Thread.currentThread()
                    .setUncaughtExceptionHandler(
                        (t, e) -> report.set(new Report(t, t.getName(), e)));
                throw thrown;
              });
      g.join();
      assertSame(thrown, report.get().thrown);
      assertSame(g.thread(), report.get().thread);
    }
  }

  @Test
  void aNameThatWasGivenStays() throws Exception {
    try (var lab = Lab.procs(1)) {
      var report = new AtomicReference<Report>();
      lab.scheduler()
          .go(
              "mine",
              () -> {
                Thread.currentThread()
                    .setUncaughtExceptionHandler(
                        (t, e) -> report.set(new Report(t, t.getName(), e)));
                throw new IllegalStateException();
              })
          .join();
      assertEquals("mine", report.get().name);
    }
  }

  @Test
  void threadsOfTheFactoryReportTheirIdAtLeast() throws Exception {
    try (var lab = Lab.procs(1)) {
      var report = new AtomicReference<Report>();
      Thread t =
          lab.scheduler()
              .threadFactory()
              .newThread(
                  () -> {
                    throw new IllegalStateException("left a thread");
                  });
      t.setUncaughtExceptionHandler((u, e) -> report.set(new Report(u, u.getName(), e)));
      t.start();
      t.join();
      assertEquals("goroutine 1", report.get().name);
    }
  }

  @Test
  void othersGoOn() throws Exception {
    try (var lab = Lab.procs(1)) {
      for (int i = 0; i < 100; i++) {
        lab.go(
                () -> {
                  Thread.currentThread().setUncaughtExceptionHandler((_, _) -> {});
                  throw new IllegalStateException();
                })
            .join();
      }
      var ran = new boolean[1];
      lab.run(() -> ran[0] = true);
      assertTrue(ran[0]);
      assertEquals(0, lab.scheduler().numGoroutine());
    }
  }

  @Test
  void aHandlerThatThrowsHarmsNobody() throws Exception {
    try (var lab = Lab.procs(1)) {
      lab.go(
              () -> {
                Thread.currentThread()
                    .setUncaughtExceptionHandler(
                        (_, _) -> {
                          throw new IllegalStateException("in the handler");
                        });
                throw new IllegalStateException();
              })
          .join();
      lab.run(() -> {});
    }
  }
}
