package dev.gloom.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.HotSpotDiagnosticMXBean;
import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import dev.gloom.api.ChildJvm;
import dev.gloom.api.Lab;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The JDK's own thread dumps list every goroutine, though the JDK does not keep track of them.
///
/// A dump that is taken while tasks move is a trap that others fell into, the JDK too: on JDK 25 it
/// crashes the JVM with any scheduler (JDK-8364343). So the real dump is taken of parked
/// goroutines, in a JVM of its own; what gloom adds to a dump, the list of its goroutines, is asked
/// for while they come and go; and {@link StackTraceStormTest} looks at the stacks of those that
/// move.
@Timeout(120)
class ThreadDumpTest {
  static final class Program {
    private static final Pattern TID = Pattern.compile("\"tid\": \"?(\\d+)\"?");

    public static void main(String[] args) throws Exception {
      Scheduler scheduler = Scheduler.builder().maxProcs(2).build();
      var threads = new HashMap<String, Thread>();
      Thread made = scheduler.threadFactory().newThread(LockSupport::park);
      made.start();
      threads.put("factory", made);
      scheduler.run(() -> threads.put("adopted", Thread.startVirtualThread(LockSupport::park)));
      for (int i = 0; i < 100; i++) {
        threads.put("goroutine " + i, scheduler.go("parked " + i, LockSupport::park).thread());
      }
      for (Thread t : threads.values()) {
        Lab.await(t + " parks", () -> t.getState() == Thread.State.WAITING);
      }
      String dump = dump();
      Map<Long, Integer> listed = new HashMap<>();
      var matcher = TID.matcher(dump);
      while (matcher.find()) {
        listed.merge(Long.parseLong(matcher.group(1)), 1, Integer::sum);
      }
      threads.forEach(
          (name, t) -> System.out.println(name + "=" + listed.getOrDefault(t.threadId(), 0)));
      System.out.println("containers=" + dump.split("\"container\": \"gloom\"", -1).length);
      System.out.println("names=" + (dump.contains("\"name\": \"parked 7\"") ? 1 : 0));
      System.out.println("stacks=" + (dump.contains("LockSupport.park") ? 1 : 0));
    }

    private static String dump() throws Exception {
      Path dir = Files.createTempDirectory("gloom");
      Path file = dir.resolve("dump.json");
      ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
          .dumpThreads(file.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.JSON);
      String dump = Files.readString(file);
      Files.delete(file);
      Files.delete(dir);
      return dump;
    }
  }

  @Test
  void aDumpListsEveryGoroutineUnderItsScheduler() throws Exception {
    var child = ChildJvm.run(60, List.of(ChildJvm.OPEN, "-ea"), Program.class).succeeded();
    for (int i = 0; i < 100; i++) {
      assertEquals(1, child.figure("goroutine " + i));
    }
    // The JDK tracks these itself, so that they may be listed once more.
    assertTrue(child.figure("factory") >= 1);
    assertTrue(child.figure("adopted") >= 1);
    assertEquals(2, child.figure("containers"), "one container of this name");
    assertEquals(1, child.figure("names"));
    assertEquals(1, child.figure("stacks"));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void theListForDumpsIsRightWhileGoroutinesComeAndGo(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      String prefix = lab.threadPrefix();
      String name = prefix.substring(0, prefix.length() - 1);
      var gate = new CountDownLatch(1);
      var stable = new Goroutine[100];
      for (int i = 0; i < stable.length; i++) {
        stable[i] = lab.go(gate::await);
      }
      var stop = new AtomicBoolean();
      var steps = new AtomicInteger();
      var moving = new Goroutine[20];
      for (int i = 0; i < moving.length; i++) {
        moving[i] =
            lab.go(
                () -> {
                  while (!stop.get()) {
                    lab.go(() -> {}).join();
                    Gloom.gosched();
                    LockSupport.parkNanos(10_000);
                    steps.incrementAndGet();
                  }
                });
      }
      for (int i = 0; i < 300; i++) {
        int before = steps.get();
        List<Thread> listed = threadsOf(name);
        Set<Thread> distinct = new HashSet<>(listed);
        assertEquals(distinct.size(), listed.size(), "some are listed twice");
        for (Goroutine g : stable) {
          assertTrue(distinct.contains(g.thread()), () -> g + " is not listed");
        }
        for (Goroutine g : moving) {
          assertTrue(distinct.contains(g.thread()), () -> g + " is not listed");
        }
        if (i % 30 == 0) {
          Lab.await("they go on", () -> steps.get() > before);
        }
      }
      stop.set(true);
      gate.countDown();
      Lab.quiet(lab.scheduler());
      assertEquals(List.of(), threadsOf(name));
    }
  }

  /// What the JDK asks a dump's containers for.
  private static List<Thread> threadsOf(String container) throws Exception {
    Class<?> containers = Class.forName("jdk.internal.vm.ThreadContainers");
    Object root = open(containers, "root").invoke(null);
    try (var children =
        (Stream<?>) open(root.getClass().getSuperclass(), "children").invoke(root)) {
      for (Object child : children.toList()) {
        if (child.toString().equals(container)) {
          Class<?> type = Class.forName("jdk.internal.vm.ThreadContainer");
          try (var threads = (Stream<?>) open(type, "threads").invoke(child)) {
            return threads.map(Thread.class::cast).toList();
          }
        }
      }
    }
    throw new AssertionError("no container " + container);
  }

  private static Method open(Class<?> type, String name) throws Exception {
    for (Class<?> c = type; c != null; c = c.getSuperclass()) {
      for (Method m : c.getDeclaredMethods()) {
        if (m.getName().equals(name) && m.getParameterCount() == 0) {
          m.setAccessible(true);
          return m;
        }
      }
    }
    throw new NoSuchMethodException(type + "." + name);
  }
}
