package dev.gloom.apps;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/// A server in a JVM of its own, with the agent or without, and the client that drives it.
final class Running implements AutoCloseable {
  private static final Path AGENT = Path.of("..", "core", "target", "gloom.jar").toAbsolutePath();
  private static final List<String> KINDS = List.of("hello", "sleep", "db", "fan", "call");

  private final Process process;
  private final Path err;
  private final BufferedReader out;
  private final int port;
  private final HttpClient client;

  private Running(Process process, Path err) throws Exception {
    this.process = process;
    this.err = err;
    this.out = process.inputReader();
    this.port = port();
    this.client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  }

  /// Starts a main class, or with `-jar FILE` a jar.
  static Running start(boolean withAgent, List<String> jvmArgs, String... what) throws Exception {
    assertTrue(Files.exists(AGENT), AGENT + " is missing: build core first");
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx256m");
    if (withAgent) {
      command.add("-javaagent:" + AGENT);
    }
    command.addAll(jvmArgs);
    if (!what[0].equals("-jar")) {
      command.add("-cp");
      command.add(String.join(java.io.File.pathSeparator, classPath()));
    }
    command.addAll(List.of(what));
    Path err = Files.createTempFile("app", ".err");
    return new Running(new ProcessBuilder(command).redirectError(err.toFile()).start(), err);
  }

  /// What the programs need: all but gloom itself.
  static List<String> classPath() {
    String all =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    var without = new ArrayList<String>();
    for (String entry : all.split(java.io.File.pathSeparator)) {
      String path = entry.replace('\\', '/');
      if (!path.contains("/core/target/")
          && !path.contains("/dev/gloom/gloom/")
          && !path.contains("/spring-boot-loader")) {
        without.add(entry);
      }
    }
    return without;
  }

  private int port() throws Exception {
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      if (line.startsWith("port=")) {
        return Integer.parseInt(line.substring(5));
      }
    }
    process.waitFor();
    throw new AssertionError("the server did not start:\n" + Files.readString(err));
  }

  String get(String path) throws Exception {
    var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
    HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
    assertEquals(200, response.statusCode(), path);
    return response.body();
  }

  /// Asks for `n` things of each kind, from `clients` threads; all answers by path.
  Map<String, String> ask(int n, int clients) throws Exception {
    var answers = new ConcurrentSkipListMap<String, String>();
    try (var executor = Executors.newFixedThreadPool(clients)) {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < n; i++) {
        for (String kind : KINDS) {
          String path = "/" + kind + "/" + i;
          all.add(
              executor.submit(
                  () -> {
                    answers.put(path, get(path));
                    return null;
                  }));
        }
      }
      for (Future<?> f : all) {
        f.get();
      }
    }
    return answers;
  }

  /// How many requests it answers in a time.
  int drive(long millis, int clients, String kind) throws Exception {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    try (var executor = Executors.newFixedThreadPool(clients)) {
      List<Future<Integer>> all = new ArrayList<>();
      for (int c = 0; c < clients; c++) {
        all.add(
            executor.submit(
                () -> {
                  int done = 0;
                  while (System.nanoTime() < end) {
                    get("/" + kind + "/" + done++);
                  }
                  return done;
                }));
      }
      int sum = 0;
      for (var f : all) {
        sum += f.get();
      }
      return sum;
    }
  }

  /// How many requests that compute it answers a second, from as many clients, and how long `light`
  /// clients wait for the answers to small ones meanwhile, in nanoseconds, in order.
  Mixed mix(long millis, int heavy, int light) throws Exception {
    long start = System.nanoTime();
    long end = start + TimeUnit.MILLISECONDS.toNanos(millis);
    double cpu = cpuSeconds();
    try (var executor = Executors.newFixedThreadPool(heavy + light)) {
      List<Future<List<Long>>> all = new ArrayList<>();
      for (int c = 0; c < heavy + light; c++) {
        String kind = c < heavy ? "/burn/" : "/hello/";
        long every = c < heavy ? 0 : LIGHT_EVERY_MILLIS;
        all.add(executor.submit(() -> latencies(end, kind, every)));
      }
      int burnt = 0;
      for (var one : all.subList(0, heavy)) {
        burnt += one.get().size();
      }
      double seconds = (System.nanoTime() - start) / 1e9; // to the end of the last of them
      cpu = cpuSeconds() - cpu;
      var latencies = new ArrayList<Long>();
      for (var one : all.subList(heavy, heavy + light)) {
        latencies.addAll(one.get());
      }
      latencies.sort(null);
      double answered = burnt / seconds + latencies.size() * 1e3 / millis;
      return new Mixed(answered, burnt / seconds, burnt / cpu, latencies);
    }
  }

  /// So rarely that either answers most of them in time, and both have the same to do.
  private static final long LIGHT_EVERY_MILLIS = 500;

  /// The CPU time that the server has used.
  private double cpuSeconds() {
    return process.info().totalCpuDuration().orElseThrow().toNanos() / 1e9;
  }

  /// What {@link #mix} has seen: requests answered in a second; of those that compute, for each
  /// second and for each second of the server's CPU time; and how long each of the others took.
  record Mixed(double answered, double burnt, double burntPerCpu, List<Long> latencies) {
    double millis(double quantile) {
      return latencies.get((int) (quantile * (latencies.size() - 1))) / 1e6;
    }
  }

  private List<Long> latencies(long end, String kind, long everyMillis) throws Exception {
    var latencies = new ArrayList<Long>();
    for (int n = 0; System.nanoTime() < end; n++) {
      long start = System.nanoTime();
      String answer = get(kind + n);
      latencies.add(System.nanoTime() - start);
      assertEquals(expected(kind, n), answer);
      long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      Thread.sleep(Math.max(0, everyMillis - took));
    }
    return latencies;
  }

  private static String expected(String kind, int n) {
    return kind.equals("/hello/")
        ? "hello " + n
        : BURNT.computeIfAbsent(n % Service.BURNS, Service::burn);
  }

  private static final Map<Integer, String> BURNT = new java.util.concurrent.ConcurrentHashMap<>();

  /// Who ran the requests so far: `gloom`, `jdk`, `platform`.
  Map<String, Integer> counts() throws Exception {
    var counts = new TreeMap<String, Integer>();
    for (String one : get("/counts").split(" ")) {
      int equals = one.indexOf('=');
      counts.put(one.substring(0, equals), Integer.valueOf(one.substring(equals + 1)));
    }
    return counts;
  }

  /// What it has written to standard error.
  String err() throws Exception {
    return Files.readString(err);
  }

  @Override
  public void close() throws IOException {
    client.close();
    process.getOutputStream().close(); // it ends when it sees this
    if (process.onExit().completeOnTimeout(null, 30, TimeUnit.SECONDS).join() == null) {
      process.destroyForcibly();
      throw new AssertionError("the server does not end");
    }
    Files.delete(err);
  }
}
