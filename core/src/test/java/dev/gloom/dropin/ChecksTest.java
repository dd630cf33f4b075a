package dev.gloom.dropin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.ChildJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Virtual threads behave under the agent as OpenJDK makes them: {@link ChecksProgram}, run without
/// it and with it. The table of both columns is docs/AGENT-CHECKS.md.
@Timeout(300)
class ChecksTest {
  private static final Path DOCUMENT = Path.of("..", "docs", "AGENT-CHECKS.md");

  @Test
  void sameAnswersWithTheAgentAndWithout() throws Exception {
    Map<String, String> without = answers(List.of());
    Map<String, String> with = answers(List.of(AgentJvm.agent("")));
    var table = new StringBuilder();
    for (String check : without.keySet()) {
      table.append("| %s | %s | %s |\n".formatted(check, without.get(check), with.get(check)));
      assertTrue(!without.get(check).startsWith("threw "), check + ": " + without.get(check));
    }
    assertEquals(without, with);
    assertTrue(without.size() >= 55, () -> "only " + without.size() + " checks");
    Files.writeString(Path.of("target", "AGENT-CHECKS.md"), table);
    assertTrue(
        Files.readString(DOCUMENT).endsWith("\n" + table),
        "docs/AGENT-CHECKS.md is out of date: its table is now core/target/AGENT-CHECKS.md");
  }

  private static Map<String, String> answers(List<String> jvmArgs) throws Exception {
    ChildJvm child = AgentJvm.run(jvmArgs, ChecksProgram.class).succeeded();
    assertEquals("", child.err());
    var answers = new LinkedHashMap<String, String>();
    for (String line : child.out().lines().toList()) {
      int tab = line.indexOf('\t');
      answers.put(line.substring(0, tab), line.substring(tab + 1));
    }
    return answers;
  }
}
