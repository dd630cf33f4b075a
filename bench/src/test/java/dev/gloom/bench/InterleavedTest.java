package dev.gloom.bench;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class InterleavedTest {
  private static final BenchCase CASE = Cases.named("yield/1p").getFirst();

  @TempDir Path folder;

  private Duration timeout = Duration.ofSeconds(20);
  private final ByteArrayOutputStream messages = new ByteArrayOutputStream();

  @Test
  void oneRoundAtATimeInTheOrderOfTheRounds() throws Exception {
    int rounds = 4;
    var outcomes = run(rounds, fake("a", "works"), fake("b", "works"), fake("c", "works"));

    var expected = new ArrayList<String>();
    for (int round = 0; round < rounds; round++) {
      for (int peer : Interleaved.order(3, round)) {
        String name = List.of("a", "b", "c").get(peer);
        expected.addAll(List.of(name + " begins", name + " ends"));
      }
    }
    assertEquals(expected, Files.readAllLines(log()));
    for (Outcome outcome : outcomes) {
      var measured = assertInstanceOf(Outcome.Measured.class, outcome);
      assertArrayEquals(new double[] {100, 101, 102, 103}, measured.rounds());
      assertEquals("fake 1", measured.version());
      assertEquals(Map.of("dispatches", 2.0, "sameM", 1.5), measured.counters());
    }
    assertTrue(messages.toString().contains("[a yield/1p] a message of a"), messages::toString);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  void everyoneIsInEveryPlaceAndFollowsEitherNeighbour(int peers) {
    var places = new HashSet<List<Integer>>();
    var neighbours = new HashSet<List<Integer>>();
    for (int round = 0; round < 2 * peers; round++) {
      int[] order = Interleaved.order(peers, round);
      assertEquals(
          IntStream.range(0, peers).boxed().toList(),
          IntStream.of(order).sorted().boxed().toList());
      for (int place = 0; place < peers; place++) {
        places.add(List.of(order[place], place));
        if (place > 0) {
          neighbours.add(List.of(order[place - 1], order[place]));
        }
      }
    }
    assertEquals(peers * peers, places.size(), "everybody in every place");
    for (var pair : neighbours) {
      assertTrue(neighbours.contains(pair.reversed()), "in both orders: " + pair);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "dies         | bad yield/1p: it ended with status 7",
        "dies         | a last word",
        "hangs        | bad yield/1p: no answer within 3.0 s to do a round; ended it",
        "babbles      | bad yield/1p: it broke the protocol: expected OPS NANOS",
        "stands still | bad yield/1p: it broke the protocol: expected operations and nanoseconds",
        "fails        | bad yield/1p: wrong sum",
      })
  void aChildThatFailsGetsNoNumberAndTheOthersGoOn(String mode, String why) throws Exception {
    // Long enough for a JVM to start on a busy machine; only who hangs is waited for to the end.
    timeout = mode.equals("hangs") ? Duration.ofSeconds(3) : timeout;
    var outcomes = run(3, fake("good", "works"), fake("bad", mode));

    var good = assertInstanceOf(Outcome.Measured.class, outcomes.get(0));
    var bad = assertInstanceOf(Outcome.Failed.class, outcomes.get(1));
    assertEquals(3, good.rounds().length);
    assertTrue(bad.why().contains(why), bad::why);
    assertFalse(Json.format(outcomes).contains("bad"));
  }

  @Test
  void aChildThatCannotBeStartedFails() throws Exception {
    var outcomes =
        run(1, peer("bad", new Peer.Launch.Command(List.of("/no/such/program"), Map.of())));

    var bad = assertInstanceOf(Outcome.Failed.class, outcomes.getFirst());
    assertTrue(bad.why().startsWith("bad yield/1p: cannot start it: "), bad::why);
  }

  @Test
  void whoIsMissingOrHasNoTwinIsReportedAndLeftOutOfTheResults() throws Exception {
    var outcomes =
        run(
            1,
            peer("nowhere", Peer.Launch.Absent.missing("no such toolchain")),
            fake("other", "unsupported"));

    var expected =
        List.of(
            new Outcome.Absent("yield/1p", "nowhere", "missing", "no such toolchain"),
            new Outcome.Absent("yield/1p", "other", "n/a", "no twin here"));
    assertEquals(expected, outcomes);
    assertEquals("[]\n", Json.format(outcomes));
  }

  private List<Outcome> run(int rounds, Peer... peers) {
    var settings = new Settings(rounds, 1, Duration.ZERO, timeout, "64m", List.of(), Path.of("."));
    return new Interleaved(settings, new PrintStream(messages)).run(CASE, List.of(peers));
  }

  private Peer fake(String name, String mode) {
    return peer(
        name,
        new Peer.Launch.Command(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Xmx64m",
                "-cp",
                System.getProperty("java.class.path"),
                FakeChild.class.getName(),
                name,
                mode,
                log().toString()),
            Map.of()));
  }

  private static Peer peer(String name, Peer.Launch launch) {
    return new Peer() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public String about() {
        return "made up";
      }

      @Override
      public Launch launch(BenchCase benchCase, Settings settings) {
        return launch;
      }
    };
  }

  private Path log() {
    return folder.resolve("log");
  }
}
