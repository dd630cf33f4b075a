package dev.gloom.runtime;

import dev.gloom.api.ChildJvm;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What a goroutine reads from a socket is what was sent, also if reads that would be in vain are
/// not tried.
@Timeout(120)
class ReadsTest {
  @ParameterizedTest
  @CsvSource({"edge, 1", "edge, 2", "edge, 8", "epoll, 2"})
  void getAllThatCameAndTheEnd(String mode, int procs) throws Exception {
    ChildJvm.run(
            100,
            List.of(ChildJvm.OPEN, "-Dgloom.netpoll=" + mode, "-Dgloom.maxprocs=" + procs, "-ea"),
            ReadsProgram.class,
            mode)
        .succeeded();
  }
}
