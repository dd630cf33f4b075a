package dev.gloom.dropin;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What a parked virtual thread takes under the agent, beside the plain JDK.
@Timeout(300)
class DropInMemoryTest {
  private static final int THREADS = 50_000;

  /// Parks so many virtual threads, twice (frames of the interpreter are larger: the first ones
  /// have those), and prints the heap's growth for each of the second lot.
  static final class ParkedProgram {
    private static volatile boolean open;

    public static void main(String[] args) throws Exception {
      park(20_000);
      System.out.println("bytesEach=" + park(THREADS));
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

  /// Slow: what is measured depends on how much has been compiled by then, and has not settled.
  @Tag("slow")
  @Test
  void aParkedThreadTakesAtMostAFifthMoreThanOnTheJdk() throws Exception {
    long without = bytes(List.of("-Xmx512m"));
    long with = bytes(List.of("-Xmx512m", AgentJvm.agent("")));
    String text = "a parked virtual thread: %d bytes without, %d with".formatted(without, with);
    System.out.println(text);
    assertTrue(with <= without * 1.2, text);
    assertTrue(without > 200, text);
  }

  private static long bytes(List<String> jvmArgs) throws Exception {
    return AgentJvm.run(jvmArgs, ParkedProgram.class).succeeded().figure("bytesEach");
  }
}
