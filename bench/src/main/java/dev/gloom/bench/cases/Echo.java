package dev.gloom.bench.cases;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A TCP server, a thread for each connection, that sends back what comes; the client is a process
/// of its own on another core.
///
/// The server runs from the first round to the end. Its first connection is the client's, for
/// orders: how many messages, and how long they took.
public final class Echo implements Work {
  /// Larger than a message, as a server has it that does not know what comes.
  private static final int BUFFER = 4096;

  private @Nullable Client client;
  private Map<String, Long> figures = Map.of();

  @Override
  public Needs needs() {
    return Needs.SOCKETS;
  }

  @Override
  public long run(Threads threads, long size) {
    try {
      Client there = client;
      if (there == null) {
        there = start(threads);
        client = there;
      }
      long cpu = Load.cpuNanos();
      there.orders.write((size + "\n").getBytes(StandardCharsets.US_ASCII));
      String[] answer = there.answers.readLine().split(" ");
      cpu = Load.cpuNanos() - cpu;
      figures = Load.figures(size, Long.parseLong(answer[0]), Long.parseLong(answer[1]), cpu);
      return size;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Map<String, Long> figures() {
    return figures;
  }

  private record Client(OutputStream orders, BufferedReader answers) {}

  private static Client start(Threads threads) throws IOException {
    var server = new ServerSocket(0, 10_000, java.net.InetAddress.getLoopbackAddress());
    Load.client(server.getLocalPort());
    Socket first = server.accept();
    var answers =
        new BufferedReader(
            new InputStreamReader(first.getInputStream(), StandardCharsets.US_ASCII));
    threads.start(() -> accept(threads, server));
    return new Client(first.getOutputStream(), answers);
  }

  private static void accept(Threads threads, ServerSocket server) {
    try {
      while (true) {
        Socket socket = server.accept();
        threads.start(() -> serve(socket));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void serve(Socket socket) {
    try (socket) {
      socket.setTcpNoDelay(true);
      InputStream in = socket.getInputStream();
      OutputStream out = socket.getOutputStream();
      byte[] buffer = new byte[BUFFER];
      for (int n = in.read(buffer); n > 0; n = in.read(buffer)) {
        out.write(buffer, 0, n);
      }
    } catch (IOException e) {
      // The client has gone: this is the end of the process.
    }
  }
}
