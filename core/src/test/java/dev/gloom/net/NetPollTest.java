package dev.gloom.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import dev.gloom.Stats;
import dev.gloom.api.ChildJvm;
import dev.gloom.api.Lab;
import dev.gloom.jdk.Carrier;
import java.io.IOException;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Who polls, when, and whom else it serves.
@Timeout(60)
@SuppressWarnings("try") // a close before the end is what others wait for
class NetPollTest {
  private static Stats.Net net(Lab lab) {
    return lab.scheduler().stats().net();
  }

  /// Spec item 127.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void readBlocksTheGoroutineAndNotItsThread(int procs) throws Exception {
    var wires = new ArrayList<Wires.Pair>();
    try (var lab = Lab.procs(procs)) {
      var got = new AtomicInteger();
      var readers = new ArrayList<Goroutine>();
      for (int i = 0; i < 100; i++) {
        Wires.Pair wire = Wires.Pair.open();
        wires.add(wire);
        readers.add(lab.go(() -> got.addAndGet(wire.near().getInputStream().read())));
      }
      readers.forEach(Lab::awaitWaiting);
      assertEquals(100, net(lab).waiting());
      assertTrue(lab.scheduler().dump().contains("[IO wait"), lab.scheduler().dump());
      lab.run(() -> got.addAndGet(1_000));
      assertEquals(1_000, got.get(), "another goroutine runs");
      int threads = lab.scheduler().stats().threads();
      assertTrue(threads <= procs + 2, "threads: " + threads);
      for (Wires.Pair wire : wires) {
        wire.far().getOutputStream().write(1);
      }
      for (Goroutine g : readers) {
        g.join();
      }
      assertEquals(1_100, got.get());
      assertEquals(100, Wires.quiet(lab.scheduler()).ready());
    } finally {
      for (Wires.Pair wire : wires) {
        wire.close();
      }
    }
  }

  /// Spec item 130: work from outside reaches a scheduler whose only free thread sleeps in the
  /// kernel.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void sleepInTheKernelIsBrokenOff(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var wire = Wires.Pair.open()) {
      Goroutine reader = lab.go(() -> wire.near().getInputStream().read());
      Lab.awaitWaiting(reader);
      for (int i = 0; i < 200; i++) {
        Lab.await("all are idle", () -> lab.scheduler().stats().idleProcs() == procs);
        long start = System.nanoTime();
        lab.run(() -> {});
        assertTrue(System.nanoTime() - start < 5_000_000_000L, "too late");
      }
      assertEquals(Goroutine.State.WAITING, reader.state());
      wire.far().getOutputStream().write(1);
      reader.join();
      Wires.quiet(lab.scheduler());
    }
  }

  /// The same for alarms: the thread that sleeps until the first one is another.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void sleepersWakeInTimeBesideReaders(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var wire = Wires.Pair.open()) {
      Goroutine reader = lab.go(() -> wire.near().getInputStream().read());
      Lab.awaitWaiting(reader);
      long before = lab.scheduler().stats().wakeups();
      long[] late = new long[201];
      lab.run(
          () -> {
            for (int i = 0; i < late.length; i++) {
              long start = System.nanoTime();
              Gloom.sleep(java.time.Duration.ofNanos(200_000));
              late[i] = System.nanoTime() - start - 200_000;
            }
          });
      Arrays.sort(late);
      // The kernel's wait for sockets would round each sleep up to a millisecond.
      assertTrue(late[20] < 700_000, "the tenth part that was best is late by " + late[20]);
      long wakeups = lab.scheduler().stats().wakeups() - before;
      assertTrue(wakeups < 3 * late.length, "nobody runs in circles: " + wakeups);
      wire.far().getOutputStream().write(1);
      reader.join();
    }
  }

  /// Spec item 132, with Ps that compute and yield.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void socketsAreNoticedWhileAllProcessorsCompute(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var wire = Wires.Pair.open()) {
      var over = new AtomicBoolean();
      lab.go(() -> Wires.echo(wire.far()));
      for (int i = 0; i < 2 * procs; i++) {
        lab.go(
            () -> {
              while (!over.get()) {
                Lab.spin(50_000);
                Gloom.gosched();
              }
            });
      }
      Lab.await("all are busy", () -> lab.scheduler().stats().idleProcs() == 0);
      Stats.Net before = net(lab);
      long[] took = new long[50];
      for (int i = 0; i < took.length; i++) {
        Lab.await("it waits", () -> net(lab).waiting() == 1);
        long start = System.nanoTime();
        wire.near().getOutputStream().write(i);
        assertEquals(i, wire.near().getInputStream().read());
        took[i] = System.nanoTime() - start;
      }
      over.set(true);
      wire.near().close();
      Arrays.sort(took);
      System.out.printf(
          "NetPollTest: %d busy Ps, answer after %.1f ms (median), %.1f ms (worst)%n",
          procs, took[25] / 1e6, took[49] / 1e6);
      Stats.Net after = net(lab);
      assertTrue(
          after.polls() - before.polls() > after.monitorPolls() - before.monitorPolls(),
          "the Ps themselves look: " + after);
      // A slice, and the turns of those before it; eight Ps share two cores here.
      assertTrue(took[25] < 10_000_000L + procs * 10_000_000L, "median: " + took[25]);
      Lab.quiet(lab.scheduler());
      Wires.quiet(lab.scheduler());
    }
  }

  /// Spec item 72: with the poller in use, everybody has a processor again after idle phases.
  @ParameterizedTest
  @ValueSource(ints = {2, 8})
  void allProcessorsRunAfterIdlePhases(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var wire = Wires.Pair.open()) {
      Goroutine reader = lab.go(() -> wire.near().getInputStream().read());
      for (int phase = 0; phase < 20; phase++) {
        Lab.awaitWaiting(reader);
        Lab.await("all are idle", () -> lab.scheduler().stats().idleProcs() == procs);
        var together = new CountDownLatch(procs);
        for (int i = 0; i < procs; i++) {
          lab.go(
              () -> {
                together.countDown();
                while (together.getCount() != 0) { // needs a processor for each
                  Thread.onSpinWait();
                }
              });
        }
        assertTrue(together.await(30, TimeUnit.SECONDS), "" + lab.scheduler().stats());
      }
      wire.far().getOutputStream().write(1);
      reader.join();
    }
  }

  /// Virtual threads of the JDK's scheduler and platform threads, beside goroutines, with the same
  /// numbers of descriptors again and again.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void othersThreadsAreServedToo(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var server = Wires.server()) {
      lab.go(() -> Wires.serveEchoes(lab, server));
      var answered = new AtomicInteger();
      for (int round = 0; round < 10; round++) {
        var threads = new ArrayList<Thread>();
        for (int i = 0; i < 10; i++) {
          long seed = i;
          Runnable client =
              () -> {
                try (Socket socket = Wires.connect(server)) {
                  Wires.talk(socket.getInputStream(), socket.getOutputStream(), 10, seed);
                  answered.incrementAndGet();
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              };
          threads.add(Thread.ofVirtual().start(client));
          threads.add(Thread.ofPlatform().start(client));
          Thread goroutine = lab.scheduler().threadFactory().newThread(client);
          goroutine.start();
          threads.add(goroutine);
        }
        for (Thread t : threads) {
          t.join();
        }
      }
      assertEquals(300, answered.get());
      server.close();
      Lab.quiet(lab.scheduler());
      Wires.quiet(lab.scheduler());
    }
  }

  @Test
  void goroutinesOfTwoSchedulersReadFromOneSocketInTurn() throws Exception {
    try (var one = Lab.procs(1);
        var two = Lab.procs(2);
        var wire = Wires.Pair.open()) {
      for (int i = 0; i < 20; i++) {
        Lab lab = i % 3 == 0 ? one : two;
        int expected = i;
        Goroutine reader =
            lab.go(() -> assertEquals(expected, wire.near().getInputStream().read()));
        Lab.awaitWaiting(reader);
        wire.far().getOutputStream().write(i);
        reader.join();
      }
      assertEquals(7, Wires.quiet(one.scheduler()).ready());
      assertEquals(13, Wires.quiet(two.scheduler()).ready());
    }
  }

  /// From goroutines that are locked to their thread, with a call that holds it before each wait.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void goroutinesThatAreLockedToTheirThreadCanWait(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var wire = Wires.Pair.open()) {
      Goroutine near = lab.go(() -> countUp(wire.near(), 0));
      Goroutine far = lab.go(() -> countUp(wire.far(), 1));
      near.join();
      far.join();
      assertTrue(Wires.quiet(lab.scheduler()).ready() > 10, "" + lab.scheduler().stats());
    }
  }

  /// Two of these, one that begins with 0 and one with 1, tell each other the numbers up to 200.
  private static void countUp(Socket end, int first) throws Exception {
    Gloom.lockOSThread();
    Thread carrier = Carrier.current();
    for (int i = first; i < 200; i += 2) {
      int number = i;
      if (i > 0) {
        assertEquals(i - 1, end.getInputStream().read());
      }
      Gloom.blocking(
          () -> {
            end.getOutputStream().write(number);
            return number;
          });
      assertSame(carrier, Carrier.current());
    }
  }

  @Test
  void closedSchedulerGivesItsDescriptorsBack() throws Exception {
    try (var warm = Lab.procs(1)) { // the JDK's own, which stay
      exchange(warm);
    }
    // Those of earlier tests are given back while this one runs: the count may fall below this.
    long before = Wires.descriptors("anon_inode:");
    for (int i = 0; i < 10; i++) {
      try (var lab = Lab.procs(2)) {
        exchange(lab);
        assertTrue(Wires.descriptors("anon_inode:[eventfd]") > 0, "has some");
      }
    }
    Lab.await("all are back", () -> Wires.descriptors("anon_inode:") <= before);
  }

  private static void exchange(Lab lab) throws Exception {
    try (var wire = Wires.Pair.open()) {
      Goroutine reader = lab.go(() -> wire.near().getInputStream().read());
      Lab.awaitWaiting(reader);
      wire.far().getOutputStream().write(1);
      reader.join();
    }
  }

  @Test
  void unusedSchedulerHasNoDescriptors() throws Exception {
    long before = Wires.descriptors("anon_inode:");
    try (var scheduler = Scheduler.builder().maxProcs(2).build()) {
      scheduler.run(() -> Gloom.sleep(java.time.Duration.ofMillis(1)));
      assertTrue(Wires.descriptors("anon_inode:") <= before);
    }
  }

  // In JVMs of their own.

  @Test
  void withTheJdksPollersEverythingWorksAndStatsSaysSo() throws Exception {
    ChildJvm.run(
            60,
            List.of(ChildJvm.OPEN, "-Dgloom.netpoll=jdk"),
            NetProgram.class,
            "echo",
            "jdk: gloom.netpoll=jdk is set")
        .succeeded();
    ChildJvm.run(
            60,
            List.of(ChildJvm.OPEN, "-Djdk.pollerMode=2"),
            NetProgram.class,
            "echo",
            "jdk: jdk.pollerMode=2 is set")
        .succeeded();
  }

  @Test
  void onePollerThreadOfTheJdksMayBeAskedFor() throws Exception {
    ChildJvm.run(
            60,
            List.of(ChildJvm.OPEN, "-Djdk.pollerMode=1", "-Djdk.readPollers=4"),
            NetProgram.class,
            "echo",
            "epoll, edge")
        .succeeded();
  }

  /// Then the same number is in the epoll set as another's, unless somebody is told of each close.
  @Test
  void descriptorsThatStayInTheSetMayBeUsedAgain() throws Exception {
    for (String procs : List.of("1", "2", "8")) {
      ChildJvm.run(
              60,
              List.of(ChildJvm.OPEN, "-Dgloom.netpoll=edge", "-Dgloom.maxprocs=" + procs, "-ea"),
              NetProgram.class,
              "reuse")
          .succeeded();
    }
  }

  @Test
  void descriptorsDoNotStayInTheSetIfTheirClosesCannotBeSeen() throws Exception {
    List<String> edge = List.of(ChildJvm.OPEN, "-Dgloom.netpoll=edge");
    ChildJvm.run(60, edge, NetProgram.class, "echo", "epoll, edge").succeeded();
    ChildJvm.run(60, edge, NetProgram.class, "late").succeeded(); // checks that it is "epoll" then
  }

  @Test
  void malformedSettingIsReported() throws Exception {
    ChildJvm child =
        ChildJvm.run(
            60,
            List.of(ChildJvm.OPEN, "-Dgloom.netpoll=kqueue"),
            NetProgram.class,
            "echo",
            "epoll");
    assertTrue(
        child
            .err()
            .contains(
                "gloom.netpoll is \"kqueue\" but must be edge, epoll or jdk: correct or remove"),
        child.err());
  }

  /// Sockets were used, and are being waited for, before gloom comes.
  @Test
  void comesLate() throws Exception {
    ChildJvm child = ChildJvm.run(60, List.of(ChildJvm.OPEN), NetProgram.class, "late").succeeded();
    assertEquals("", child.err());
  }

  @Test
  void exhaustedDescriptorsAreTheProgramsProblemOnly() throws Exception {
    String java = System.getProperty("java.home") + "/bin/java";
    String path = ChildJvm.pathOf(Gloom.class) + ":" + ChildJvm.pathOf(NetProgram.class);
    ChildJvm.run(
            60,
            List.of(
                "bash",
                "-c",
                "ulimit -n 300 && exec \"$0\" \"$@\"",
                java,
                "-XX:-MaxFDLimit",
                ChildJvm.OPEN,
                "-cp",
                path,
                NetProgram.class.getName(),
                "exhausted"))
        .succeeded();
  }
}
