package dev.gloom.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.ChildJvm;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// More goroutines than memory: an OutOfMemoryError in the spawner, the others go on.
@Timeout(180)
class OutOfMemoryTest {
  @ParameterizedTest
  @CsvSource({"platform, 2", "goroutine, 2", "platform+sleepers, 2"})
  void theSpawnerGetsTheErrorAndEverybodyElseCanBeWoken(String who, String procs) throws Exception {
    var child =
        ChildJvm.run(
                120,
                List.of(ChildJvm.OPEN, "-ea", "-Xmx32m", "-XX:+UseSerialGC"),
                OutOfMemoryProgram.class,
                who,
                procs)
            .succeeded();
    assertEquals(1, child.figure("error"));
    assertTrue(child.figure("started") > 5_000);
    assertEquals(child.figure("started"), child.figure("ended"));
    assertEquals(10_000, child.figure("after"), "the scheduler works as before");
    for (String line : child.err().lines().toList()) {
      assertTrue(line.startsWith("gloom: cannot start a thread, trying again"), child::err);
    }
  }
}
