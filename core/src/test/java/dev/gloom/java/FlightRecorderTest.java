package dev.gloom.java;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Scheduler;
import dev.gloom.api.ChildJvm;
import dev.gloom.api.Lab;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// With the JDK's flight recorder on, goroutines leave the events that virtual threads leave: start
/// and end of each, once, on whichever M they ran; and those that park while pinned are named.
@Timeout(180)
class FlightRecorderTest {
  private static final int EACH = 300;
  private static final int PINNED = 3;

  static final class Program {
    private static final class PinsOne {
      static final boolean PARKED = parkedPinned();
    }

    private static final class PinsTwo {
      static final boolean PARKED = parkedPinned();
    }

    private static final class PinsThree {
      static final boolean PARKED = parkedPinned();
    }

    /// In a class initialiser nobody can leave its carrier.
    private static boolean parkedPinned() {
      LockSupport.parkNanos(30_000_000);
      return true;
    }

    public static void main(String[] args) throws Exception {
      try (var recording = new Recording()) {
        recording.enable("jdk.VirtualThreadStart").withoutStackTrace();
        recording.enable("jdk.VirtualThreadEnd").withoutStackTrace();
        recording.enable("jdk.VirtualThreadPinned").withoutThreshold();
        recording.enable("jdk.ThreadPark").withoutThreshold();
        recording.enable("jdk.DataLoss");
        recording.start();
        var ours = new HashMap<String, List<Thread>>();
        if (args[0].equals("gloom")) {
          try (var lab = Lab.procs(2)) {
            work(lab.scheduler().threadFactory(), ours);
            more(lab.scheduler(), ours);
          }
        } else {
          work(Thread.ofVirtual().factory(), ours);
        }
        recording.stop();
        Path file = Files.createTempFile("gloom", ".jfr");
        recording.dump(file);
        report(RecordingFile.readAllEvents(file), ours);
        Files.delete(file);
      }
    }

    /// What both do: threads that park, yield and end, and some that park while pinned.
    private static void work(ThreadFactory factory, Map<String, List<Thread>> ours)
        throws Exception {
      Runnable body =
          () -> {
            for (int i = 0; i < 3; i++) {
              LockSupport.parkNanos(10_000);
              Thread.yield();
            }
          };
      start(factory, EACH, body, ours.computeIfAbsent("factory", _ -> new ArrayList<>()));
      var pinned = ours.computeIfAbsent("pinned", _ -> new ArrayList<>());
      for (Runnable pins :
          List.<Runnable>of(
              () -> require(PinsOne.PARKED),
              () -> require(PinsTwo.PARKED),
              () -> require(PinsThree.PARKED))) {
        start(factory, 1, pins, pinned);
      }
    }

    private static void require(boolean parked) {
      if (!parked) {
        throw new AssertionError();
      }
    }

    private static void start(ThreadFactory factory, int n, Runnable body, List<Thread> into)
        throws Exception {
      for (int i = 0; i < n; i++) {
        Thread t = factory.newThread(body);
        into.add(t);
        t.start();
      }
      for (Thread t : into) {
        t.join();
      }
    }

    /// The other ways to start a goroutine.
    private static void more(Scheduler scheduler, Map<String, List<Thread>> ours) throws Exception {
      var started = new ArrayList<Thread>();
      for (int i = 0; i < EACH; i++) {
        started.add(
            scheduler
                .go(
                    () -> {
                      Gloom.gosched();
                      LockSupport.parkNanos(10_000);
                    })
                .thread());
      }
      for (Thread t : started) {
        t.join();
      }
      ours.put("go", started);
      var adopted = new ArrayList<Thread>();
      scheduler.run(
          () -> {
            for (int i = 0; i < EACH; i++) {
              adopted.add(Thread.startVirtualThread(() -> LockSupport.parkNanos(10_000)));
            }
            for (Thread t : adopted) {
              t.join();
            }
          });
      ours.put("adopted", adopted);
      var ran = new AtomicInteger();
      try (var executor = Executors.newThreadPerTaskExecutor(scheduler.threadFactory())) {
        for (int i = 0; i < EACH; i++) {
          executor.execute(ran::incrementAndGet);
        }
      }
      System.out.println("executed=" + ran);
    }

