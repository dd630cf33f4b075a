package dev.gloom.dropin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Under the agent the JDK's own calls that hold their thread say so.
@Timeout(240)
class AnnouncementsTest {
  @Test
  void callsOfTheJdkAnnounceThemselves() throws Exception {
    var child =
        AgentJvm.run(List.of(AgentJvm.agent("maxprocs=2"), "-Xverify:all"), FilesProgram.class);
    assertEquals(0, child.status(), child.err());
    assertEquals("", child.err());
    Map<String, Long> seen =
        child
            .out()
            .lines()
            .map(line -> line.split(" "))
            .collect(Collectors.toMap(words -> words[0], words -> Long.parseLong(words[1])));
    for (String what :
        List.of("stream", "output", "random", "nio", "lock", "name", "process", "missing")) {
      assertTrue(seen.get(what) >= 1, what + ": " + child.out());
    }
    assertTrue(seen.get("retaken") >= 1, child.out());
    assertEquals(0, seen.get("rescues"), child.out());
  }

  /// libinstrument would end the JVM if it had to say that there is no memory.
  @Test
  void heapThatIsFullAtOnceIsSurvived() throws Exception {
    var jvm = List.of(AgentJvm.agent("maxprocs=2"), "-Xmx48m");
    for (int i = 0; i < 2; i++) {
      var child = AgentJvm.run(jvm, FilesProgram.class, "full");
      assertEquals("0 alive\n", child.status() + " " + child.out(), child.err());
      assertEquals("", child.err());
    }
  }
}
