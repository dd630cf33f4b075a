package dev.gloom.bench.load;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;

/// Asks an echo server, from one thread: `EchoClient PORT CONNECTIONS`. Each connection has one
/// message of 64 bytes under way.
///
/// Its first connection is for orders: a line with a number of messages comes, and when they are
/// all back, the nanoseconds that took and the 99th percentile of the answers' times go back. At
/// its end the client ends.
public final class EchoClient {
  private static final int MESSAGE = 64;

  /// Sixteen steps for each doubling of the time: to 6 % is near enough.
  private static final int STEPS = 16;

  private final ArrayList<Connection> connections = new ArrayList<>();
  private final Selector selector = Selector.open();
  private final long[] times = new long[64 * STEPS];
  private long toSend;
  private long toCome;

  private EchoClient() throws IOException {}

  /// One message at a time.
  private static final class Connection {
    final SocketChannel channel;
    final ByteBuffer buffer = ByteBuffer.allocateDirect(MESSAGE);
    long sentNanos;

    Connection(SocketChannel channel) {
      this.channel = channel;
    }

    void send() throws IOException {
      buffer.clear();
      sentNanos = System.nanoTime();
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
      buffer.clear();
    }

    /// Whether the whole message is back.
    boolean receive() throws IOException {
      if (channel.read(buffer) < 0) {
        throw new IOException("the server has hung up");
      }
      return !buffer.hasRemaining();
    }
  }

  public static void main(String[] args) throws IOException {
    var address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
    try (var orders = new Socket(address.getAddress(), address.getPort())) {
      orders.setTcpNoDelay(true);
      var client = new EchoClient();
      client.connect(address, Integer.parseInt(args[1]));
      var in =
          new BufferedReader(
              new InputStreamReader(orders.getInputStream(), StandardCharsets.US_ASCII));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String answer = client.round(Long.parseLong(line));
        orders.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
      }
    }
  }

  private void connect(InetSocketAddress address, int count) throws IOException {
    for (int i = 0; i < count; i++) {
      var channel = SocketChannel.open(address);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.configureBlocking(false);
      var connection = new Connection(channel);
      channel.register(selector, SelectionKey.OP_READ, connection);
      connections.add(connection);
    }
  }

  private String round(long messages) throws IOException {
    java.util.Arrays.fill(times, 0);
    toSend = messages;
    toCome = messages;
    long start = System.nanoTime();
    for (Connection connection : connections) {
      if (toSend > 0) {
        toSend--;
        connection.send();
      }
    }
    while (toCome > 0) {
      selector.select(this::answered);
    }
    long nanos = System.nanoTime() - start;
    return nanos + " " + percentile(messages - messages / 100) + "\n";
  }

  private void answered(SelectionKey key) {
    var connection = (Connection) key.attachment();
    try {
      if (!connection.receive()) {
        return;
      }
      count(System.nanoTime() - connection.sentNanos);
      toCome--;
      if (toSend > 0) {
        toSend--;
        connection.send();
      }
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private void count(long nanos) {
    int log = 63 - Long.numberOfLeadingZeros(Math.max(STEPS, nanos));
    int step = (int) (nanos >>> (log - 4)) & (STEPS - 1);
    times[log * STEPS + step]++;
  }

  /// The upper end of the step in which the n-th shortest time is.
  private long percentile(long n) {
    long seen = 0;
    for (int i = 0; i < times.length; i++) {
      seen += times[i];
      if (seen >= n) {
        int log = i / STEPS;
        return (1L << log) + ((i % STEPS + 1L) << (log - 4));
      }
    }
    return 0;
  }
}
