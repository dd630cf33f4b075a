package dev.gloom.runtime;

import dev.gloom.Gloom;
import dev.gloom.Scheduler;
import dev.gloom.api.Lab;
import java.io.IOException;
import java.io.InputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/// Reads of goroutines from sockets, in all orders of data, end, reset and readers, in a JVM of its
/// own, where gloom comes before the first socket. Ends with status 0 if all is well. Without
/// JUnit.
final class ReadsProgram {
  private static final int ROUNDS = 300;
  private static final InetSocketAddress ANY_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private ReadsProgram() {}

  private record Pair(Socket near, Socket far) implements AutoCloseable {
    static Pair open() throws IOException {
      try (var server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
        var near = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort());
        Socket far = server.accept();
        for (Socket s : new Socket[] {near, far}) {
          s.setTcpNoDelay(true);
          s.setSoTimeout(5_000); // instead of for ever, if an edge is lost
        }
        return new Pair(near, far);
      }
    }

    void send(String text) throws IOException {
      far.getOutputStream().write(text.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    }

    /// One read into much room.
    String get() throws IOException {
      return read(near.getInputStream(), 4_096);
    }

    @Override
    public void close() throws IOException {
      near.close();
      far.close();
    }
  }

  private static String read(InputStream in, int room) throws IOException {
    byte[] buffer = new byte[room];
    long start = System.nanoTime();
    int n = in.read(buffer);
    check(true, System.nanoTime() - start < 4_000_000_000L); // not by a time-out
    return n < 0 ? "end" : new String(buffer, 0, n, java.nio.charset.StandardCharsets.US_ASCII);
  }

  private static void check(Object expected, Object got) {
    if (!expected.equals(got)) {
      throw new AssertionError("expected " + expected + " but got " + got);
    }
  }

  public static void main(String[] args) throws Exception {
    boolean edge = args[0].equals("edge");
    Gloom.maxProcs();
    Gloom.run(
        () -> {
          dialogue(edge);
          endAfterData();
          endWithData();
          endWhileWaiting();
          reset();
          errorsAreInTheJdksWords();
          timeOut();
          parts();
          stream();
          otherReaders();
          otherScheduler();
          closedAndUsedAgain();
          urgentData();
          errorOfADatagramIsNotItsEnd();
        });
    check(edge ? "epoll, edge" : "epoll", Gloom.stats().net().poller());
    check(0, Gloom.stats().net().waiting());
    check(0L, Gloom.stats().rescues());
  }

  /// Question and answer: most reads that would be in vain are not tried.
  private static void dialogue(boolean edge) throws Exception {
    try (var pair = Pair.open()) {
      var answers =
          Gloom.go(
              () -> {
                InputStream in = pair.far.getInputStream();
                for (String s = read(in, 100); !s.equals("end"); s = read(in, 100)) {
                  pair.send(s);
                }
              });
      long before = NetPoll.notTried();
      for (int i = 0; i < ROUNDS; i++) {
        pair.near.getOutputStream().write(("question " + i).getBytes("US-ASCII"));
        check("question " + i, pair.get());
      }
      long notTried = NetPoll.notTried() - before;
      if (edge ? notTried < ROUNDS : notTried != 0) { // of 2 * ROUNDS, seven in eight
        throw new AssertionError("not tried: " + notTried);
      }
      pair.near.shutdownOutput();
      answers.join();
    }
  }

  /// Has the reader at `pair.near` learn that reads are in vain.
  private static void teach(Pair pair) throws Exception {
    for (int i = 0; i < 5; i++) {
      int said = i;
      Gloom.go(
          () -> {
            Thread.sleep(1);
            pair.send("word " + said);
          });
      check("word " + i, pair.get());
    }
  }

  private static void endAfterData() throws Exception {
    for (int i = 0; i < 20; i++) {
      try (var pair = Pair.open()) {
        teach(pair);
        pair.send("last");
        check("last", pair.get());
        pair.far.shutdownOutput();
        check("end", pair.get());
        check("end", pair.get());
        pair.near.getOutputStream().write(7); // the other direction is open
        check(7, pair.far.getInputStream().read());
      }
    }
  }

  /// One edge for both.
  private static void endWithData() throws Exception {
    for (int i = 0; i < 20; i++) {
      try (var pair = Pair.open()) {
        teach(pair);
        Gloom.go(
            () -> {
              Thread.sleep(1);
              pair.send("last");
              pair.far.close();
            });
        check("last", pair.get());
        check("end", pair.get());
      }
      try (var pair = Pair.open()) { // before anybody reads
        teach(pair);
        pair.send("last");
        pair.far.close();
        check("last", pair.get());
        check("end", pair.get());
      }
    }
  }

