package dev.gloom.java;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.Lab;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The whole of java.util.concurrent on goroutines: each class under a stress of its own, whose
/// outcome is known, and equal to that on the JDK's own virtual threads.
@Timeout(300)
class ConcurrentTest {
  private static final int QUICK = 4;
  private static final int SLOW = 40;

  /// Classes that have nothing to schedule.
  private static final Set<Class<?>> NOTHING_TO_DO =
      Set.of(
          ForkJoinWorkerThread.class, // a platform thread, used through ForkJoinPool
          TimeUnit.class); // its waits are in TimedWaitTest

  static List<ConcurrentCase> cases() {
    var all = new ArrayList<ConcurrentCase>();
    all.addAll(LockCases.cases());
    all.addAll(SynchronizerCases.cases());
    all.addAll(QueueCases.cases());
    all.addAll(CollectionCases.cases());
    all.addAll(ExecutorCases.cases());
    return all;
  }

  @ParameterizedTest
  @MethodSource("cases")
  void doesAsTheJdkDoes(ConcurrentCase c) {
    compare(c, QUICK * Lab.stress());
  }

  @ParameterizedTest
  @MethodSource("cases")
  @Tag("slow")
  void doesAsTheJdkDoesForLonger(ConcurrentCase c) {
    compare(c, SLOW * Lab.stress());
  }

  private static void compare(ConcurrentCase c, int scale) {
    Lab.seeded(
        seed -> {
          Object expected = c.expected().apply(scale);
          assertEquals(expected, Crew.onTheJdk(seed, scale, c.stress()), "on the JDK's scheduler");
          for (int procs : new int[] {1, 2, 8}) {
            assertEquals(
                expected,
                Crew.onGloom(procs, seed, scale, c.stress()),
                () -> "on " + procs + " processors");
          }
        });
  }

  /// A class that a newer JDK adds is missed here.
  @Test
  void noClassIsForgotten() throws Exception {
    var tested = new HashSet<Class<?>>(NOTHING_TO_DO);
    for (ConcurrentCase c : cases()) {
      tested.add(c.of());
    }
    var forgotten = new TreeSet<String>();
    int seen = 0;
    for (String name : List.of("", "locks/", "atomic/")) {
      Path dir =
          FileSystems.getFileSystem(URI.create("jrt:/"))
              .getPath("/modules/java.base/java/util/concurrent/" + name);
      try (Stream<Path> files = Files.list(dir)) {
        for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
          String path = dir.relativize(file).toString();
          Class<?> type =
              Class.forName(
                  "java.util.concurrent."
                      + name.replace('/', '.')
                      + path.substring(0, path.length() - ".class".length()));
          if (isOne(type)) {
            seen++;
            if (!tested.contains(type)) {
              forgotten.add(type.getName());
            }
          }
        }
      }
    }
    assertEquals(Set.of(), forgotten);
    assertTrue(seen > 50, "saw only " + seen);
  }

  private static boolean isOne(Class<?> type) {
    return Modifier.isPublic(type.getModifiers())
        && !type.isInterface()
        && type.getEnclosingClass() == null
        && !Exception.class.isAssignableFrom(type);
  }
}
