package dev.gloom.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Body;
import dev.gloom.Goroutine;
import dev.gloom.api.Lab;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// How a wait for a socket ends other than by data: time-outs, closes, interrupts, resets. The same
/// exceptions as on the JDK's own threads, and nobody is left in the poller.
@Timeout(60)
@SuppressWarnings("try") // a close before the end is what others wait for
class SocketEndsTest {
  /// What a body threw, once its goroutine has ended.
  private static final class Outcome {
    final AtomicReference<Throwable> thrown = new AtomicReference<>();
    final Goroutine goroutine;

    Outcome(Lab lab, Body body) {
      goroutine =
          lab.go(
              () -> {
                try {
                  body.run();
                } catch (Throwable e) {
                  thrown.set(e);
                }
              });
    }

    Throwable get() throws InterruptedException {
      goroutine.join();
      return thrown.get();
    }
  }

  // Time-outs: spec item 128, as Java has it.

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void readTimesOutAndCanBeTriedAgain(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var wire = Wires.Pair.open()) {
      lab.run(
          () -> {
            Socket socket = wire.near();
            socket.setSoTimeout(50);
            for (int i = 0; i < 3; i++) {
              long start = System.nanoTime();
              var e =
                  assertThrows(SocketTimeoutException.class, () -> socket.getInputStream().read());
              assertEquals("Read timed out", e.getMessage());
              assertTrue(System.nanoTime() - start >= 50_000_000, "too early");
            }
            wire.far().getOutputStream().write(7);
            assertEquals(7, socket.getInputStream().read(), "in time");
            socket.setSoTimeout(0);
            Goroutine later =
                lab.go(
                    () -> {
                      Thread.sleep(100);
                      wire.far().getOutputStream().write(8);
                    });
            assertEquals(8, socket.getInputStream().read(), "no limit any more");
            later.join();
          });
      Wires.quiet(lab.scheduler());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void acceptTimesOut(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var server = Wires.server()) {
      lab.run(
          () -> {
            server.setSoTimeout(20);
            assertThrows(SocketTimeoutException.class, server::accept);
            try (Socket socket = Wires.connect(server)) {
              server.accept().close();
              assertTrue(socket.isConnected());
            }
          });
      Wires.quiet(lab.scheduler());
    }
  }

