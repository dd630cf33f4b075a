package dev.gloom.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.gloom.Goroutine;
import dev.gloom.WaitGroup;
import dev.gloom.api.ChildJvm;
import dev.gloom.api.Lab;
import java.io.InputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Every kind of socket that the JDK has, in goroutines: the data arrives, and it was gloom's
/// poller that woke who waited for it.
@Timeout(60)
@SuppressWarnings("try") // a close before the end is what others wait for
class SocketKindsTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void sockets(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var server = Wires.server()) {
      lab.go(() -> Wires.serveEchoes(lab, server));
      var done = new WaitGroup();
      for (int i = 0; i < 50; i++) {
        long seed = i;
        done.add(1);
        lab.go(
            () -> {
              try (Socket socket = Wires.connect(server)) {
                Wires.talk(socket.getInputStream(), socket.getOutputStream(), 40, seed);
                done.done();
              }
            });
      }
      done.await();
      server.close();
      Lab.quiet(lab.scheduler());
      assertTrue(Wires.quiet(lab.scheduler()).ready() > 500, "" + lab.scheduler().stats());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void channels(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var server = ServerSocketChannel.open().bind(Wires.address(0))) {
      exchange(lab, server, server.getLocalAddress());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void unixDomainChannels(int procs, @TempDir Path directory) throws Exception {
    var address = UnixDomainSocketAddress.of(directory.resolve("socket"));
    try (var lab = Lab.procs(procs);
        var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(address)) {
      exchange(lab, server, address);
    }
  }

  private static void exchange(Lab lab, ServerSocketChannel server, java.net.SocketAddress address)
      throws Exception {
    Goroutine echo =
        lab.go(
            () -> {
              try (var channel = server.accept()) {
                var buffer = ByteBuffer.allocate(10_000);
                while (channel.read(buffer) >= 0) {
                  buffer.flip();
                  while (buffer.hasRemaining()) {
                    channel.write(buffer);
                  }
                  buffer.clear();
                }
              }
            });
    lab.run(
        () -> {
          try (var channel = SocketChannel.open(address)) {
            for (int i = 0; i < 100; i++) {
              var sent = ByteBuffer.wrap(("message " + i).getBytes(StandardCharsets.UTF_8));
              channel.write(sent.duplicate());
              var got = ByteBuffer.allocate(sent.remaining());
              while (got.hasRemaining()) {
                channel.read(got);
              }
              assertEquals(sent, got.flip());
            }
          }
        });
    echo.join();
    assertTrue(Wires.quiet(lab.scheduler()).ready() > 50, "" + lab.scheduler().stats());
  }

  /// More than any buffer of the kernel holds: the writer has to wait.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void writerWaitsUntilTheReaderHasTaken(int procs) throws Exception {
    byte[] sent = new byte[20_000_000];
    new java.util.Random(1).nextBytes(sent);
    try (var lab = Lab.procs(procs);
        var wire = Wires.Pair.open()) {
      Goroutine writer = lab.go(() -> wire.near().getOutputStream().write(sent));
      Lab.awaitWaiting(writer);
      lab.run(() -> assertArrayEquals(sent, wire.far().getInputStream().readNBytes(sent.length)));
      writer.join();
      assertTrue(Wires.quiet(lab.scheduler()).ready() > 1, "" + lab.scheduler().stats());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void datagrams(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var here = DatagramChannel.open().bind(Wires.address(0));
        var there = new DatagramSocket(0, Wires.HERE)) {
      Goroutine echo =
          lab.go(
              () -> {
                var packet = new DatagramPacket(new byte[100], 100);
                for (int i = 0; i < 100; i++) {
                  packet.setLength(100);
                  there.receive(packet);
                  there.send(packet);
                }
                there.setSoTimeout(20);
                try {
                  there.receive(packet);
                  throw new AssertionError("something came");
                } catch (SocketTimeoutException e) {
                  // as it should be
                }
              });
      lab.run(
          () -> {
            for (int i = 0; i < 100; i++) {
              var sent = ByteBuffer.allocate(4).putInt(0, i);
              here.send(sent.duplicate(), there.getLocalSocketAddress());
              var got = ByteBuffer.allocate(100);
              here.receive(got);
              assertEquals(sent, got.flip());
            }
          });
      echo.join();
      assertTrue(Wires.quiet(lab.scheduler()).ready() > 50, "" + lab.scheduler().stats());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void pipes(int procs) throws Exception {
    Pipe pipe = Pipe.open();
    try (var lab = Lab.procs(procs);
        var source = pipe.source();
        var sink = pipe.sink()) {
      int total = 1_000_000; // more than a pipe holds: both sides wait
      Goroutine reader =
          lab.go(
              () -> {
                var buffer = ByteBuffer.allocate(8_000);
                int next = 0;
                while (source.read(buffer) >= 0) {
                  buffer.flip();
                  while (buffer.hasRemaining()) {
                    assertEquals((byte) next++, buffer.get());
                  }
                  buffer.clear();
                }
                assertEquals(total, next);
              });
      Lab.awaitWaiting(reader);
      lab.run(
          () -> {
            var buffer = ByteBuffer.allocate(total);
            for (int i = 0; i < total; i++) {
              buffer.put((byte) i);
            }
            buffer.flip();
            while (buffer.hasRemaining()) {
              sink.write(buffer);
            }
            sink.close();
          });
      reader.join();
      assertTrue(Wires.quiet(lab.scheduler()).ready() > 0, "" + lab.scheduler().stats());
    }
  }

  /// One goroutine serves all connections through a selector; clients are goroutines too.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void selectorInsideAGoroutine(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var selector = Selector.open();
        var server = ServerSocketChannel.open().bind(Wires.address(0))) {
      server.configureBlocking(false);
      server.register(selector, SelectionKey.OP_ACCEPT);
      Goroutine loop = lab.go(() -> serve(selector, server));
      Lab.awaitWaiting(loop);
      lab.run(
          () -> {
            var done = new WaitGroup();
            for (int i = 0; i < 20; i++) {
              long seed = i;
              done.add(1);
              lab.go(
                  () -> {
                    try (var socket =
                        new Socket(
                            Wires.HERE, ((InetSocketAddress) server.getLocalAddress()).getPort())) {
                      Wires.talk(socket.getInputStream(), socket.getOutputStream(), 20, seed);
                      done.done();
                    }
                  });
            }
            done.await();
            assertEquals(0, Selector.open().select(20), "times out");
          });
      selector.close(); // wakes it
      loop.join();
      assertTrue(Wires.quiet(lab.scheduler()).ready() > 20, "" + lab.scheduler().stats());
    }
  }

  private static void serve(Selector selector, ServerSocketChannel server) throws Exception {
    var buffer = ByteBuffer.allocate(1_000);
    try {
      while (selector.isOpen()) {
        selector.select();
        for (SelectionKey key : selector.selectedKeys()) {
          if (key.channel() == server) {
            SocketChannel accepted = server.accept();
            accepted.configureBlocking(false);
            accepted.register(selector, SelectionKey.OP_READ);
          } else {
            var channel = (SocketChannel) key.channel();
            buffer.clear();
            if (channel.read(buffer) < 0) {
              channel.close();
            } else {
              buffer.flip();
              while (buffer.hasRemaining()) {
                channel.write(buffer);
              }
            }
          }
        }
        selector.selectedKeys().clear();
      }
    } catch (ClosedSelectorException e) {
      // the end of the test
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void httpServerAndClient(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var executor = lab.scheduler().executor()) {
      var server = HttpServer.create(Wires.address(0), 100);
      server.setExecutor(executor);
      server.createContext(
          "/",
          exchange -> {
            byte[] body = exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
          });
      server.start();
      var uri = URI.create("http://localhost:" + server.getAddress().getPort() + "/");
      var answers = new AtomicInteger();
      try (var client =
          HttpClient.newBuilder().executor(executor).version(HttpClient.Version.HTTP_1_1).build()) {
        lab.run(
            () -> {
              var done = new WaitGroup();
              for (int i = 0; i < 20; i++) {
                String body = "body " + i;
                done.add(1);
                lab.go(
                    () -> {
                      for (int j = 0; j < 5; j++) {
                        var request =
                            HttpRequest.newBuilder(uri)
                                .POST(HttpRequest.BodyPublishers.ofString(body))
                                .build();
                        var answer = client.send(request, HttpResponse.BodyHandlers.ofString());
                        assertEquals(body, answer.body());
                        answers.incrementAndGet();
                      }
                      done.done();
                    });
              }
              done.await();
            });
      }
      server.stop(0);
      assertEquals(100, answers.get());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void tls(int procs, @TempDir Path directory) throws Exception {
    SSLContext context = context(directory.resolve("keys"));
    try (var lab = Lab.procs(procs);
        var server =
            (SSLServerSocket)
                context.getServerSocketFactory().createServerSocket(0, 100, Wires.HERE)) {
      lab.go(() -> Wires.serveEchoes(lab, server));
      lab.run(
          () -> {
            var done = new WaitGroup();
            for (int i = 0; i < 5; i++) {
              long seed = i;
              done.add(1);
              lab.go(
                  () -> {
                    try (Socket socket =
                        context
                            .getSocketFactory()
                            .createSocket(Wires.HERE, server.getLocalPort())) {
                      Wires.talk(socket.getInputStream(), socket.getOutputStream(), 20, seed);
                      done.done();
                    }
                  });
            }
            done.await();
          });
      server.close();
      Lab.quiet(lab.scheduler());
      assertTrue(Wires.quiet(lab.scheduler()).ready() > 20, "" + lab.scheduler().stats());
    }
  }

  /// A key that vouches for itself.
  private static SSLContext context(Path file) throws Exception {
    String password = "gloom-test";
    ChildJvm.run(
            60,
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "test",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=ip:127.0.0.1,dns:localhost",
                "-storetype",
                "PKCS12",
                "-keystore",
                file.toString(),
                "-storepass",
                password))
        .succeeded();
    var store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, password.toCharArray());
    }
    var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, password.toCharArray());
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    var context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
    return context;
  }
}
