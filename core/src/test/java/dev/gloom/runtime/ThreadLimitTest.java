package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.ChildJvm;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// `gloom.maxthreads` is reached: the program is told once, waits, and goes on.
@Timeout(120)
@EnabledOnOs(OS.LINUX)
class ThreadLimitTest {
  @ParameterizedTest
  @CsvSource({"1, 2", "3, 2", "3, 1"})
  void schedulerGoesOnWhenThreadsComeBack(int maxThreads, int procs) throws Exception {
    int blocked = 3 * maxThreads + 3;
    ChildJvm child =
        ChildJvm.run(
                60,
                List.of(
                    ChildJvm.OPEN,
                    "--enable-native-access=ALL-UNNAMED",
                    "-Dgloom.maxthreads=" + maxThreads,
                    "-Dgloom.maxprocs=" + procs),
                ThreadLimitProgram.class,
                "" + blocked)
            .succeeded();
    assertEquals(2 * (blocked + 200), child.figure("back"));
    assertEquals(maxThreads, child.figure("most"));
    assertEquals(0, child.figure("rescues"));
    String said = "gloom: program exceeds " + maxThreads + "-thread limit: goroutines wait";
    assertEquals(2, child.err().split(said, -1).length, child.err());
    assertTrue(child.err().contains("or raise -Dgloom.maxthreads"), child.err());
  }
}
