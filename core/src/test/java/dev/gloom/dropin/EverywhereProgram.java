package dev.gloom.dropin;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;

/// Makes virtual threads in every way that a program can, and says of each who runs it. Wants
/// `--enable-preview`, for the task scope. Arguments: none.
public final class EverywhereProgram {
  private static final Map<String, String> SEEN = new TreeMap<>();

  private EverywhereProgram() {}

  public static void main(String[] args) throws Exception {
    see("builder", Thread.ofVirtual()::start);
    see("unstarted", body -> started(Thread.ofVirtual().unstarted(body)));
    see("startVirtualThread", Thread::startVirtualThread);
    see("factory", body -> started(Thread.ofVirtual().factory().newThread(body)));
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      SEEN.put("executor", executor.submit(WhereProgram::here).get());
      SEEN.put(
          "CompletableFuture", CompletableFuture.supplyAsync(WhereProgram::here, executor).get());
    }
    try (var pool = Executors.newFixedThreadPool(1, Thread.ofVirtual().factory())) {
      SEEN.put("pool", pool.submit(WhereProgram::here).get());
    }
    see(
        "inside another",
        body ->
            Thread.startVirtualThread(
                () -> {
                  try {
                    Thread.startVirtualThread(body).join();
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                }));
    see(
        "after a sleep",
        body ->
            Thread.startVirtualThread(
                () -> {
                  try {
                    Thread.sleep(5);
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                  body.run();
                }));
    SEEN.put("task scope", inTaskScope());
    SEEN.put("http", inHttpServer());
    SEEN.put("loader without parent", inLoaderWithoutParent());
    SEEN.forEach((way, who) -> System.out.println(way + ": " + who));
  }

  private interface Way {
    Thread start(Runnable body);
  }

  private static void see(String name, Way way) throws Exception {
    var who = new AtomicReference<String>();
    way.start(() -> who.set(WhereProgram.here())).join();
    SEEN.put(name, who.get());
  }

  private static Thread started(Thread t) {
    t.start();
    return t;
  }

  /// By reflection: the API is a preview in this JDK.
  private static String inTaskScope() throws Exception {
    Class<?> type = Class.forName("java.util.concurrent.StructuredTaskScope");
    var scope = (AutoCloseable) type.getMethod("open").invoke(null);
    try (scope) {
      Callable<String> body = WhereProgram::here;
      Object subtask = type.getMethod("fork", Callable.class).invoke(scope, body);
      type.getMethod("join").invoke(scope);
      return (String)
          Class.forName("java.util.concurrent.StructuredTaskScope$Subtask")
              .getMethod("get")
              .invoke(subtask);
    }
  }

  /// The JDK's own server and client, both on virtual threads.
  private static String inHttpServer() throws Exception {
    var server =
        com.sun.net.httpserver.HttpServer.create(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    try (var executor = Executors.newVirtualThreadPerTaskExecutor();
        var client = HttpClient.newBuilder().executor(executor).build()) {
      server.setExecutor(executor);
      server.createContext(
          "/",
          exchange -> {
            byte[] body = WhereProgram.here().getBytes(java.nio.charset.StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
          });
      server.start();
      var uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
      List<CompletableFuture<HttpResponse<String>>> all = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        all.add(
            client.sendAsync(
                HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString()));
      }
      var answers = new java.util.TreeSet<String>();
      for (var one : all) {
        answers.add(one.get().body());
      }
      return String.join(" ", answers);
    } finally {
      server.stop(0);
    }
  }

  /// Code of a loader that sees neither gloom nor this class: nothing of gloom's is woven into it.
  private static String inLoaderWithoutParent() throws Exception {
    URL here = EverywhereProgram.class.getProtectionDomain().getCodeSource().getLocation();
    try (var loader = new URLClassLoader(new URL[] {here}, null)) {
      Class<?> type = loader.loadClass(WhereProgram.class.getName());
      if (type == WhereProgram.class) {
        throw new AssertionError("not a copy");
      }
      try {
        loader.loadClass("dev.gloom.agent.Agent");
        throw new AssertionError("the loader sees gloom");
      } catch (ClassNotFoundException _) {
        // as meant
      }
      var out = new java.io.ByteArrayOutputStream();
      var before = System.out;
      System.setOut(new java.io.PrintStream(out, true));
      try {
        type.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
      } finally {
        System.setOut(before);
      }
      return out.toString().strip();
    }
  }
}
