package dev.gloom.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(180)
class BenchTest {
  private static final List<String> TINY =
      List.of("--scale", "0.001", "--rounds", "2", "--warmup", "0", "--heap", "256m");

  @TempDir Path folder;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream messages = new ByteArrayOutputStream();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nonsense         | unknown case: nonsense; there are yield, spawn, parkpingpong, skynet",
        "yield/3p         | unknown case: yield/3p; there are yield",
        "--peers gloom,c  | unknown peer: c; there are gloom, jdk, go, kotlin, jox",
        "timers/1p        | unknown case: timers/1p; there are yield",
        "--rounds 0       | --rounds must be at least 1: 0",
        "--rounds many    | Invalid value for option '--rounds'",
        "--json /no/x     | --json: cannot write there: /no/x",
        "--heap lots      | --heap must be a size like 2g or 512m: lots",
        "--nonsense       | Unknown option: '--nonsense'",
      })
  void aCommandLineThatMakesNoSenseIsNamedAndEndsWith2(String args, String message) {
    assertEquals(2, bench(args.strip().split(" ")));
    assertTrue(messages.toString().startsWith("gloom bench: " + message), messages::toString);
    assertEquals("", out.toString());
  }

  @Test
  void listNamesCasesAndPeers() {
    assertEquals(0, bench("--list"));
    for (String name : List.of("yield/1p", "spawn/2p", "pingpong/1p", "select8/2p", "timers")) {
      assertTrue(out.toString().contains("  " + name + " "), out::toString);
    }
    for (String name : Peers.names()) {
      assertTrue(out.toString().contains("  " + name + " "), out::toString);
    }
  }

  @Test
  void aBareNameMeansAllItsVariants() {
    assertEquals(
        List.of("skynet/1p", "skynet/2p"),
        Cases.named("skynet").stream().map(BenchCase::fullName).toList());
  }

  @Test
  void everyCaseRunsOnGloomAndOnTheJdk() throws Exception {
    Path json = folder.resolve("results.json");
    int status =
        bench(
            "yield/1p",
            "spawn/2p",
            "parkpingpong/2p",
            "skynet/1p",
            "--peers",
            "gloom,jdk",
            "--json",
            json.toString());

    assertEquals(0, status, this::everything);
    String results = Files.readString(json);
    for (String name : List.of("yield/1p", "spawn/2p", "parkpingpong/2p", "skynet/1p")) {
      for (String peer : List.of("gloom", "jdk")) {
        var object =
            Pattern.compile(
                ("{`case`: `%s`, `peer`: `%s`, `version`: `[^`]+`, `unit`: `ns/op`, "
                        + "`rounds`: \\[[0-9.]+, [0-9.]+], `median`: [0-9.]+}")
                    .formatted(name, peer)
                    .replace('`', '"')
                    .replace("{", "\\{"));
        assertTrue(object.matcher(results).find(), () -> object + " in " + results);
      }
    }
    assertTrue(out.toString().contains("gloom's scheduler, an operation"), this::everything);
    assertTrue(out.toString().contains("SCALE"), this::everything);
  }

  /// Each of them checks its own outcome; half of them on one processor, half on two.
  @Test
  void everyChannelCaseRunsOnGloomAndOnTheJdk() {
    var cases = List.of("pingpong/1p", "chain/2p", "buffered/1p", "mpmc/2p", "ring/1p", "sieve/2p");
    assertEquals(0, bench(cases, "--peers", "gloom,jdk"), this::everything);

    assertEquals(2 * cases.size(), measured(cases), this::everything);
  }

  @Test
  void serversRunOnGloomAndOnTheJdk() {
    assertEquals(0, bench("echo/1", "echo/100", "--peers", "gloom,jdk"), this::everything);

    assertEquals(4, measured(List.of("echo/1", "echo/100")), this::everything);
    assertTrue(out.toString().contains("Servers, on one core"), this::everything);
    assertTrue(
        out.toString().lines().anyMatch(line -> line.matches("  echo/100 +gloom( +[0-9.]+){4}")),
        this::everything);
  }

  @Test
  @Tag("slow")
  void httpRunsWhereWrkIs() {
    assertEquals(0, bench("http/100", "--peers", "gloom,jdk"), this::everything);

    long missing = count("no `wrk` on the PATH");
    assertEquals(2 - missing, measured(List.of("http/100")), this::everything);
  }

  @Test
  void timersRunOnGloomAndOnTheJdk() {
    assertEquals(0, bench("timers", "--peers", "gloom,jdk"), this::everything);

    assertEquals(2, measured(List.of("timers")), this::everything);
  }

  @Test
  void selectRunsOnGloomAndTheJdkSaysThatItHasNone() {
    var cases = List.of("select2/2p", "select8/1p");
    assertEquals(0, bench(cases, "--peers", "gloom,jdk"), this::everything);

    assertEquals(cases.size(), measured(cases), this::everything);
    assertEquals(2, count("n/a  java.util.concurrent has no select"), this::everything);
  }

  /// Maven in Maven, and a compiler: for the long run.
  @Test
  @Tag("slow")
  @Timeout(600)
  void kotlinAndJoxRunTheirTwinsOrAreMissing() {
    var cases =
        List.of(
            "pingpong/1p",
            "chain/2p",
            "buffered/1p",
            "mpmc/2p",
            "select2/1p",
            "select8/2p",
            "ring/1p",
            "sieve/2p");
    assertEquals(0, bench(cases, "--peers", "kotlin,jox"), this::everything);

    assertEquals(2 * cases.size(), measured(cases) + count(" missing "), this::everything);
  }

  @Test
  void joxSaysWhatItHasNothingToDoWith() {
    assertEquals(0, bench("yield/1p", "--peers", "jox"), this::everything);

    assertEquals(1, count("n/a  no channels in it: the same as jdk"), this::everything);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "[ERROR] Could not find artifact a:b:jar:1 in central -> [Help 1] | Could not find artifact",
        "[ERROR] Failed: Could not transfer artifact a:b from/to central  | Failed: Could not tr",
        "[ERROR] Plugin a or one of its dependencies could not be resolved | Plugin a or one of it",
        "[ERROR] Cannot access central in offline mode                     | Cannot access central",
        "[ERROR] Main.kt: unresolved reference 'x'                         | ",
        "[INFO] Could not find artifact, but went on                       | ",
      })
  void whatCannotBeFetchedIsMissingAndWhatDoesNotCompileIsNot(String line, String why) {
    var found = PeerBuild.unreachable("[INFO] first\n" + line + "\n[ERROR] more");

    assertEquals(why != null, found.isPresent());
    assertTrue(why == null || found.orElseThrow().startsWith(why), found::toString);
  }

  @Test
  void switchListsWhatEachStepAdds() {
    assertEquals(0, bench("switch", "--peers", "jdk"), this::everything);

    assertTrue(out.toString().contains("bare continuation, yield + run"), this::everything);
    assertTrue(out.toString().contains("virtual thread on a trivial exec"), this::everything);
    assertTrue(out.toString().contains("JDK, 1 carrier"), this::everything);
  }

  @Test
  void aPeerThatFailsHasNoNumberAndTheRunEndsWith1() throws Exception {
    Path json = folder.resolve("results.json");
    int status =
        bench("yield/1p", "--peers", "jdk", "--jvm", "-XX:+NoSuchFlag", "--json", json.toString());

    assertEquals(1, status, this::everything);
    assertTrue(out.toString().contains("failed: jdk yield/1p: it ended with status 1"));
    assertTrue(out.toString().contains("Unrecognized VM option 'NoSuchFlag'"), this::everything);
    assertEquals("[]\n", Files.readString(json));
  }

  @Test
  void floorsSayWhatTheyCannotDo() {
    assertEquals(0, bench("yield/2p", "--peers", "executor,continuation"), this::everything);

    assertTrue(out.toString().contains("n/a  one thread only"), this::everything);
    assertTrue(out.toString().contains("n/a  a bare continuation cannot park"), this::everything);
  }

  @Test
  void goRunsItsTwins() {
    assumeTrue(GoPeer.find(System.getenv()).isPresent(), "no Go here");
    assertEquals(
        0,
        bench("yield/1p", "spawn/1p", "parkpingpong/1p", "skynet/2p", "--peers", "go"),
        this::everything);

    assertEquals(4, out.toString().lines().filter(line -> line.contains(" go  ")).count());
    assertFalse(out.toString().contains("n/a"), this::everything);
  }

  @Test
  void goRunsItsTwinsOfTheChannelCases() {
    assumeTrue(GoPeer.find(System.getenv()).isPresent(), "no Go here");
    var cases =
        List.of(
            "pingpong/1p",
            "chain/1p",
            "buffered/2p",
            "mpmc/2p",
            "select2/1p",
            "select8/2p",
            "ring/1p",
            "sieve/2p",
            "timers");
    assertEquals(0, bench(cases, "--peers", "go"), this::everything);

    assertEquals(cases.size(), measured(cases), this::everything);
  }

  @Test
  void withoutMavenThereIsNothingToBuildPeersWith() {
    assertTrue(PeerBuild.find(Map.of()).isEmpty());
    assertTrue(PeerBuild.find(Map.of("PATH", folder.toString())).isEmpty());
  }

  @Test
  void withoutAToolchainThereIsNoGo() {
    assertTrue(GoPeer.find(Map.of()).isEmpty());
    assertTrue(GoPeer.find(Map.of("PATH", folder.toString())).isEmpty());
  }

  private int bench(List<String> cases, String... args) {
    var all = new ArrayList<>(cases);
    all.addAll(List.of(args));
    return bench(all.toArray(String[]::new));
  }

  /// Rows of these cases that have a time.
  private long measured(List<String> cases) {
    return out.toString()
        .lines()
        .filter(line -> cases.contains(line.split(" ")[0]))
        .filter(line -> line.matches("\\S+ +\\S+ +[0-9.]+ +[0-9.]+ \\.\\. [0-9.]+ .*"))
        .count();
  }

  private long count(String text) {
    return out.toString().lines().filter(line -> line.contains(text)).count();
  }

  private int bench(String... args) {
    var all = new ArrayList<>(List.of(args));
    if (all.stream().noneMatch(arg -> arg.matches("--(rounds|heap).*"))) {
      all.addAll(TINY);
    }
    return Bench.execute(
        new PrintStream(out), new PrintStream(messages), all.toArray(String[]::new));
  }

  private String everything() {
    return out + "\n" + messages;
  }
}
