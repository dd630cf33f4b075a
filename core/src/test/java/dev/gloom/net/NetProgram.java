package dev.gloom.net;

import dev.gloom.Gloom;
import dev.gloom.Goroutine;
import dev.gloom.Scheduler;
import dev.gloom.WaitGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicReference;

/// What needs a JVM of its own; ends with status 0 if all is well. Without JUnit.
final class NetProgram {
  private NetProgram() {}

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "echo" -> echo(args[1]);
      case "late" -> late();
      case "reuse" -> reuse();
      case "exhausted" -> exhausted();
      case "idle" -> idle();
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  private static void check(boolean good, Object what) {
    if (!good) {
      throw new AssertionError(String.valueOf(what));
    }
  }

  private static ServerSocket server() throws IOException {
    return new ServerSocket(0, 1_000, InetAddress.getLoopbackAddress());
  }

  private static Socket connect(ServerSocket server) throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort());
  }

  private static void serve(Socket socket) throws IOException {
    try (socket) {
      for (int b = socket.getInputStream().read(); b >= 0; b = socket.getInputStream().read()) {
        socket.getOutputStream().write(b);
      }
    }
  }

  private static void talk(Socket socket) throws IOException {
    for (int i = 0; i < 100; i++) {
      socket.getOutputStream().write(i);
      int got = socket.getInputStream().read();
      check(got == i, got);
    }
  }

  /// The same, with a server that waits for each byte and is not so late that it finds it there.
  private static void talk(Socket socket, Goroutine server) throws Exception {
    for (int i = 0; i < 100; i++) {
      awaitWaiting(server.thread());
      socket.getOutputStream().write(i);
      int got = socket.getInputStream().read();
      check(got == i, got);
    }
  }

  private static void echo(String poller) throws Exception {
    Gloom.maxProcs(); // gloom comes before the first socket, if this is the first
    try (var server = server()) {
      Gloom.run(
          () -> {
            Gloom.go(
                () -> {
                  try {
                    while (true) {
                      Socket accepted = server.accept();
                      Gloom.go(() -> serve(accepted));
                    }
                  } catch (SocketException e) {
                    check(server.isClosed(), e);
                  }
                });
            var clients = new WaitGroup();
            for (int i = 0; i < 10; i++) {
              clients.go(
                  () -> {
                    try (Socket socket = connect(server)) {
                      talk(socket);
                    }
                  });
            }
            clients.await();
          });
      check(Gloom.stats().net().poller().equals(poller), Gloom.stats());
      check(Gloom.stats().net().ready() > 0 == poller.startsWith("epoll"), Gloom.stats());
      check(Gloom.stats().rescues() == 0, Gloom.stats());
    }
  }

  /// Virtual threads of the JDK's scheduler wait for sockets, in its default pollers; gloom comes;
  /// they are served as before, also by a close from a goroutine.
  private static void late() throws Exception {
    try (var server = server();
        Socket near = connect(server);
        Socket far = server.accept();
        Socket other = connect(server);
        Socket otherFar = server.accept()) {
      var thrown = new AtomicReference<Throwable>();
      var got = new AtomicReference<Integer>();
      Thread reader = Thread.ofVirtual().start(() -> got.set(read(near, thrown)));
      Thread closed = Thread.ofVirtual().start(() -> read(other, thrown));
      awaitWaiting(reader);
      awaitWaiting(closed);

      echo("epoll");
      Gloom.run(other::close);
      closed.join();
      check(
          thrown.get() instanceof SocketException e && "Socket closed".equals(e.getMessage()),
          thrown.get());
      Gloom.run(() -> far.getOutputStream().write(5));
      reader.join();
      check(got.get() == 5, got.get());

      // And new ones.
      Thread server2 = Thread.ofVirtual().start(() -> serveQuietly(far));
      talk(near);
      near.shutdownOutput();
      server2.join();
      check(otherFar.isConnected(), otherFar);
    }
  }

  /// The same numbers again and again, for sockets and selectors, in one goroutine: each wait must
  /// end, although the number was in the set before, as another's.
  private static void reuse() throws Exception {
    Gloom.maxProcs();
    try (var server = server()) {
      Gloom.run(
          () -> {
            for (int i = 0; i < 3_000; i++) {
              if (i % 10 == 9) { // not first: its number would be armed at each wait from then on
                try (var selector = Selector.open()) {
                  check(selector.select(1) == 0, "selected");
                }
              }
              try (Socket near = connect(server);
                  Socket far = server.accept()) {
                int sent = i & 0x7f;
                Gloom.go(
                    () -> {
                      Gloom.gosched(); // let the other one wait first
                      far.getOutputStream().write(sent);
                    });
                near.setSoTimeout(10_000);
                int got =
                    near.getInputStream().read(); // a time-out, if the kernel does not know it
                check(got == sent, got);
              }
            }
          });
      check(Gloom.stats().net().poller().equals("epoll, edge"), Gloom.stats());
      check(Gloom.stats().net().ready() > 1_000, Gloom.stats());
      check(Gloom.stats().net().waiting() == 0, Gloom.stats());
    }
  }

  private static int read(Socket socket, AtomicReference<Throwable> thrown) {
    try {
      return socket.getInputStream().read();
    } catch (IOException e) {
      thrown.set(e);
      return -2;
    }
  }

  private static void serveQuietly(Socket socket) {
    try {
      serve(socket);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void awaitWaiting(Thread t) throws InterruptedException {
    while (t.getState() != Thread.State.WAITING) {
      Thread.sleep(1);
    }
  }

  /// No descriptor is left: the exceptions of plain Java, and afterwards all goes on. Those that
  /// wait already go on meanwhile, also those of a scheduler that had none of its own yet.
  private static void exhausted() throws Exception {
    try (var server = server();
        var late = Scheduler.builder().maxProcs(1).build()) {
      late.run(() -> {}); // has its thread, but no descriptors
      check(late.stats().rescues() == 0, Gloom.stats());
      try { // to load a class takes a descriptor: have them all
        Gloom.run(
            () -> {
              throw new SocketException("Too many open files");
            });
      } catch (SocketException e) {
        check(e.getMessage().contains("open"), e);
      }
      var pairs = new ArrayList<Socket>();
      try (Socket near = connect(server);
          Socket far = server.accept();
          Socket lateNear = connect(server);
          Socket lateFar = server.accept()) {
        Goroutine echo = Gloom.go(() -> serve(far));
        talk(near, echo);
        Gloom.run(() -> talk(near)); // the JDK's pollers, and gloom's, are there
        takeAllDescriptors(server, pairs);
        Gloom.run(
            () -> {
              try {
                pairs.add(connect(server));
                check(false, "connected");
              } catch (SocketException e) {
                check(e.getMessage().contains("Too many open files"), e);
              }
              talk(near);
            });
        try {
          Gloom.run(server::accept);
          check(false, "accepted");
        } catch (IOException e) {
          check(e.getMessage().contains("Too many open files"), e);
        }
        Goroutine lateEcho = late.go(() -> serve(lateFar));
        talk(lateNear, lateEcho);
        check(late.stats().net().ready() == 0, late.stats()); // the JDK's serve it
        for (Socket socket : pairs) {
          socket.close();
        }
        talk(lateNear, lateEcho);
        check(late.stats().net().ready() > 0, late.stats()); // its own now
        near.shutdownOutput();
        lateNear.shutdownOutput();
        echo.join();
        lateEcho.join();
      }
      check(Gloom.stats().net().waiting() == 0, Gloom.stats());
      check(late.stats().net().waiting() == 0, late.stats());
      check(Gloom.stats().rescues() == 0, Gloom.stats());
    }
  }

  /// A failure shows that none is left, not that none comes back: sysmon holds one while it reads
  /// what the kernel knows of a thread. Whoever gives one back now finds it taken.
  private static void takeAllDescriptors(ServerSocket server, ArrayList<Socket> taken)
      throws Exception {
    for (int inVain = 0; inVain < 100; ) {
      try {
        taken.add(connect(server));
        inVain = 0;
      } catch (SocketException e) {
        check(e.getMessage().contains("Too many open files"), e);
        inVain++;
        Thread.sleep(1);
      }
    }
  }

  /// Serves echoes to whoever comes, and says how many are there; ends with its standard input.
  private static void idle() throws Exception {
    try (var server = new ServerSocket(0, 20_000, InetAddress.getLoopbackAddress())) {
      System.out.println("port=" + server.getLocalPort());
      Gloom.go(
          () -> {
            while (true) {
              Socket accepted = server.accept();
              Gloom.go(() -> serve(accepted));
            }
          });
      while (System.in.read() >= 0) {
        System.out.println(
            "waiting=" + Gloom.stats().net().waiting() + " rescues=" + Gloom.stats().rescues());
      }
    }
  }
}