  private static void endWhileWaiting() throws Exception {
    for (int i = 0; i < 20; i++) {
      try (var pair = Pair.open()) {
        teach(pair);
        Gloom.go(
            () -> {
              Thread.sleep(2);
              pair.far.close();
            });
        check("end", pair.get());
      }
    }
  }

  private static void reset() throws Exception {
    for (int i = 0; i < 20; i++) {
      try (var pair = Pair.open()) {
        teach(pair);
        pair.far.setSoLinger(true, 0);
        if (i % 2 == 0) {
          pair.far.close();
        } else {
          Gloom.go(
              () -> {
                Thread.sleep(2);
                pair.far.close();
              });
        }
        try {
          check("a reset", pair.get());
        } catch (SocketException e) {
          check("Connection reset", e.getMessage());
        }
      }
    }
  }

  /// Whichever system call it is by which gloom or the JDK reads and writes.
  private static void errorsAreInTheJdksWords() throws Exception {
    try (var pair = Pair.open()) {
      resetBeforeAnybodyLooks(pair.far);
      check("SocketException: Connection reset", error(pair::get));
      check("SocketException: Connection reset", error(pair::get));
      check("SocketException: Broken pipe", error(() -> writeOn(pair.near)));
    }
    try (var pair = Pair.open()) {
      resetBeforeAnybodyLooks(pair.far);
      check("SocketException: Connection reset by peer", error(() -> writeOn(pair.near)));
      check("SocketException: Broken pipe", error(() -> writeOn(pair.near)));
      check("end", pair.get()); // the reset was told of
    }
    try (var server = ServerSocketChannel.open().bind(ANY_PORT)) {
      for (boolean reads : new boolean[] {true, false}) {
        try (var near = SocketChannel.open(server.getLocalAddress());
            var far = server.accept()) {
          resetBeforeAnybodyLooks(far.socket());
          if (reads) {
            check("SocketException: Connection reset", error(() -> near.read(room())));
            check("SocketException: Connection reset", error(() -> near.read(room())));
          } else {
            check("IOException: Connection reset by peer", error(() -> near.write(room())));
          }
          check("IOException: Broken pipe", error(() -> near.write(room())));
        }
      }
    }
  }

  private static ByteBuffer room() {
    return ByteBuffer.allocate(10);
  }

  private static Object writeOn(Socket socket) throws IOException {
    socket.getOutputStream().write(new byte[10]);
    return "written";
  }

  private static void resetBeforeAnybodyLooks(Socket far) throws IOException {
    far.setSoLinger(true, 0);
    far.close(); // on loopback the reset is there when this returns
  }

  private static String error(Callable<Object> call) {
    try {
      return "none: " + call.call();
    } catch (Exception e) {
      return e.getClass().getSimpleName() + ": " + e.getMessage();
    }
  }

  private static void timeOut() throws Exception {
    try (var pair = Pair.open()) {
      teach(pair);
      pair.near.setSoTimeout(5);
      for (int i = 0; i < 10; i++) {
        try {
          check("a time-out", pair.get());
        } catch (SocketTimeoutException e) {
          check("Read timed out", e.getMessage());
        }
      }
      pair.send("late");
      check("late", pair.get());
      pair.near.setSoTimeout(5_000);
      teach(pair);
    }
  }

  /// Reads that are full leave something.
  private static void parts() throws Exception {
    try (var pair = Pair.open()) {
      teach(pair);
      InputStream in = pair.near.getInputStream();
      for (int i = 0; i < 50; i++) {
        pair.send("abcdefg");
        check("abcd", read(in, 4));
        check("efg", read(in, 3)); // full, and all
        pair.send("h");
        check("h", read(in, 4));
        check(0, in.available());
        pair.send("ij");
        while (in.available() < 2) {
          Thread.onSpinWait();
        }
        check("i", read(in, 1));
        check("j", read(in, 9));
      }
    }
  }

