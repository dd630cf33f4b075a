package dev.gloom.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(20)
class DebugTest {
  @ParameterizedTest
  @CsvSource({
    "a=1, 1",
    "'a=1,', 1",
    "',a=1', 1",
    "'b=2,a=1,c=3', 1",
    "'a=1,a=2', 2",
    "'a=1,b=a=2', 1",
    "a=1=2, 1=2",
    "a=, ''",
    "'a=,b=1', ''",
    "'', ",
    "',', ",
    "a, ",
    "'a,b=1', ",
    "aa=1, ",
    "ba=1, ",
    "' a=1', ",
    "A=1, "
  })
  void lastValueOfAKeyCounts(String list, String expected) {
    assertEquals(expected, Debug.value(list, "a"));
  }
}
