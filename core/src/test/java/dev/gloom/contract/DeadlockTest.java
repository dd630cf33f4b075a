package dev.gloom.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.ChildJvm;
import dev.gloom.api.Lab;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Items 96 and 97, each in a JVM of its own, since any other thread keeps the report away: all
/// asleep is reported, soon, with the guilty lines; and nothing else is.
@Tag("waits")
@Timeout(180)
@EnabledOnOs(OS.LINUX) // elsewhere it is never reported
class DeadlockTest {
  private static final String SENTENCE = "all goroutines are asleep - deadlock!\n\ngoroutine ";

  /// Long enough for a wrong report to come.
  private static final long LONG_MILLIS = 1_500;

  private static ChildJvm run(List<String> jvmArgs, String... args) throws Exception {
    var all = new ArrayList<>(List.of(ChildJvm.OPEN, "-ea", "--enable-native-access=ALL-UNNAMED"));
    all.addAll(jvmArgs);
    return ChildJvm.run(60, all, DeadlockProgram.class, args);
  }

  private static ChildJvm run(String how) throws Exception {
    return run(List.of(), how).succeeded();
  }

  @ParameterizedTest
  @CsvSource({
    "park, park, sleepForEver",
    "join, park, sleepForEver",
    "lock, lock, lockBoth",
    "monitor, monitor enter, enterBoth",
    "joins, join, joinThe",
    "nested, park, sleepForEver",
    "callersLock, lock, lambda$callersLock$",
    "afterSleep, park, sleepForEver",
    "afterSocket, park, sleepForEver",
    "timersOfNobody, park, sleepForEver",
    "lateJoin, park, sleepForEver",
    "threadEnds, park, LockSupport.park",
    "twoSchedulers, park, LockSupport.park",
    "closed, park, sleepForEver",
    "logging, park, sleepForEver"
  })
  void allAsleepIsReportedWithTheGuiltyLines(String how, String word, String method)
      throws Exception {
    ChildJvm child = run(how);
    String out = child.out();
    assertTrue(out.contains(SENTENCE), out);
    assertTrue(out.contains(" [" + word + "]:\n"), out);
    assertTrue(out.contains(method), out);
    assertTrue(out.endsWith("interrupted=false\nend of main\n"), out);
    assertTrue(child.figure("after") < 1_000 + slack(), out);
    assertEquals("", child.err());
  }

  /// The machine may be busy; a second is what is promised on one that is not.
  private static long slack() {
    return 1_500;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void allAsleepIsReportedOnAnyNumberOfProcessors(int procs) throws Exception {
    ChildJvm child = run(List.of("-Dgloom.maxprocs=" + procs), "lock").succeeded();
    assertTrue(child.out().contains(SENTENCE), child.out());
    assertEquals(2, child.out().split(" \\[lock]:\n", -1).length - 1, child.out());
  }

  @Test
  void schedulerLivesOnAfterAReport() throws Exception {
    String out = run("again").out();
    assertEquals(2, out.split(SENTENCE, -1).length - 1, out);
    assertTrue(out.contains("second run works\n"), out);
    // The second report has the goroutine of the first too.
    assertEquals(3, out.split(" \\[park]:\n", -1).length - 1, out);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "thread",
        "timer",
        "ticker",
        "afterFunc",
        "deadline",
        "native",
        "otherScheduler",
        "virtual",
        "churn"
      })
  void whoeverCanStillWakeThemKeepsTheReportAway(String who) throws Exception {
    endsInPeace(run(who));
  }

  private static void endsInPeace(ChildJvm child) {
    child.succeeded();
    assertEquals("end of main\n", child.out());
    assertEquals("", child.err());
  }

  @Test
  void readerOfASocketKeepsTheReportAway() throws Exception {
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        var outside = Executors.newSingleThreadExecutor()) {
      Future<?> sender =
          outside.submit(
              () -> {
                try (var socket = server.accept()) {
                  Thread.sleep(LONG_MILLIS);
                  socket.getOutputStream().write(1);
                }
                return null;
              });
      endsInPeace(run(List.of(), "socket", String.valueOf(server.getLocalPort())));
      sender.get();
    }
  }

  @Test
  void readerOfAPipeThatNobodyWritesYetKeepsTheReportAway(@TempDir Path dir) throws Exception {
    Path fifo = dir.resolve("fifo");
    assertEquals(0, new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor());
    try (var outside = Executors.newSingleThreadExecutor()) {
      Future<?> writer =
          outside.submit(
              () -> {
                Thread.sleep(LONG_MILLIS);
                return Files.writeString(fifo, "x"); // waits for the reader
              });
      endsInPeace(run(List.of(), "fifo", fifo.toString()));
      writer.get();
    }
  }

  @Test
  void whoWaitsForTheCollectorKeepsTheReportAway(@TempDir Path dir) throws Exception {
    Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    endsInPeace(runAndLater(dir, "referenceQueue", jcmd.toString(), "PID", "GC.run"));
  }

  @Test
  void whoWaitsForAShutdownHookKeepsTheReportAway(@TempDir Path dir) throws Exception {
    ChildJvm child = runAndLater(dir, "hook", "kill", "-TERM", "PID");
    // The goroutine ends the program, or the hook is done first.
    assertTrue(child.status() == 0 || child.status() == 143, child.err());
    assertEquals("", child.out().replace("told to end\n", ""));
    assertEquals("", child.err());
  }

  /// Has a command run some time after the program has come to rest.
  private static ChildJvm runAndLater(Path dir, String how, String... command) throws Exception {
    Path pid = dir.resolve("pid");
    try (var outside = Executors.newSingleThreadExecutor()) {
      Future<?> later =
          outside.submit(
              () -> {
                Lab.await("the program runs", () -> isWritten(pid));
                Thread.sleep(LONG_MILLIS);
                var words = new ArrayList<>(List.of(command));
                words.replaceAll(word -> word.equals("PID") ? read(pid) : word);
                return new ProcessBuilder(words).redirectOutput(Redirect.DISCARD).start().waitFor();
              });
      ChildJvm child = run(List.of(), how, pid.toString());
      later.get();
      return child;
    }
  }

  private static boolean isWritten(Path file) {
    return Files.exists(file) && !read(file).isEmpty();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void canBeSwitchedOff() throws Exception {
    var off = List.of(ChildJvm.OPEN, "-Dgloom.deadlock=off");
    AssertionError hangs =
        assertThrows(
            AssertionError.class, () -> ChildJvm.run(4, off, DeadlockProgram.class, "park"));
    assertTrue(hangs.getMessage().startsWith("does not end within 4 s"), hangs.getMessage());
  }
}