    private static void report(List<RecordedEvent> events, Map<String, List<Thread>> ours) {
      var starts = new HashMap<Long, Integer>();
      var ends = new HashMap<Long, Integer>();
      var pins = new HashMap<Long, Integer>();
      var parks = new HashMap<Long, Integer>();
      int lost = 0;
      for (RecordedEvent e : events) {
        switch (e.getEventType().getName()) {
          case "jdk.VirtualThreadStart" -> starts.merge(e.getLong("javaThreadId"), 1, Integer::sum);
          case "jdk.VirtualThreadEnd" -> ends.merge(e.getLong("javaThreadId"), 1, Integer::sum);
          case "jdk.VirtualThreadPinned" -> {
            // Two that load or initialise the same class are pinned too, on any scheduler.
            if (e.getString("blockingOperation").equals("LockSupport.park")) {
              count(pins, e);
            }
          }
          case "jdk.ThreadPark" -> count(parks, e);
          case "jdk.DataLoss" -> lost++;
          default -> {}
        }
      }
      System.out.println("lost=" + lost);
      ours.forEach(
          (kind, threads) -> {
            System.out.println(kind + "=" + threads.size());
            System.out.println(kind + " started once=" + once(starts, threads));
            System.out.println(kind + " ended once=" + once(ends, threads));
            System.out.println(kind + " pinned=" + some(pins, threads));
            System.out.println(kind + " parked on a carrier=" + some(parks, threads));
          });
    }

    private static void count(Map<Long, Integer> counts, RecordedEvent e) {
      if (e.getThread() != null) {
        counts.merge(e.getThread().getJavaThreadId(), 1, Integer::sum);
      }
    }

    private static long once(Map<Long, Integer> counts, List<Thread> threads) {
      return threads.stream().filter(t -> counts.getOrDefault(t.threadId(), 0) == 1).count();
    }

    private static long some(Map<Long, Integer> counts, List<Thread> threads) {
      return threads.stream().filter(t -> counts.containsKey(t.threadId())).count();
    }
  }

  @Test
  void goroutinesLeaveTheEventsOfVirtualThreads() throws Exception {
    ChildJvm gloom = recorded("gloom");
    ChildJvm jdk = recorded("jdk");
    for (String kind : List.of("factory", "go", "adopted")) {
      assertEquals(EACH, gloom.figure(kind));
      assertEquals(EACH, gloom.figure(kind + " started once"), kind);
      assertEquals(EACH, gloom.figure(kind + " ended once"), kind);
      fewIfAny(gloom.figure(kind + " pinned"));
      // Parking leaves an event only on a carrier; a goroutine that leaves the carrier leaves none.
      fewIfAny(gloom.figure(kind + " parked on a carrier"));
    }
    fewIfAny(jdk.figure("factory pinned"));
    fewIfAny(jdk.figure("factory parked on a carrier"));
    assertEquals(EACH, gloom.figure("executed"));
    for (ChildJvm both : List.of(gloom, jdk)) {
      assertEquals(0, both.figure("lost"));
      assertEquals(EACH, both.figure("factory started once"));
      assertEquals(PINNED, both.figure("pinned started once"));
      assertEquals(PINNED, both.figure("pinned ended once"));
      assertEquals(PINNED, both.figure("pinned pinned"));
      assertEquals(PINNED, both.figure("pinned parked on a carrier"));
    }
  }

  /// Loading a class for the first time may park one or two of them where it is pinned.
  private static void fewIfAny(long n) {
    assertTrue(n <= 3, () -> n + " of " + EACH);
  }

  private static ChildJvm recorded(String what) throws Exception {
    ChildJvm child =
        ChildJvm.run(80, List.of(ChildJvm.OPEN, "-ea", "-Xmx512m"), Program.class, what);
    assertTrue(child.status() == 0, () -> child.out() + child.err());
    return child;
  }
}
