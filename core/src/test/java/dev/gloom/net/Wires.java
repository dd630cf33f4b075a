package dev.gloom.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Scheduler;
import dev.gloom.Stats;
import dev.gloom.api.Lab;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/// What the tests of sockets have in common. Everything is on the loopback interface.
final class Wires {
  static final InetAddress HERE = InetAddress.getLoopbackAddress();

  private Wires() {}

  static ServerSocket server() throws IOException {
    return new ServerSocket(0, 1_000, HERE);
  }

  static Socket connect(ServerSocket server) throws IOException {
    return new Socket(HERE, server.getLocalPort());
  }

  static InetSocketAddress address(int port) {
    return new InetSocketAddress(HERE, port);
  }

  /// Two ends of a connection.
  record Pair(Socket near, Socket far) implements AutoCloseable {
    static Pair open() throws IOException {
      try (var server = server()) {
        Socket near = connect(server);
        return new Pair(near, server.accept());
      }
    }

    @Override
    public void close() throws IOException {
      near.close();
      far.close();
    }
  }

  /// Accepts for ever, each connection echoed by a goroutine of its own, until `server` is closed.
  static void serveEchoes(Lab lab, ServerSocket server) throws IOException {
    while (true) {
      Socket socket;
      try {
        socket = server.accept();
      } catch (SocketException e) {
        if (server.isClosed()) {
          return;
        }
        throw e;
      }
      lab.go(() -> echo(socket));
    }
  }

  static void echo(Socket socket) throws IOException {
    try (socket) {
      socket.setTcpNoDelay(true);
      InputStream in = socket.getInputStream();
      OutputStream out = socket.getOutputStream();
      byte[] buffer = new byte[4_096];
      for (int n = in.read(buffer); n > 0; n = in.read(buffer)) {
        out.write(buffer, 0, n);
      }
    }
  }

  /// Sends and expects to get the same back, a few times.
  static void talk(InputStream in, OutputStream out, int times, long seed) throws IOException {
    var random = new Random(seed);
    for (int i = 0; i < times; i++) {
      byte[] sent = new byte[1 + random.nextInt(300)];
      random.nextBytes(sent);
      out.write(sent);
      out.flush();
      assertArrayEquals(sent, in.readNBytes(sent.length));
    }
  }

  /// The poller's figures once nobody waits any more.
  static Stats.Net quiet(Scheduler scheduler) {
    Lab.await("nobody waits", () -> scheduler.stats().net().waiting() == 0);
    Stats.Net net = scheduler.stats().net();
    assertTrue(net.poller().startsWith("epoll"), net.poller());
    return net;
  }

  /// How many descriptors of this process lead to something whose name begins so.
  static long descriptors(String prefix) {
    long n = 0;
    File[] all = new File("/proc/self/fd").listFiles();
    for (File f : all == null ? new File[0] : all) {
      try {
        if (Files.readSymbolicLink(Path.of(f.getPath())).toString().startsWith(prefix)) {
          n++;
        }
      } catch (IOException e) {
        // closed meanwhile
      }
    }
    return n;
  }
}
