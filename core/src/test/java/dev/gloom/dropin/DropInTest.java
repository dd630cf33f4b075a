package dev.gloom.dropin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.InaccessibleObjectException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import jdk.management.VirtualThreadSchedulerMXBean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What the agent does for a program that knows nothing of it.
@Timeout(300)
class DropInTest {
  @Test
  void everyWayToAVirtualThreadLeadsToGloom() throws Exception {
    var child =
        AgentJvm.run(
                List.of(AgentJvm.agent(""), "--enable-preview", "-ea"), EverywhereProgram.class)
            .succeeded();
    assertEquals("", child.err());
    List<String> lines = child.out().lines().toList();
    assertEquals(12, lines.size(), child.out());
    for (String line : lines) {
      assertTrue(line.endsWith(": gloom"), child.out());
    }
  }

  @Test
  void withoutItTheyAreTheJdks() throws Exception {
    var child =
        AgentJvm.run(List.of("--enable-preview", "-ea"), EverywhereProgram.class).succeeded();
    for (String line : child.out().lines().toList()) {
      assertTrue(line.endsWith(": jdk"), child.out());
    }
  }

  // What the JDK's own bean says of its scheduler.

  static final class BeanProgram {
    public static void main(String[] args) throws Exception {
      var bean = ManagementFactory.getPlatformMXBean(VirtualThreadSchedulerMXBean.class);
      System.out.println("parallelism=" + bean.getParallelism());
      var go = new CountDownLatch(1);
      var running = new CountDownLatch(2);
      Runnable hog =
          () -> {
            running.countDown();
            while (go.getCount() != 0) {
              Thread.onSpinWait();
            }
          };
      Thread[] all = new Thread[10];
      for (int i = 0; i < all.length; i++) {
        all[i] = Thread.startVirtualThread(hog);
      }
      running.await();
      System.out.println("mounted=" + (bean.getMountedVirtualThreadCount() >= 2 ? 2 : 0));
      System.out.println("queued=" + (bean.getQueuedVirtualThreadCount() > 0 ? 1 : 0));
      System.out.println("pool=" + (bean.getPoolSize() >= 2 ? 2 : 0));
      bean.setParallelism(3);
      System.out.println("after=" + bean.getParallelism());
      go.countDown();
      for (Thread t : all) {
        t.join();
      }
      try {
        bean.setParallelism(0);
      } catch (IllegalArgumentException e) {
        System.out.println("refused=1");
      }
      System.out.println(
          "name="
              + (Thread.getAllStackTraces().keySet().stream()
                      .anyMatch(t -> t.getName().startsWith("ForkJoinPool"))
                  ? 1
                  : 0));
    }
  }

  @Test
  void theJdksBeanReportsGloomsFigures() throws Exception {
    var child = AgentJvm.run(List.of(AgentJvm.agent("maxprocs=2")), BeanProgram.class).succeeded();
    assertEquals(2, child.figure("parallelism"));
    assertEquals(2, child.figure("mounted"));
    assertEquals(1, child.figure("queued"));
    assertEquals(2, child.figure("pool"));
    assertEquals(3, child.figure("after"));
    assertEquals(1, child.figure("refused"));
    assertEquals(0, child.figure("name"), "the JDK's pool has started a thread");
    assertEquals("", child.err());
  }

  // The JDK stays closed.

  /// With the argument `gloom` it uses gloom's API first, on the same class path.
  static final class ClosedProgram {
    public static void main(String[] args) throws Exception {
      if (args.length != 0) {
        Gloom.run(() -> System.out.println("goroutine " + WhereProgram.here()));
      }
      Thread.startVirtualThread(() -> {}).join();
      attempt(Thread.class.getDeclaredMethod("currentCarrierThread"));
      attempt(Class.forName("java.lang.VirtualThread").getDeclaredField("state"));
      attempt(Class.forName("jdk.internal.vm.ThreadContainers").getDeclaredMethod("root"));
      attempt(Class.forName("jdk.internal.misc.Unsafe").getDeclaredMethod("getUnsafe"));
      attempt(Class.forName("java.lang.GloomStaticField").getDeclaredMethods()[0]);
    }

    private static void attempt(AccessibleObject member) {
      try {
        member.setAccessible(true);
        System.out.println("open: " + member);
      } catch (InaccessibleObjectException e) {
        System.out.println("closed");
      }
    }
  }

  @Test
  void theJdkStaysClosedToTheProgram() throws Exception {
    var child = AgentJvm.run(List.of(AgentJvm.agent("")), ClosedProgram.class).succeeded();
    assertEquals("closed\n".repeat(5), child.out());
  }

  @Test
  void alsoToOneThatUsesGloomOnTheSameClassPath() throws Exception {
    String classPath =
        AgentJvm.jar() + File.pathSeparator + dev.gloom.api.ChildJvm.pathOf(ClosedProgram.class);
    var child =
        AgentJvm.run(classPath, List.of(AgentJvm.agent("")), ClosedProgram.class, "gloom")
            .succeeded();
    assertEquals("goroutine gloom\n" + "closed\n".repeat(5), child.out());
    assertEquals("", child.err());
  }

  // Its own threads.

  static final class ThreadsProgram {
    public static void main(String[] args) throws Exception {
      var local = new InheritableThreadLocal<String>();
      local.set("main's");
      var other = new ClassLoader(null) {};
      Thread.currentThread().setContextClassLoader(other);
      var seen = new AtomicReference<String>();
      Thread t =
          Thread.ofVirtual()
              .unstarted(
                  () -> {
                    seen.set(local.get());
                    LockSupport.parkNanos(1_000_000);
                  });
      t.start();
      t.join();
      System.out.println(seen.get());
      for (Thread own : Thread.getAllStackTraces().keySet()) {
        if (own.getName().startsWith("gloom")) {
          if (!own.isDaemon() || own.getContextClassLoader() == other) {
            System.out.println("takes after the program: " + own);
          }
        }
      }
    }
  }

  @Test
  void gloomsThreadsInheritNothingOfTheProgram() throws Exception {
    var child = AgentJvm.run(List.of(AgentJvm.agent("")), ThreadsProgram.class).succeeded();
    assertEquals("main's\n", child.out());
  }
}
