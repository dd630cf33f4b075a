package dev.gloom.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(10)
class JsonTest {
  @Test
  void oneObjectForEachPeerThatWasMeasured() {
    List<Outcome> outcomes =
        List.of(
            new Outcome.Measured(
                "yield/1p", "gloom", "gloom 1", new double[] {140.25, 141, 150}, Map.of(), 0),
            new Outcome.Absent("yield/1p", "go", "missing", "no `go` on the PATH"),
            new Outcome.Failed("yield/1p", "jdk", "it ended"),
            new Outcome.Measured(
                "yield/2p", "gloom", "gloom 1", new double[] {1.001, 1.002}, Map.of(), 0));

    assertEquals(
        """
        [
          {"case": "yield/1p", "peer": "gloom", "version": "gloom 1", "unit": "ns/op", \
        "rounds": [140.25, 141, 150], "median": 141},
          {"case": "yield/2p", "peer": "gloom", "version": "gloom 1", "unit": "ns/op", \
        "rounds": [1.001, 1.002], "median": 1.0015}
        ]
        """,
        Json.format(outcomes));
  }

  @Test
  void textIsEscaped() {
    var outcome =
        new Outcome.Measured("c/v", "p", "a \"b\" \\ \n", new double[] {1e9}, Map.of(), 0);

    assertEquals(
        """
        [
          {"case": "c/v", "peer": "p", "version": "a \\"b\\" \\\\ \\u000a", "unit": "ns/op", \
        "rounds": [1000000000], "median": 1000000000}
        ]
        """,
        Json.format(List.of(outcome)));
  }
}
