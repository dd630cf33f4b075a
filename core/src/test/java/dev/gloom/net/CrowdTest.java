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
  private static final int CONNECTIONS = 2_500;
  private static final int ROUNDS = 20;

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
      Arrays.sort(answers);
      int least = answers[0];
      int middle = answers[CONNECTIONS / 2];
      String text =
          "%d answers for the last of %d connections, %d in the middle, %d for the first"
              .formatted(least, CONNECTIONS, middle, answers[CONNECTIONS - 1]);
      System.out.println(text);
      assertTrue(least >= middle / 2, text);
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

  /// How many answers each connection has had when they have had so many on average. (One that
  /// finds its next question there when it has answered goes on for a slice, as in Go; so the first
  /// has many more.)
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
      for (int all = 0; all < ROUNDS * CONNECTIONS; ) {
        selector.select();
        for (SelectionKey key : selector.selectedKeys()) {
          var channel = (SocketChannel) key.channel();
          assertEquals(1, channel.read(room.clear()));
          answers[(int) key.attachment()]++;
          all++;
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
