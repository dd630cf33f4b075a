package dev.gloom.apps;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Real servers, unmodified: the same answers with the agent and without, no error, and every
/// virtual thread on gloom.
@Timeout(600)
class AppsTest {
  private static final int EACH = 40;
  private static final int CLIENTS = 16;

  @ParameterizedTest
  @ValueSource(
      classes = {JdkApp.class, TomcatApp.class, JettyApp.class, HelidonApp.class, SpringApp.class})
  void answersTheSame(Class<?> app) throws Exception {
    compare(List.of(), app.getName());
  }

  @Test
  void inAJarWithJarsInside(@TempDir Path directory) throws Exception {
    compare(List.of(), "-jar", NestedJar.of(SpringApp.class, directory).toString());
  }

  @Test
  void withPostgres(@TempDir Path directory) throws Exception {
    try (var postgres = Postgres.start(directory)) {
      if (postgres == null) {
        System.out.println("NOT RUN: no PostgreSQL here (apt-get install postgresql)");
        Assumptions.abort("no PostgreSQL");
        return;
      }
      compare(List.of("-Dapps.db=" + postgres.address()), TomcatApp.class.getName());
    }
  }

  private static void compare(List<String> jvmArgs, String... what) throws Exception {
    Map<String, String> without;
    String err; // Helidon has something to say there, and says it both times
    try (var plain = Running.start(false, jvmArgs, what)) {
      without = plain.ask(EACH, CLIENTS);
      Map<String, Integer> counts = plain.counts();
      assertEquals(0, counts.get("gloom"), counts::toString);
      assertTrue(counts.get("jdk") > EACH, counts::toString);
      err = plain.err();
      assertFalse(err.contains("Exception"), err);
    }
    try (var gloom = Running.start(true, jvmArgs, what)) {
      assertEquals(without, gloom.ask(EACH, CLIENTS));
      Map<String, Integer> counts = gloom.counts();
      System.out.println(what[what.length - 1] + ": " + counts);
      assertEquals(0, counts.get("jdk"), counts::toString);
      assertEquals(0, counts.get("platform"), counts::toString);
      assertTrue(counts.get("gloom") > EACH, counts::toString);
      assertEquals(err, gloom.err());
    }
    assertEquals(5 * EACH, without.size());
    assertEquals("7 squared is 49", without.get("/db/7"));
  }

  // Throughput.

  private static final int PAIRS = 15;

  /// Twice for each. Spring takes that long until the JIT is done with it.
  private static final int WARM_UP_MILLIS = 15_000;

  @ParameterizedTest
  @ValueSource(
      classes = {JdkApp.class, TomcatApp.class, JettyApp.class, HelidonApp.class, SpringApp.class})
  @Tag("slow")
  void isNoSlower(Class<?> app) throws Exception {
    try (var plain = Running.start(false, List.of(), app.getName());
        var gloom = Running.start(true, List.of(), app.getName())) {
      for (Running warm : List.of(plain, gloom, plain, gloom)) {
        warm.drive(WARM_UP_MILLIS, CLIENTS, "db");
      }
      var ratios = new Ratios();
      for (int i = 0; i < PAIRS; i++) {
        boolean gloomFirst = i % 2 == 0; // whatever favours the second favours both alike
        double first = (gloomFirst ? gloom : plain).drive(1_500, CLIENTS, "db");
        double second = (gloomFirst ? plain : gloom).drive(1_500, CLIENTS, "db");
        ratios.add(gloomFirst ? first / second : second / first);
      }
      String text = app.getSimpleName() + ": throughput with the agent / without: " + ratios;
      System.out.println(text);
      assertTrue(ratios.high() >= 0.97, text);
      assertEquals(0, gloom.counts().get("jdk"));
    }
  }

  // Requests that compute.

  private static final int HEAVY = 4;
  private static final int LIGHT = 40;
  private static final int MIXES = 8;

  /// Some requests compute for longer than a slice. The others do not wait for them, and no less is
  /// computed.
  @ParameterizedTest
  @ValueSource(
      classes = {JdkApp.class, TomcatApp.class, JettyApp.class, HelidonApp.class, SpringApp.class})
  @Tag("slow")
  void requestsThatComputeHoldNobodyUp(Class<?> app) throws Exception {
    try (var plain = Running.start(false, List.of(), app.getName());
        var gloom = Running.start(true, List.of(), app.getName())) {
      for (int i = 0; i < 3; i++) { // in between the classes get their checks
        plain.mix(4_000, HEAVY, LIGHT);
        gloom.mix(4_000, HEAVY, LIGHT);
      }
      var waits = new Ratios();
      var answered = new Ratios();
      var burnt = new Ratios();
      var forTheCpu = new Ratios();
      for (int i = 0; i < MIXES; i++) {
        boolean gloomFirst = i % 2 == 0;
        Running.Mixed first = (gloomFirst ? gloom : plain).mix(5_000, HEAVY, LIGHT);
        Running.Mixed second = (gloomFirst ? plain : gloom).mix(5_000, HEAVY, LIGHT);
        Running.Mixed with = gloomFirst ? first : second;
        Running.Mixed without = gloomFirst ? second : first;
        System.out.printf(
            "%s: p50 %.1f to %.1f ms, p99 %.1f to %.1f ms, %.2f to %.2f a second that compute, %d to %d others%n",
            app.getSimpleName(),
            without.millis(0.5),
            with.millis(0.5),
            without.millis(0.99),
            with.millis(0.99),
            without.burnt(),
            with.burnt(),
            without.latencies().size(),
            with.latencies().size());
        waits.add(without.millis(0.99) / with.millis(0.99));
        answered.add(with.answered() / without.answered());
        burnt.add(with.burnt() / without.burnt());
        forTheCpu.add(with.burntPerCpu() / without.burntPerCpu());
        assertTrue(with.latencies().size() >= without.latencies().size(), "fewer light answers");
      }
      String text =
          "%s: p99 without / with the agent: %s; throughput with / without: %s; of those that compute: %s; for the same CPU time: %s"
              .formatted(app.getSimpleName(), waits, answered, burnt, forTheCpu);
      System.out.println(text);
      assertTrue(waits.mean() >= 5, text);
      assertTrue(answered.high() >= 1 || answered.mean() >= 0.99, text);
      assertTrue(burnt.high() >= 0.97 && burnt.mean() >= 0.95, text);
      assertEquals(0, gloom.counts().get("jdk"));
    }
  }
}
