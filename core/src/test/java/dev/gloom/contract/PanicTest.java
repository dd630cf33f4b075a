package dev.gloom.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.WaitGroup;
import dev.gloom.api.ChildJvm;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Spec item 93, each in a JVM of its own: an exception that leaves any goroutine ends a program
/// whose panics are set to.
@Timeout(120)
class PanicTest {
  static final class Program {
    public static void main(String[] args) throws Exception {
      Gloom.run(
          () -> {
            System.out.println("before");
            Gloom.go(() -> fail(args[0]));
            LockSupport.park(); // others do not keep the program alive
            System.out.println("after");
          });
    }

    private static void fail(String how) {
      switch (how) {
        case "exception" -> throw new IllegalStateException("the reason");
        case "error" -> throw new AssertionError("the reason");
        case "caused" -> throw new IllegalStateException("outer", new RuntimeException("inner"));
        case "member" -> {
          var group = new WaitGroup();
          group.go(() -> fail("exception"));
          try {
            group.await();
            System.out.println("after the wait");
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        }
        default -> {
          Thread t =
              Gloom.threadFactory()
                  .newThread(
                      () -> {
                        throw new IllegalStateException("the reason");
                      });
          t.start();
          LockSupport.park();
        }
      }
    }
  }

  @Test
  void endsTheProgramWithGosTextAndStatus2() throws Exception {
    var child = run("exception");
    assertEquals("before\n", child.out());
    var lines = child.err().lines().toList();
    assertEquals("panic: java.lang.IllegalStateException: the reason", lines.get(0));
    assertEquals("", lines.get(1));
    assertTrue(lines.get(2).matches("goroutine \\d+ \\[running\\]:"), child.err());
    assertEquals("dev.gloom.contract.PanicTest$Program.fail(...)", lines.get(3));
    assertTrue(lines.get(4).matches("\tPanicTest\\.java:\\d+"), child.err());
    assertTrue(
        child
            .err()
            .contains(
                "created by dev.gloom.contract.PanicTest$Program.lambda$main$0 in goroutine 1\n"
                    + "\tPanicTest.java:"),
        child.err());
    assertEquals("exit status 2", lines.getLast());
    assertFalse(child.err().contains("dev.gloom.runtime"), child.err());
  }

  @Test
  void anErrorPanicsToo() throws Exception {
    assertTrue(
        run("error").err().startsWith("panic: java.lang.AssertionError: the reason\n\ngoroutine "));
  }

  @Test
  void causesAreReported() throws Exception {
    String err = run("caused").err();
    assertTrue(err.startsWith("panic: java.lang.IllegalStateException: outer\n\n"), err);
    assertTrue(err.contains("\ncaused by: java.lang.RuntimeException: inner\n"), err);
  }

  @Test
  void threadsOfTheFactoryPanicToo() throws Exception {
    assertTrue(
        run("factory").err().startsWith("panic: java.lang.IllegalStateException: the reason\n\n"));
  }

  /// Spec item 118: whoever waits for it does not go on with half a result.
  @Test
  void aMemberOfAWaitGroupThatPanicsEndsTheProgramAndNotTheWait() throws Exception {
    var child = run("member");
    assertTrue(
        child.err().startsWith("panic: java.lang.IllegalStateException: the reason\n\n"),
        child::err);
    assertEquals("before\n", child.out());
  }

  private static ChildJvm run(String how) throws Exception {
    var child =
        ChildJvm.run(60, List.of(ChildJvm.OPEN, "-ea", "-Dgloom.panic=exit"), Program.class, how);
    assertEquals(2, child.status(), child::err);
    return child;
  }
}
