package dev.gloom.bench.cases;

import java.io.BufferedInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// An HTTP/1.1 server, a thread for each connection, which is kept; asked by `wrk`. The server is
/// the least that answers: it reads to the end of the request's head and sends a fixed answer.
public final class Http implements Work {
  private static final byte[] ANSWER =
      """
      HTTP/1.1 200 OK\r
      Content-Type: text/plain\r
      Content-Length: 13\r
      \r
      Hello, World!"""
          .getBytes(StandardCharsets.US_ASCII);

  private static final Pattern COUNT = Pattern.compile("(\\d+) requests in ([\\d.]+)s");
  private static final Pattern P99 = Pattern.compile("99% +([\\d.]+)(us|ms|s)");

  private int port;
  private Map<String, Long> figures = Map.of();

  @Override
  public Needs needs() {
    return Needs.SOCKETS;
  }

  /// As many as `wrk` gets through in its time.
  @Override
  public long run(Threads threads, long size) {
    try {
      if (port == 0) {
        start(threads);
      }
      File output = File.createTempFile("gloom-wrk", ".txt");
      try {
        return measure(output);
      } finally {
        Files.delete(output.toPath());
      }
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private long measure(File output) throws IOException, InterruptedException {
    var words = new ArrayList<>(List.of(System.getenv(Load.CLIENT).split("\t")));
    words.add("-c" + System.getenv(Load.CONNECTIONS));
    words.add("http://127.0.0.1:" + port + "/");
    long cpu = Load.cpuNanos();
    Process wrk =
        new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(output).start();
    int status = wrk.waitFor(); // parks: the server goes on
    cpu = Load.cpuNanos() - cpu;
    String text = Files.readString(output.toPath());
    Matcher count = COUNT.matcher(text);
    Matcher p99 = P99.matcher(text);
    if (status != 0 || !count.find() || !p99.find() || text.contains("Socket errors")) {
      throw new IllegalStateException("wrk: " + status + "\n" + text);
    }
    long requests = Long.parseLong(count.group(1));
    double unit =
        switch (p99.group(2)) {
          case "us" -> 1e3;
          case "ms" -> 1e6;
          default -> 1e9;
        };
    figures =
        Load.figures(
            requests,
            Math.round(Double.parseDouble(count.group(2)) * 1e9),
            Math.round(Double.parseDouble(p99.group(1)) * unit),
            cpu);
    return requests;
  }

  @Override
  public Map<String, Long> figures() {
    return figures;
  }

  private void start(Threads threads) throws IOException {
    var server = new ServerSocket(0, 10_000, java.net.InetAddress.getLoopbackAddress());
    port = server.getLocalPort();
    threads.start(
        () -> {
          try {
            while (true) {
              Socket socket = server.accept();
              threads.start(() -> serve(socket));
            }
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  private static void serve(Socket socket) {
    try (socket) {
      socket.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(socket.getInputStream());
      OutputStream out = socket.getOutputStream();
      while (skipHead(in)) {
        out.write(ANSWER);
      }
    } catch (IOException e) {
      // The client has gone, in the middle of a request at the end of a round.
    }
  }

  /// Reads to the empty line; false at the end of the connection.
  private static boolean skipHead(InputStream in) throws IOException {
    for (int line = 0; ; ) {
      int b = in.read();
      if (b < 0) {
        return false;
      }
      if (b == '\n') {
        if (line == 0) {
          return true;
        }
        line = 0;
      } else if (b != '\r') {
        line++;
      }
    }
  }
}
