package dev.gloom.contract;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.ChildJvm;
import dev.gloom.api.Lab;
import dev.gloom.contract.StackOverflowProgram.Deed;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The contract of `execute`: a StackOverflowError inside it, at any depth, loses nothing. Whoever
/// woke or started a goroutine and got no error has woken or started it.
@Timeout(240)
class StackOverflowTest {
  /// The first rounds are interpreted, the later ones compiled.
  private static final int ROUNDS = 8;

  /// Here the monitor may take a second to find what was stranded.
  private static final int ROUNDS_WITH_IDLE_PROCS = 2;

  @ParameterizedTest
  @CsvSource({"1, UNPARK", "2, UNPARK", "8, UNPARK", "1, UNPARK_FULL", "2, UNPARK_FULL"})
  void wakeUpsAtEachDepthOfAGoroutine(int procs, Deed deed) throws Exception {
    check(procs, deed, true, ROUNDS);
  }

  @ParameterizedTest
  @CsvSource({"1, START", "2, START", "8, START", "2, GO", "2, ADOPT"})
  void startsAtEachDepthOfAGoroutine(int procs, Deed deed) throws Exception {
    check(procs, deed, true, ROUNDS);
  }

  /// All processors are idle here, and the monitor sleeps.
  @ParameterizedTest
  @CsvSource({"1, UNPARK", "2, START", "2, GO"})
  void alsoOnAPlatformThread(int procs, Deed deed) throws Exception {
    check(procs, deed, false, ROUNDS_WITH_IDLE_PROCS);
  }

  @Test
  void alsoInTheInterpreter() throws Exception {
    ChildJvm.run(200, List.of(ChildJvm.OPEN, "-ea", "-Xint"), StackOverflowProgram.class)
        .succeeded();
  }

  /// Channels are built of spin locks too, and of more than one step.
  @ParameterizedTest
  @CsvSource({"1, true", "2, true", "8, true", "2, false"})
  void channelsAtEachDepth(int procs, boolean fromGoroutine) throws Exception {
    try (var lab = Lab.procs(procs)) {
      for (var deed : ChannelStackOverflowProgram.Deed.values()) {
        for (int round = 0; round < ROUNDS / 2; round++) {
          ChannelStackOverflowProgram.run(lab.scheduler(), deed, fromGoroutine);
        }
      }
    }
  }

  @Test
  void channelsAlsoInTheInterpreter() throws Exception {
    ChildJvm.run(200, List.of(ChildJvm.OPEN, "-ea", "-Xint"), ChannelStackOverflowProgram.class)
        .succeeded();
  }

  /// Where goroutines meet there is no lock, and no queue in which somebody could be found.
  @ParameterizedTest
  @CsvSource({"-Xmixed, 200000", "-Xint, 2000"})
  void meetingsAtEachDepth(String mode, String ordinary) throws Exception {
    var jvmArgs = new ArrayList<>(List.of(ChildJvm.OPEN, "-ea", mode));
    compile(jvmArgs, "quiet");
    compile(jvmArgs, "exclude," + MeetingStackOverflowProgram.class.getName() + "::*");
    ChildJvm.run(100, jvmArgs, MeetingStackOverflowProgram.class, ordinary).succeeded();
  }

  /// Which calls of a select find no room depends on what the compiler puts into one frame. Here
  /// that is everything up to the moment at which the other side has been served, so the end of the
  /// stack comes right after it: the select has thrown, and whom it served goes on all the same.
  @Test
  void aSelectThatHasServedSomebodyAndHasNoRoomForMoreStillWakesIt() throws Exception {
    var jvmArgs = new ArrayList<>(List.of(ChildJvm.OPEN, "-Xbatch"));
    compile(jvmArgs, "quiet");
    compile(jvmArgs, "dontinline,dev.gloom.runtime.Selector::finish");
    for (String method :
        List.of(
            "Selector::allLookBlocked",
            "Selector::waiter",
            "Selector::lockAll",
            "Selector::pick",
            "Selector::step",
            "Channel::*",
            "WaitQueue::*",
            "Waiter::claim",
            "Waiter::casState",
            "Waiter::isStale",
            "Ticket::*",
            "SpinLock::acquire",
            "SpinLock::release",
            "Sched::preemptionPoint")) {
      compile(jvmArgs, "inline,dev.gloom.runtime." + method);
    }
    ChildJvm.run(100, jvmArgs, ChannelStackOverflowProgram.class, "8").succeeded();
  }

  private static void compile(List<String> jvmArgs, String how) {
    jvmArgs.add("-XX:CompileCommand=" + how);
  }

  private static void check(int procs, Deed deed, boolean fromGoroutine, int rounds)
      throws Exception {
    try (var lab = Lab.procs(procs)) {
      for (int round = 0; round < rounds; round++) {
        var outcome = StackOverflowProgram.run(lab.scheduler(), deed, fromGoroutine);
        String what = "round " + round + ": " + outcome;
        assertTrue(outcome.good(), what);
      }
    }
  }
}
