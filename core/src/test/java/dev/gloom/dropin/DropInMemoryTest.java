package dev.gloom.dropin;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What a parked virtual thread takes under the agent, beside the plain JDK.
@Timeout(300)
class DropInMemoryTest {
  private static final int THREADS = 20_000;

  /// Parks virtual threads and prints the heap's growth for each. The frames of the interpreter are
  /// three times as large as compiled ones, and are kept on the heap while a thread is parked: so
  /// it does that again and again until the figure no longer falls.
  static final class ParkedProgram {
    private static final int MAX_ROUNDS = 100;
    private static final int SETTLED_ROUNDS = 5;
    private static volatile boolean open;

    public static void main(String[] args) throws Exception {
      long least = Long.MAX_VALUE;
      int settled = 0;
      for (int i = 0; i < MAX_ROUNDS && settled < SETTLED_ROUNDS; i++) {
        long each = park(THREADS / 4);
        settled = each < least * 0.99 ? 0 : settled + 1;
        least = Math.min(least, each);
      }
      for (int i = 0; i < 3; i++) {
        least = Math.min(least, park(THREADS));
      }
      System.out.println("settled=" + settled);
      System.out.println("bytesEach=" + least);
    }

    private static long park(int n) throws Exception {
      open = false;
      List<Thread> threads = new ArrayList<>(n);
      long before = used();
      for (int i = 0; i < n; i++) {
        threads.add(Thread.startVirtualThread(ParkedProgram::pass));
      }
      for (Thread t : threads) {
        while (t.getState() != Thread.State.WAITING) {
          Thread.sleep(1);
        }
      }
      long each = (used() - before) / n;
      open = true;
      for (Thread t : threads) {
        LockSupport.unpark(t);
      }
      for (Thread t : threads) {
        t.join();
      }
      return each;
    }

    private static void pass() {
      while (!open) {
        LockSupport.park();
      }
    }

    private static long used() {
      System.gc();
      System.gc();
      return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
  }

  /// What is more is the goroutine beside the thread.
  @Test
  void aParkedThreadTakesAtMostAFifthMoreThanOnTheJdk() throws Exception {
    long without = least(List.of("-Xmx512m"));
    long with = least(List.of("-Xmx512m", AgentJvm.agent("")));
    String text = "a parked virtual thread: %d bytes without, %d with".formatted(without, with);
    System.out.println(text);
    assertTrue(with <= without * 1.2, text);
    assertTrue(without > 200 && with > without, text);
  }

  /// Of three runs: what else is on the heap only ever adds.
  private static long least(List<String> jvmArgs) throws Exception {
    return Math.min(bytes(jvmArgs), Math.min(bytes(jvmArgs), bytes(jvmArgs)));
  }

  private static long bytes(List<String> jvmArgs) throws Exception {
    var child = AgentJvm.run(jvmArgs, ParkedProgram.class).succeeded();
    assertTrue(child.figure("settled") > 0, child.out());
    return child.figure("bytesEach");
  }
}
