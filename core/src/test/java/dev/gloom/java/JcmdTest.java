package dev.gloom.java;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Scheduler;
import dev.gloom.api.ChildJvm;
import dev.gloom.api.Lab;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// `jcmd PID Thread.dump_to_file`, as somebody with a stuck program uses it: every goroutine is in
/// the dump, in gloom's container, with its stack. The goroutines are parked, since a dump of
/// moving ones crashes the JVM with any scheduler (JDK-8364343).
@Timeout(120)
class JcmdTest {
  private static final int PARKED = 50;

  @TempDir Path dir;

  static final class Program {
    public static void main(String[] args) throws Exception {
      Scheduler scheduler = Scheduler.builder().maxProcs(2).build();
      var gate = new CountDownLatch(1);
      var all = new ArrayList<Thread>();
      for (int i = 0; i < PARKED; i++) {
        all.add(scheduler.go("parked " + i, () -> waitsForTheGate(gate)).thread());
      }
      scheduler.run(
          () -> all.add(Thread.ofVirtual().name("adopted").start(() -> waitsForTheGate(gate))));
      Thread made = scheduler.threadFactory().newThread(() -> waitsForTheGate(gate));
      made.setName("factory made");
      made.start();
      all.add(made);
      for (Thread t : all) {
        Lab.await(t + " parks", () -> t.getState() == Thread.State.WAITING);
      }
      System.out.println("ready");
      int _ = System.in.read(); // until the end of the input
      gate.countDown();
      for (Thread t : all) {
        t.join();
      }
      Lab.quiet(scheduler);
      System.out.println("went on after the dump");
    }

    private static void waitsForTheGate(CountDownLatch gate) {
      try {
        gate.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  @Test
  void listsEveryGoroutineInGloomsContainer() throws Exception {
    try (var child = LiveJvm.start(List.of(ChildJvm.OPEN, "-ea"), Program.class)) {
      child.awaitLine("ready");

      String json = dump(child, "json");
      String container = container(json, "gloom");
      for (int i = 0; i < PARKED; i++) {
        assertEquals(1, count(container, "\"name\": \"parked " + i + "\""), "parked " + i);
        assertEquals(1, count(json, "\"name\": \"parked " + i + "\""), "and nowhere else");
      }
      // Those that others started are in the JDK's own container, and not once more in gloom's.
      assertEquals(1, count(json, "\"name\": \"adopted\""));
      assertEquals(1, count(json, "\"name\": \"factory made\""));
      assertEquals(PARKED + 2, count(json, "Program.waitsForTheGate("));
      assertEquals(PARKED, count(container, "Program.waitsForTheGate("));
      assertTrue(
          Pattern.compile("\"threadCount\": \"?" + PARKED + "\\b").matcher(container).find(),
          container);

      String text = dump(child, "text");
      for (int i = 0; i < PARKED; i++) {
        assertEquals(1, count(text, "\"parked " + i + "\" virtual"), "parked " + i);
      }
      assertTrue(count(text, "\"adopted\" virtual") >= 1, text);
      assertTrue(count(text, "\"factory made\" virtual") >= 1, text);
      assertTrue(count(text, "Program.waitsForTheGate(") >= PARKED + 2, text);

      assertEquals(0, child.end(), child::output);
      assertTrue(child.output().contains("went on after the dump"), child::output);
    }
  }

  private String dump(LiveJvm child, String format) throws Exception {
    Path file = dir.resolve("dump." + format);
    Path out = dir.resolve("jcmd." + format);
    Process jcmd =
        new ProcessBuilder(
                LiveJvm.tool("jcmd"),
                Long.toString(child.pid()),
                "Thread.dump_to_file",
                "-format=" + format,
                file.toString())
            .redirectErrorStream(true)
            .redirectOutput(out.toFile())
            .start();
    try {
      assertTrue(jcmd.waitFor(60, TimeUnit.SECONDS), "jcmd does not end");
    } finally {
      jcmd.destroyForcibly();
    }
    assertEquals(0, jcmd.exitValue(), Files.readString(out));
    return Files.readString(file);
  }

  /// The part of a JSON dump that describes one container.
  private static String container(String json, String name) {
    String[] parts = json.split("\"container\": ");
    List<String> found = new ArrayList<>();
    for (String part : parts) {
      if (part.startsWith("\"" + name + "\"")) {
        found.add(part);
      }
    }
    assertEquals(1, found.size(), json);
    return found.getFirst();
  }

  private static int count(String text, String what) {
    return text.split(Pattern.quote(what), -1).length - 1;
  }
}
