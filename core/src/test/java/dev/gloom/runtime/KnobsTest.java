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
  @CsvSource({"'', true", "true, true", "TRUE, true", "false, false", "no, false"})
  void whetherGoroutinesThatNobodyCanWakeAreKeptIsTheJdksSetting(String value, boolean expected) {
    assertEquals(true, knobs().keepsAll());
    properties.setProperty("jdk.trackAllThreads", value);
    assertEquals(expected, knobs().keepsAll());
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
  @CsvSource({"1, 1", "10, 10", "' 25 ms', 25", "60000ms, 60000"})
  void sliceIsTaken(String value, long millis) {
    properties.setProperty("gloom.slice", value);
    assertEquals(millis * 1_000_000, knobs().preemption().sliceNanos());
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "60001", "3600000", "1s", "", "2.5", "ten"})
  void malformedSliceIsRefusedWithWhatIsRight(String value) {
    properties.setProperty("gloom.slice", value);
    assertEquals(
        "gloom: the system property gloom.slice is \""
            + value
            + "\" but must be a whole number of milliseconds from 1 to 60000 (preempt=off is for no"
            + " preemption): correct or remove -Dgloom.slice="
            + value,
        refused());
  }

  @ParameterizedTest
  @CsvSource({"adaptive, ADAPTIVE", "eager, EAGER", "off, OFF"})
  void preemptIsTaken(String value, Preemption.Mode mode) {
    properties.setProperty("gloom.preempt", value);
    assertEquals(mode, knobs().preemption().mode());
  }

  @Test
  void malformedPreemptIsRefusedWithWhatIsRight() {
    properties.setProperty("gloom.preempt", "always");
    assertEquals(
        "gloom: the system property gloom.preempt is \"always\" but must be adaptive, eager or off:"
            + " correct or remove -Dgloom.preempt=always",
        refused());
  }

  @ParameterizedTest
  @CsvSource({"lean, true", "jdk, false"})
  void mountIsTaken(String value, boolean lean) {
    properties.setProperty("gloom.mount", value);
    assertEquals(lean, knobs().leanMount());
  }

  @Test
  void malformedMountIsRefusedWithWhatIsRight() {
    properties.setProperty("gloom.mount", "fast");
    assertEquals(
        "gloom: the system property gloom.mount is \"fast\" but must be lean or jdk: correct or"
            + " remove -Dgloom.mount=fast",
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
    "gloom.onbug, ignore, halt or log",
    "gloom.deadlock, on, report or off",
    "gloom.maxthreads, 0, a whole number from 1 on",
    "gloom.maxthreads, -5, a whole number from 1 on",
    "gloom.maxthreads, 1e4, a whole number from 1 on",
    "gloom.maxthreads, '', a whole number from 1 on",
    "gloom.maxthreads, 99999999999, a whole number from 1 on",
    "gloom.maxovercommit, -1, a whole number from 0 on",
    "gloom.maxovercommit, all, a whole number from 0 on",
    "gloom.debug, schedtrace, 'schedtrace=MILLISECONDS, scheddetail=0 or 1, containermaxprocs=0, updatemaxprocs=0, separated by commas'",
    "gloom.debug, '', 'schedtrace=MILLISECONDS, scheddetail=0 or 1, containermaxprocs=0, updatemaxprocs=0, separated by commas'",
    "gloom.debug, schedtrace=-1, 'schedtrace=MILLISECONDS, scheddetail=0 or 1, containermaxprocs=0, updatemaxprocs=0, separated by commas'",
    "gloom.debug, gctrace=1, 'schedtrace=MILLISECONDS, scheddetail=0 or 1, containermaxprocs=0, updatemaxprocs=0, separated by commas'",
    "gloom.debug, 'schedtrace=1000,', 'schedtrace=MILLISECONDS, scheddetail=0 or 1, containermaxprocs=0, updatemaxprocs=0, separated by commas'"
  })
  void malformedWordIsRefusedWithTheRightOnes(String name, String value, String right) {
    properties.setProperty(name, value);
    assertEquals(
        "gloom: the system property %s is \"%s\" but must be %s: correct or remove -D%s=%s"
            .formatted(name, value, right, name, value),
        refused());
  }

  @Test
  void limitsAreTaken() {
    assertEquals(10_000, knobs().maxThreads(), "Go's");
    assertEquals(Knobs.OVERCOMMIT_BY_DEFAULT, knobs().maxOvercommit());
    properties.setProperty("gloom.maxthreads", " 7 ");
    properties.setProperty("gloom.maxovercommit", "0");
    assertEquals(7, knobs().maxThreads());
    assertEquals(0, knobs().maxOvercommit());
  }

  private Debug debug(String godebug) {
    return Knobs.of(properties, Map.of("GODEBUG", godebug)).debug();
  }

  @Test
  void debugIsTakenFromTheProperty() {
    properties.setProperty("gloom.debug", "schedtrace=1000, scheddetail=1");
    assertEquals(new Debug(1_000, true), knobs().debug());
    properties.setProperty("gloom.debug", "scheddetail=1");
    assertEquals(new Debug(0, true), knobs().debug());
    assertFalse(knobs().debug().traces());
  }

  // As in Go: what is not known or not right is ignored, the last of a key counts.
  @ParameterizedTest
  @CsvSource({
    "'schedtrace=1000', 1000, false",
    "'gctrace=1,schedtrace=5,madvdontneed=1,scheddetail=1', 5, true",
    "'schedtrace=x,scheddetail=1', 0, true",
    "'schedtrace=5,schedtrace=7', 7, false",
    "'schedtrace=7,schedtrace=x', 7, false",
    "'schedtrace=7,scheddetail=1,scheddetail=0', 7, false",
    "',,=,schedtrace=,schedtrace', 0, false",
    "'', 0, false",
    "'schedtrace=99999999999', 0, false"
  })
  void godebugIsReadAsInGo(String value, int millis, boolean detail) {
    assertEquals(new Debug(millis, detail), debug(value));
  }

  @Test
  void propertyComesBeforeGodebugKeyByKey() {
    properties.setProperty("gloom.debug", "schedtrace=3");
    assertEquals(new Debug(3, true), debug("schedtrace=1000,scheddetail=1"));
  }

  @ParameterizedTest
  @CsvSource({"USR1, USR1", "SIGUSR1, USR1", "off, "})
  void signalHasItsNameWithOrWithoutSig(String value, String expected) {
    assertEquals(null, knobs().dumpSignal());
    properties.setProperty("gloom.dumpsignal", value);
    assertEquals(expected, knobs().dumpSignal());
  }

  @Test
  void deadlocksAreLookedForUnlessSwitchedOff() {
    assertTrue(knobs().detectDeadlock());
    properties.setProperty("gloom.deadlock", "off");
    assertFalse(knobs().detectDeadlock());
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
