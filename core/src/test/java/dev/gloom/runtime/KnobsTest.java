package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(20)
class KnobsTest {
  private final Properties properties = new Properties();

  private Knobs knobs() {
    return Knobs.of(properties, Map.of());
  }

  private Knobs knobs(String goMaxProcs) {
    return Knobs.of(properties, Map.of("GOMAXPROCS", goMaxProcs));
  }

  private String refused() {
    return assertThrows(IllegalArgumentException.class, this::knobs).getMessage();
  }

  @Test
  void withoutSettingsThereAreAsManyProcessorsAsCpusAndJavasOwnHandlers() {
    assertEquals(new Knobs(Knobs.BY_DEFAULT, false, true), knobs());
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "2, 2", "65536, 65536", "' 3 ', 3", "+4, 4"})
  void maxprocsIsTaken(String value, int expected) {
    properties.setProperty("gloom.maxprocs", value);
    assertEquals(expected, knobs().maxProcs());
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "65537", "two", "", " ", "2.5", "99999999999"})
  void malformedMaxprocsIsRefusedWithWhatIsRight(String value) {
    properties.setProperty("gloom.maxprocs", value);
    assertEquals(
        "gloom: the system property gloom.maxprocs is \""
            + value
            + "\" but must be a whole number from 1 to 65536: correct or remove -Dgloom.maxprocs="
            + value,
        refused());
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "12, 12", "65536, 65536"})
  void gomaxprocsIsTaken(String value, int expected) {
    assertEquals(expected, knobs(value).maxProcs());
  }

  // As in Go.
  @ParameterizedTest
  @ValueSource(strings = {"0", "-3", "many", "", "1.5", "65537", "99999999999"})
  void malformedGomaxprocsIsIgnored(String value) {
    assertEquals(Knobs.BY_DEFAULT, knobs(value).maxProcs());
  }

  @Test
  void propertyWinsOverGomaxprocs() {
    properties.setProperty("gloom.maxprocs", "3");
    assertEquals(3, knobs("5").maxProcs());
  }

  @Test
  void malformedPropertyIsNotReplacedByGomaxprocs() {
    properties.setProperty("gloom.maxprocs", "x");
    assertThrows(IllegalArgumentException.class, () -> knobs("5"));
  }

  @Test
  void panicGoesToTheHandlerOrEndsTheProgram() {
    properties.setProperty("gloom.panic", "exit");
    assertTrue(knobs().exitOnPanic());
    properties.setProperty("gloom.panic", "handler");
    assertFalse(knobs().exitOnPanic());
  }

  @Test
  void bugHaltsOrIsLogged() {
    properties.setProperty("gloom.onbug", "log");
    assertFalse(knobs().haltOnBug());
    properties.setProperty("gloom.onbug", "halt");
    assertTrue(knobs().haltOnBug());
  }

  @ParameterizedTest
  @CsvSource({
    "gloom.panic, Exit, handler or exit",
    "gloom.panic, '', handler or exit",
    "gloom.onbug, ignore, halt or log"
  })
  void malformedWordIsRefusedWithTheRightOnes(String name, String value, String right) {
    properties.setProperty(name, value);
    assertEquals(
        "gloom: the system property %s is \"%s\" but must be %s: correct or remove -D%s=%s"
            .formatted(name, value, right, name, value),
        refused());
  }

  @ParameterizedTest
  @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 65_537, Integer.MAX_VALUE})
  void numberOfProcessorsOutOfRangeIsRefused(int n) {
    var refused = assertThrows(IllegalArgumentException.class, () -> Knobs.checkMaxProcs(n));
    assertEquals("maxProcs must be from 1 to 65536: " + n, refused.getMessage());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 65_536})
  void numberOfProcessorsInRangeIsTaken(int n) {
    assertEquals(n, Knobs.checkMaxProcs(n));
  }
}
