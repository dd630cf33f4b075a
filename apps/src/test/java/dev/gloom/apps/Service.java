package dev.gloom.apps;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/// What every server here serves, and who ran it: `/hello/N`, `/sleep/N`, `/db/N` (a query through
/// a connection pool), `/fan/N` (virtual threads of its own), `/call/N` (itself, over HTTP),
/// `/burn/N` (computes for a good tenth of a second), and `/counts`, how many of these requests ran
/// on gloom, on the JDK's scheduler, or on platform threads.
final class Service {
  private static final int ROWS = 100;
  static final int BURNS = 4;

  private final HikariDataSource pool;
  private final HttpClient client;
  private final AtomicInteger onGloom = new AtomicInteger();
  private final AtomicInteger onJdk = new AtomicInteger();
  private final AtomicInteger onPlatform = new AtomicInteger();
  volatile int port;

  /// Reads the system property `apps.db`, a JDBC address.
  Service() throws SQLException {
    var config = new HikariConfig();
    config.setJdbcUrl(System.getProperty("apps.db", "jdbc:h2:mem:apps;DB_CLOSE_DELAY=-1"));
    config.setMaximumPoolSize(8);
    pool = new HikariDataSource(config);
    client = HttpClient.newBuilder().executor(Executors.newVirtualThreadPerTaskExecutor()).build();
    try (Connection c = pool.getConnection();
        var statement = c.createStatement()) {
      statement.execute("drop table if exists numbers");
      statement.execute("create table numbers (n int primary key, square int)");
      for (int n = 0; n < ROWS; n++) {
        statement.execute("insert into numbers values (" + n + ", " + n * n + ")");
      }
    }
  }

  /// Says to the test that it serves, and ends with the test.
  void serving(int at) {
    port = at;
    System.out.println("port=" + at);
    try {
      while (System.in.read() >= 0) {
        // until the other end is closed
      }
    } catch (java.io.IOException _) {
      // as well
    }
    System.exit(0);
  }

  String answer(String path) {
    if (path.equals("/counts")) {
      return "gloom=" + onGloom + " jdk=" + onJdk + " platform=" + onPlatform;
    }
    count();
    int slash = path.indexOf('/', 1);
    int n = Integer.parseInt(path.substring(slash + 1));
    try {
      return switch (path.substring(1, slash)) {
        case "hello" -> "hello " + n;
        case "sleep" -> sleep(n);
        case "db" -> query(n % ROWS);
        case "fan" -> fan(n);
        case "call" -> call(n);
        case "burn" -> burn(n);
        default -> "no " + path;
      };
    } catch (Exception e) {
      e.printStackTrace();
      return "failed: " + e;
    } finally {
      count();
    }
  }

  private void count() {
    Thread t = Thread.currentThread();
    String text = t.toString();
    (!t.isVirtual() ? onPlatform : text.contains("@gloom-m") ? onGloom : onJdk).incrementAndGet();
  }

  private static String sleep(int n) throws InterruptedException {
    Thread.sleep(n % 5);
    return "slept " + n;
  }

  private String query(int n) throws SQLException {
    try (Connection c = pool.getConnection();
        var statement = c.prepareStatement("select square from numbers where n = ?")) {
      statement.setInt(1, n);
      try (var rows = statement.executeQuery()) {
        rows.next();
        return n + " squared is " + rows.getInt(1);
      }
    }
  }

  private String fan(int n) throws InterruptedException, ExecutionException {
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      var all = new ArrayList<Future<Integer>>();
      for (int i = 0; i < 10; i++) {
        int one = n + i;
        all.add(
            executor.submit(
                () -> {
                  count();
                  return one;
                }));
      }
      int sum = 0;
      for (var f : all) {
        sum += f.get();
      }
      return "sum " + sum;
    }
  }

  /// The same for `n` and `n + BURNS`.
  static String burn(int n) {
    long x = n % BURNS + 1;
    for (int i = 0; i < 100_000_000; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return "burnt " + x;
  }

  private String call(int n) throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/hello/" + n)).build();
    return "called: " + client.send(request, HttpResponse.BodyHandlers.ofString()).body();
  }
}
