package dev.gloom.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class OptionsTest {
  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", " ", ",", "mode=on", " mode = on ,"})
  void defaults(String text) {
    var options = Options.parse(text);
    assertEquals(Options.Mode.ON, options.mode());
    assertFalse(options.stopIfUnsupported());
    assertFalse(options.help());
    assertEquals(List.of(), options.include());
    assertEquals(List.of(), options.exclude());
    assertEquals(Map.of(), options.properties());
  }

  @Test
  void allOfThem() {
    var options =
        Options.parse(
            "mode=observe,maxprocs=3,include=a.b:c,exclude=a.b.d,unsupported=stop,slice=5,preempt=eager,onbug=log,debug=schedtrace=1000;scheddetail=1,help");
    assertEquals(Options.Mode.OBSERVE, options.mode());
    assertTrue(options.stopIfUnsupported());
    assertTrue(options.help());
    assertEquals(List.of("a.b", "c"), options.include());
    assertEquals(List.of("a.b.d"), options.exclude());
    assertEquals(
        Map.of(
            "gloom.maxprocs", "3",
            "gloom.slice", "5",
            "gloom.preempt", "eager",
            "gloom.onbug", "log",
            "gloom.debug", "schedtrace=1000,scheddetail=1"),
        options.properties());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\'',
      value = {
        "mode=of | the option mode is \"of\" but must be on, observe or off",
        "mode | the option mode is \"\" but must be on, observe or off",
        "maxprocs=0 | the option maxprocs is \"0\" but must be a whole number from 1 to 65536",
        "slice=0 | the option slice is \"0\" but must be a whole number of milliseconds from 1 to 60000 (preempt=off is for no preemption)",
        "slice=1h | the option slice is \"1h\" but must be a whole number of milliseconds from 1 to 60000 (preempt=off is for no preemption)",
        "preempt=on | the option preempt is \"on\" but must be adaptive, eager or off",
        "maxprocs=2x | the option maxprocs is \"2x\" but must be a whole number from 1 to 65536",
        "maxprocs=65537 | the option maxprocs is \"65537\" but must be a whole number from 1 to 65536",
        "onbug=stop | the option onbug is \"stop\" but must be halt or log",
        "unsupported=exit | the option unsupported is \"exit\" but must be run or stop",
        "include= | the option include is \"\" but must be package names, with : between them",
        "exclude=a:: | the option exclude is \"a::\" but must be package names, with : between them",
        "exclude=a.*:b | the option exclude is \"a.*:b\" but must be package names, with : between them",
        "debug=x | the option debug is \"x\" but must be settings as schedtrace=1000, with ; between them",
        "help=me | the option help is \"me\" but must be given without a value",
        "mode=on,mode=on | the option mode is given twice",
        "mdoe=on | there is no option \"mdoe\": -javaagent:gloom.jar=help lists them",
        "=on | there is no option \"\": -javaagent:gloom.jar=help lists them",
      })
  void whatIsWrongIsNamedWithWhatIsRight(String text, String message) {
    // A right one comes first: it must not have been applied when the wrong one is found.
    var e =
        assertThrows(
            IllegalArgumentException.class,
            () -> Options.parse(text.startsWith("debug") ? text : "debug=a=b," + text));
    assertEquals(message, e.getMessage());
    assertNull(System.getProperty("gloom.debug"));
  }

  @Test
  void helpNamesEveryOption() {
    for (String name :
        List.of(
            "mode", "maxprocs", "include", "exclude", "unsupported", "onbug", "debug", "help")) {
      assertTrue(Options.HELP.contains("\n  " + name), name);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "a.b,, a.b.C, true",
    "a.b,, a.b.c.D, true",
    "a.b,, a.bc.D, false",
    "a.b,, a.b, false",
    ", a.b, a.b.C, false",
    ", a.b, x.Y, true",
    "a, a.b, a.b.C, false",
    "a, a.b, a.C, true",
  })
  void packagesAndThoseBelow(String include, String exclude, String starter, boolean wanted) {
    var options =
        Options.parse(
            (include == null ? "" : "include=" + include)
                + ","
                + (exclude == null ? "" : "exclude=" + exclude));
    assertEquals(wanted, Packages.of(options).want(starter));
  }
}