  /// A server that accepts nobody: Linux lets connections wait when its line is full.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void connectTimesOut(int procs) throws Exception {
    var opened = new ArrayList<Socket>();
    try (var lab = Lab.procs(procs);
        var full = new ServerSocket(0, 1, Wires.HERE)) {
      lab.run(
          () ->
              assertThrows(
                  SocketTimeoutException.class,
                  () -> {
                    for (int i = 0; i < 100; i++) {
                      var socket = new Socket();
                      opened.add(socket);
                      socket.connect(full.getLocalSocketAddress(), 100);
                    }
                  }));
      Wires.quiet(lab.scheduler());
    } finally {
      for (Socket socket : opened) {
        socket.close();
      }
    }
  }

  // Bad addresses.

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void badAddressesFailAsTheyDoElsewhere(int procs) throws Exception {
    try (var lab = Lab.procs(procs)) {
      int closed;
      try (var server = Wires.server()) {
        closed = server.getLocalPort();
      }
      lab.run(
          () -> {
            assertThrows(ConnectException.class, () -> new Socket(Wires.HERE, closed).close());
            assertThrows(
                ConnectException.class, () -> SocketChannel.open(Wires.address(closed)).close());
            assertThrows(
                UnknownHostException.class, () -> new Socket("nowhere.invalid", 1).close());
            assertThrows(
                IllegalArgumentException.class, () -> new Socket(Wires.HERE, 65_536).close());
            assertThrows(
                UnresolvedAddressException.class,
                () ->
                    SocketChannel.open(InetSocketAddress.createUnresolved("nowhere.invalid", 1))
                        .close());
            assertThrows(SocketException.class, () -> new ServerSocket(0, 1, remote()).close());
          });
      Wires.quiet(lab.scheduler());
    }
  }

  /// An address for documentation, which no machine has.
  private static java.net.InetAddress remote() throws UnknownHostException {
    return java.net.InetAddress.getByAddress(new byte[] {(byte) 192, 0, 2, 1});
  }

  // Closing under somebody who waits: spec item 129.

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void closeWakesReaderAndWriter(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var wire = Wires.Pair.open()) {
      Socket socket = wire.near();
      var reader = new Outcome(lab, () -> socket.getInputStream().read());
      var writer =
          new Outcome(
              lab,
              () -> {
                while (true) {
                  socket.getOutputStream().write(new byte[100_000]);
                }
              });
      Lab.await("both wait", () -> lab.scheduler().stats().net().waiting() == 2);
      Lab.awaitWaiting(reader.goroutine);
      Lab.awaitWaiting(writer.goroutine);
      lab.run(socket::close);
      for (Outcome outcome : List.of(reader, writer)) {
        assertEquals(SocketException.class, outcome.get().getClass());
        assertEquals("Socket closed", outcome.get().getMessage());
      }
      Wires.quiet(lab.scheduler());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void closeFromAnyThreadWakesWhoeverWaits(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var server = ServerSocketChannel.open().bind(Wires.address(0));
        var near = SocketChannel.open(server.getLocalAddress());
        var far = server.accept();
        var old = Wires.server()) {
      var acceptor = new Outcome(lab, server::accept);
      var oldAcceptor = new Outcome(lab, old::accept);
      var reader = new Outcome(lab, () -> near.read(ByteBuffer.allocate(1)));
      Lab.await("all wait", () -> lab.scheduler().stats().net().waiting() == 3);
      server.close(); // from a platform thread
      Thread.ofVirtual().start(() -> close(near)).join(); // from one of the JDK's scheduler
      old.close();
      assertEquals(AsynchronousCloseException.class, acceptor.get().getClass());
      assertEquals(AsynchronousCloseException.class, reader.get().getClass());
      assertEquals(SocketException.class, oldAcceptor.get().getClass());
      assertTrue(far.isOpen());
      Wires.quiet(lab.scheduler());
    }
  }

  private static void close(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void interruptClosesAndWakes(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var wire = Wires.Pair.open();
        var server = ServerSocketChannel.open().bind(Wires.address(0));
        var channel = SocketChannel.open(server.getLocalAddress())) {
      var socketReader = new Outcome(lab, () -> wire.near().getInputStream().read());
      var channelReader = new Outcome(lab, () -> channel.read(ByteBuffer.allocate(1)));
      Lab.await("both wait", () -> lab.scheduler().stats().net().waiting() == 2);
      Lab.awaitWaiting(socketReader.goroutine);
      Lab.awaitWaiting(channelReader.goroutine);
      socketReader.goroutine.thread().interrupt();
      channelReader.goroutine.thread().interrupt();
      assertEquals(SocketException.class, socketReader.get().getClass());
      assertEquals("Closed by interrupt", socketReader.get().getMessage());
      assertEquals(ClosedByInterruptException.class, channelReader.get().getClass());
      assertTrue(wire.near().isClosed());
      Wires.quiet(lab.scheduler());
    }
  }

  // The other side goes.

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void halfClosedConnectionGoesOnInTheOtherDirection(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var wire = Wires.Pair.open()) {
      Goroutine far =
          lab.go(
              () -> {
                byte[] all = wire.far().getInputStream().readAllBytes();
                wire.far().getOutputStream().write(all);
                wire.far().shutdownOutput();
              });
      lab.run(
          () -> {
            Lab.awaitWaiting(far);
            wire.near().getOutputStream().write(new byte[] {1, 2, 3});
            wire.near().shutdownOutput();
            assertEquals(3, wire.near().getInputStream().readAllBytes().length);
          });
      far.join();
      Wires.quiet(lab.scheduler());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void shutdownOfInputEndsTheRead(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var wire = Wires.Pair.open()) {
      var got = new AtomicInteger();
      Goroutine reader = lab.go(() -> got.set(wire.near().getInputStream().read()));
      Lab.awaitWaiting(reader);
      wire.near().shutdownInput();
      reader.join();
      assertEquals(-1, got.get());
      Wires.quiet(lab.scheduler());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void resetReachesTheReader(int procs) throws Exception {
    try (var lab = Lab.procs(procs);
        var wire = Wires.Pair.open()) {
      var reader = new Outcome(lab, () -> wire.near().getInputStream().read());
      Lab.awaitWaiting(reader.goroutine);
      wire.far().setSoLinger(true, 0);
      wire.far().close();
      assertEquals("Connection reset", reader.get().getMessage());
      Wires.quiet(lab.scheduler());
    }
  }

  // Many on one socket: spec item 131.

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void readersOfOneSocketTakeTurns(int procs) throws Exception {
    int readers = 20;
    int each = 50;
    try (var lab = Lab.procs(procs);
        var wire = Wires.Pair.open()) {
      var got = new ConcurrentLinkedQueue<Integer>();
      var all = new ArrayList<Goroutine>();
      for (int i = 0; i < readers; i++) {
        all.add(
            lab.go(
                () -> {
                  for (int j = 0; j < each; j++) {
                    got.add(wire.near().getInputStream().read());
                  }
                }));
      }
      all.forEach(Lab::awaitWaiting);
      assertEquals(1, lab.scheduler().stats().net().waiting(), "the others wait for their turn");
      for (int i = 0; i < readers * each; i++) {
        wire.far().getOutputStream().write(i % 100);
        if (i % 10 == 0) {
          Thread.sleep(1);
        }
      }
      for (Goroutine g : all) {
        g.join();
      }
      int[] count = new int[100];
      for (int value : got) {
        count[value]++;
      }
      for (int c : count) {
        assertEquals(readers * each / 100, c);
      }
      Wires.quiet(lab.scheduler());
    }
  }
}
