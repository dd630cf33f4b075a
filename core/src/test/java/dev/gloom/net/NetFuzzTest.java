package dev.gloom.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.Lab;
import dev.gloom.jdk.Pollers;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Clients that open, reset, half-close, time out, interrupt and close under each other at random:
/// whatever they do, every byte that comes back is the right one, and at the end no descriptor, no
/// goroutine and no registration is left.
@SuppressWarnings("try") // a close before the end is what others wait for
class NetFuzzTest {
  private static final int CLIENTS = 40;

  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicLong echoed = new AtomicLong();
  private final AtomicLong opened = new AtomicLong();
  private final AtomicReference<Throwable> wrong = new AtomicReference<>();

  @Test
  @Timeout(120)
  void leavesNothingBehind() throws Exception {
    Lab.seeded(seed -> fuzz(seed, 60));
  }

  @Test
  @Tag("slow")
  @Timeout(1_200)
  void leavesNothingBehindAfterTenMinutes() throws Exception {
    Lab.seeded(seed -> fuzz(seed, 600));
  }

  private void fuzz(long seed, int seconds) throws Exception {
    try (var warm = Wires.Pair.open()) { // what the JDK opens once, and keeps
      Thread.ofVirtual().start(() -> tryToRead(warm.near())).join();
    }
    long sockets = Wires.descriptors("socket:");
    int registered = Pollers.registered();
    try (var servers = Lab.procs(2);
        var clients = Lab.procs(1);
        ServerSocket server = Wires.server()) {
      servers.go(() -> serve(servers, server));
      var all = new ArrayList<Thread>();
      for (int i = 0; i < CLIENTS; i++) {
        var random = new Random(seed + i);
        Runnable client = () -> run(server, random);
        Thread t =
            switch (i % 4) {
              case 0 -> Thread.ofVirtual().unstarted(client);
              case 1 -> Thread.ofPlatform().unstarted(client);
              default -> clients.scheduler().threadFactory().newThread(client);
            };
        t.start();
        all.add(t);
      }
      var random = new Random(seed);
      long end = System.nanoTime() + seconds * 1_000_000_000L;
      while (end - System.nanoTime() > 0 && !over.get()) {
        Thread.sleep(random.nextInt(20));
        all.get(random.nextInt(CLIENTS)).interrupt();
      }
      over.set(true);
      for (Thread t : all) {
        t.join();
      }
      server.close();
      Lab.quiet(clients.scheduler());
      Lab.quiet(servers.scheduler());
      Wires.quiet(clients.scheduler());
      Wires.quiet(servers.scheduler());
      System.out.printf(
          "NetFuzzTest: %d connections, %d echoes, %s%n",
          opened.get(), echoed.get(), servers.scheduler().stats().net());
    }
    assertNull(wrong.get());
    assertTrue(opened.get() > 10L * seconds, "opened only " + opened);
    assertTrue(echoed.get() > 10L * seconds, "echoed only " + echoed);
    assertEquals(registered, Pollers.registered());
    Lab.await("sockets are closed", () -> Wires.descriptors("socket:") <= sockets);
  }

  private static void tryToRead(Socket socket) {
    try {
      socket.setSoTimeout(1);
      socket.getInputStream().read();
    } catch (IOException e) {
      // it has waited
    }
  }

  private void serve(Lab lab, ServerSocket server) throws IOException {
    var seeds = new Random(1);
    while (true) {
      Socket socket;
      try {
        socket = server.accept();
      } catch (SocketException e) {
        assertTrue(server.isClosed(), e::toString);
        return;
      }
      long seed = seeds.nextLong();
      lab.go(
          () -> {
            try {
              if (seed % 5 == 0) {
                socket.setSoTimeout(1 + (int) (seed & 7));
              }
              Wires.echo(socket);
            } catch (IOException e) {
              socket.close(); // the client is rude; that is what it is for
            }
          });
    }
  }

  private void run(ServerSocket server, Random random) {
    while (!over.get()) {
      try (Socket socket = Wires.connect(server)) {
        opened.incrementAndGet();
        converse(socket, random);
      } catch (IOException e) {
        boolean _ = Thread.interrupted(); // a reset, a time-out, an interrupt
      } catch (Throwable e) {
        wrong.compareAndSet(null, e);
        over.set(true);
      }
    }
  }

  private void converse(Socket socket, Random random) throws IOException {
    socket.setTcpNoDelay(true);
    for (int i = random.nextInt(20); i >= 0; i--) {
      switch (random.nextInt(12)) {
        case 0 -> { // reset
          socket.setSoLinger(true, 0);
          return;
        }
        case 1 -> { // half-close, and what is left
          socket.getOutputStream().write(7);
          socket.shutdownOutput();
          for (int b = socket.getInputStream().read(); b >= 0; b = socket.getInputStream().read()) {
            assertEquals(7, b);
          }
          return;
        }
        case 2 -> timeOut(socket, random);
        case 3 -> closeUnderReader(socket, random);
        case 4 -> { // goes without a word, with something still to come
          socket.getOutputStream().write(new byte[100]);
          return;
        }
        default -> {
          byte[] sent = new byte[1 + random.nextInt(300)];
          random.nextBytes(sent);
          socket.getOutputStream().write(sent);
          byte[] got = socket.getInputStream().readNBytes(sent.length);
          if (got.length < sent.length) {
            return; // the server has gone: it had a time-out
          }
          assertArrayEquals(sent, got);
          echoed.incrementAndGet();
        }
      }
    }
  }

  private static void timeOut(Socket socket, Random random) throws IOException {
    socket.setSoTimeout(1 + random.nextInt(3));
    try {
      int b = socket.getInputStream().read();
      assertEquals(-1, b, "nothing was asked for; the server may have gone");
    } catch (SocketTimeoutException e) {
      socket.setSoTimeout(0);
    }
  }

  /// Somebody else closes it at about the time that this one begins to wait.
  private static void closeUnderReader(Socket socket, Random random) throws IOException {
    long nanos = random.nextInt(200_000);
    Thread closer =
        Thread.ofVirtual()
            .start(
                () -> {
                  Lab.spin(nanos);
                  try {
                    socket.close();
                  } catch (IOException e) {
                    throw new AssertionError(e);
                  }
                });
    try {
      assertEquals(-1, socket.getInputStream().read());
    } finally {
      joinQuietly(closer);
    }
  }

  private static void joinQuietly(Thread t) {
    boolean interrupted = false;
    while (true) {
      try {
        t.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
