package dev.gloom.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.Lab;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// More connections are ready than a run queue can hold, all the time: each is served in its turn.
@Timeout(120)
class CrowdTest {
  private static final int CONNECTIONS = 700;
  private static final int ROUNDS = 120;

  /// A client that answers whoever answers it, at once. If those whose sockets are looked at last
  /// are put before those who were found earlier, the latter are not served at all.
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void connectionsAreServedInTurn(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var server = new ServerSocket(0, CONNECTIONS, InetAddress.getLoopbackAddress())) {
      lab.go(
          () -> {
            for (int i = 0; i < CONNECTIONS; i++) {
              Socket socket = server.accept();
              lab.go(() -> echo(socket));
            }
          });
      int[] answers =
          exchange(new InetSocketAddress(server.getInetAddress(), server.getLocalPort()));
      int[] sorted = answers.clone();
      Arrays.sort(sorted);
      assertEquals(ROUNDS, sorted[sorted.length - 1]);
      System.out.printf(
          "%d answers for the first of %d connections: %d for the last, %d in the middle%n",
          ROUNDS, CONNECTIONS, sorted[0], sorted[CONNECTIONS / 2]);
      assertTrue(
          sorted[0] >= ROUNDS / 3,
          "while one had "
              + ROUNDS
              + " answers, others had "
              + Arrays.toString(Arrays.copyOf(sorted, 20)));
    }
  }

  private static void echo(Socket socket) throws IOException {
    try (socket) {
      InputStream in = socket.getInputStream();
      OutputStream out = socket.getOutputStream();
      for (int b = in.read(); b >= 0; b = in.read()) {
        out.write(b);
      }
    } catch (SocketException _) {
      // the client has gone, with an answer on the way
    }
  }

  /// How many answers each connection has had when the first of them has had its rounds.
  private static int[] exchange(InetSocketAddress server) throws IOException {
    int[] answers = new int[CONNECTIONS];
    var channels = new ArrayList<SocketChannel>();
    try (var selector = Selector.open()) {
      for (int i = 0; i < CONNECTIONS; i++) {
        SocketChannel channel = SocketChannel.open(server);
        channels.add(channel);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
        channel.register(selector, SelectionKey.OP_READ, i);
      }
      say(channels);
      var room = ByteBuffer.allocateDirect(1);
      for (int most = 0; most < ROUNDS; ) {
        selector.select();
        for (SelectionKey key : selector.selectedKeys()) {
          var channel = (SocketChannel) key.channel();
          assertEquals(1, channel.read(room.clear()));
          most = Math.max(most, ++answers[(int) key.attachment()]);
          assertEquals(1, channel.write(room.flip()));
        }
        selector.selectedKeys().clear();
      }
      return answers;
    } finally {
      for (SocketChannel channel : channels) {
        channel.close();
      }
    }
  }

  private static void say(List<SocketChannel> channels) throws IOException {
    for (SocketChannel channel : channels) {
      channel.write(ByteBuffer.wrap(new byte[] {1}));
    }
  }
}
