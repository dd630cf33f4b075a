package dev.gloom.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.Scheduler;
import dev.gloom.api.ChildJvm;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A dump on a signal, sent by a real `kill`, in a JVM of its own.
@Timeout(120)
class DumpSignalTest {
  /// Two schedulers with a goroutine each, a kill, and the end once something was printed.
  static final class Program {
    public static void main(String[] args) throws Exception {
      var printed = new CountDownLatch(1);
      System.setErr(
          new PrintStream(System.err) {
            @Override
            public void flush() {
              super.flush();
              printed.countDown();
            }
          });
      try (var other = Scheduler.builder().build()) {
        other.go(LockSupport::park);
        Gloom.run(
            () -> {
              var pid = String.valueOf(ProcessHandle.current().pid());
              new ProcessBuilder("kill", "-" + args[0], pid).inheritIO().start().waitFor();
              printed.await();
            });
      }
      System.out.println("goes on");
    }
  }

  @ParameterizedTest
  @CsvSource({"USR1, USR1", "SIGWINCH, WINCH"}) // not HUP: nohup would have the JVM leave it alone
  void goroutinesOfAllSchedulersArePrintedAndTheProgramGoesOn(String setting, String signal)
      throws Exception {
    var child =
        ChildJvm.run(
            60,
            List.of(ChildJvm.OPEN, "-ea", "-Dgloom.dumpsignal=" + setting),
            Program.class,
            signal);
    child.succeeded();
    assertEquals("goes on\n", child.out());
    assertEquals(2, child.err().split("goroutine 1 \\[", -1).length - 1, child.err());
    assertTrue(child.err().contains("dev.gloom.contract.DumpSignalTest$Program"), child.err());
    assertTrue(child.err().contains("goroutine 1 [park]:\n"), child.err());
  }

  @Test
  void nothingIsInstalledUnlessAskedFor() throws Exception {
    var child = ChildJvm.run(60, List.of(ChildJvm.OPEN), Program.class, "USR1");
    assertNotEquals(0, child.status());
    assertEquals("", child.out());
  }

  @ParameterizedTest
  @CsvSource({"SEGV", "NOSUCH", "''"})
  void signalThatCannotBeHadIsRefusedWithWhatIsRight(String name) throws Exception {
    var child =
        ChildJvm.run(
            60, List.of(ChildJvm.OPEN, "-Dgloom.dumpsignal=" + name), Program.class, "USR1");
    assertEquals(1, child.status());
    assertTrue(
        child
            .err()
            .contains(
                "gloom: the system property gloom.dumpsignal is \""
                    + name
                    + "\" but must be off or a signal that Java can handle, such as USR1"),
        child.err());
  }
}