  /// As fast as it goes, in pieces of all sizes, and nothing is lost.
  private static void stream() throws Exception {
    byte[] sent = new byte[1 << 20];
    new Random(1).nextBytes(sent);
    try (var pair = Pair.open()) {
      Gloom.go(
          () -> {
            var random = new Random(2);
            for (int at = 0; at < sent.length; ) {
              int n = Math.min(sent.length - at, 1 + random.nextInt(3_000));
              pair.far.getOutputStream().write(sent, at, n);
              at += n;
              if (random.nextInt(10) == 0) {
                Gloom.gosched();
              }
            }
            pair.far.shutdownOutput();
          });
      byte[] got = pair.near.getInputStream().readAllBytes();
      check(true, Arrays.equals(sent, got));
    }
  }

  /// Goroutine, platform thread and a virtual thread of the JDK's take turns.
  private static void otherReaders() throws Exception {
    try (var pair = Pair.open()) {
      teach(pair);
      var thrown = new java.util.concurrent.atomic.AtomicReference<Throwable>();
      for (int i = 0; i < 30; i++) {
        pair.send("one two");
        var other =
            new Thread(
                () -> {
                  try {
                    check("one ", read(pair.near.getInputStream(), 4));
                  } catch (Throwable e) {
                    thrown.set(e);
                  }
                });
        other.start();
        other.join();
        check("two", pair.get());
        if (thrown.get() != null) {
          throw new AssertionError(thrown.get());
        }
      }
      teach(pair);
    }
  }

  /// Its goroutines wait in a set of their own.
  private static void otherScheduler() throws Exception {
    try (var pair = Pair.open();
        var other = Scheduler.builder().maxProcs(1).build()) {
      teach(pair);
      for (int i = 0; i < 30; i++) {
        Gloom.go(
            () -> {
              Thread.sleep(1);
              pair.send("there");
            });
        other.run(() -> check("there", pair.get()));
        teach(pair);
      }
    }
  }

  /// The same number, another socket: nothing is known of it.
  private static void closedAndUsedAgain() throws Exception {
    for (int i = 0; i < ROUNDS; i++) {
      try (var pair = Pair.open()) {
        pair.send("first");
        check("first", pair.get());
        pair.send("second");
        check("second", pair.get());
        if (i % 2 == 0) {
          pair.far.close();
          check("end", pair.get());
          if (i < 40) {
            Thread.sleep(1); // the poller hears of it
          }
        } else if (i < 40) { // the number of one that had come to its end: this one waits
          long before = Gloom.stats().dispatches();
          teach(pair);
          long dispatches = Gloom.stats().dispatches() - before;
          check("few dispatches", dispatches < 200 ? "few dispatches" : dispatches);
        }
      }
    }
  }

  /// A read stops short before it.
  private static void urgentData() throws Exception {
    for (int i = 0; i < 20; i++) {
      try (var pair = Pair.open();
          var other = Pair.open()) {
        var waits = Gloom.go(() -> check("go", other.get())); // so somebody polls
        teach(pair);
        pair.send("abc");
        pair.far.sendUrgentData('x');
        pair.send("def");
        Thread.sleep(2); // all of it has come, and the poller has heard of it
        var got = new StringBuilder();
        while (got.length() < 6) {
          LockSupport.parkNanos(1); // a permit that was left over would end the wait
          got.append(pair.get());
        }
        check("abcdef", got.toString());
        teach(pair);
        other.send("go");
        waits.join();
      }
    }
  }

  /// Nobody listens there, and the kernel says so: an error, once. Then the socket waits as before.
  private static void errorOfADatagramIsNotItsEnd() throws Exception {
    int port;
    try (var closed = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
      port = closed.getLocalPort();
    }
    try (var socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
      socket.connect(InetAddress.getLoopbackAddress(), port);
      socket.setSoTimeout(100);
      var packet = new DatagramPacket(new byte[10], 10);
      Thread receiver = Thread.currentThread();
      Gloom.go(
          () -> {
            Lab.await("it waits", () -> receiver.getState() == Thread.State.TIMED_WAITING);
            socket.send(new DatagramPacket(new byte[1], 1));
          });
      receivesNothing(socket, packet);
      long cpu = ProcessHandle.current().info().totalCpuDuration().orElseThrow().toMillis();
      for (int i = 0; i < 10; i++) {
        receivesNothing(socket, packet);
      }
      cpu = ProcessHandle.current().info().totalCpuDuration().orElseThrow().toMillis() - cpu;
      check("little CPU", cpu < 500 ? "little CPU" : cpu); // of 1,000 ms
    }
  }

  private static void receivesNothing(DatagramSocket socket, DatagramPacket packet)
      throws IOException {
    try {
      socket.receive(packet);
      check("nothing", packet);
    } catch (SocketTimeoutException | PortUnreachableException e) {
      // as it should be
    }
  }
}
