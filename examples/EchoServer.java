// A server with a goroutine for each connection, written as if each had a thread of its own. A read
// parks the goroutine, not a thread: the processors themselves look which sockets are ready, and if
// there is nothing to do, one thread sleeps in the kernel for all of them.

import dev.gloom.Gloom;
import dev.gloom.WaitGroup;

final int clients = 500;

void main() throws Exception {
  try (var server = new ServerSocket(0, clients, InetAddress.getLoopbackAddress())) {
    Gloom.go(() -> accept(server));
    var all = new ArrayList<Socket>();
    for (int i = 0; i < clients; i++) {
      all.add(new Socket(server.getInetAddress(), server.getLocalPort()));
    }
    while (Gloom.stats().net().waiting() < clients + 1) { // each reader, and the one that accepts
      Gloom.sleep(Duration.ofMillis(1));
    }
    IO.println(clients + " connections are idle");
    IO.println("threads: " + (Gloom.stats().threads() < 20 ? "a few" : Gloom.stats().threads()));

    var done = new WaitGroup();
    var right = new AtomicInteger();
    for (Socket socket : all) {
      done.go(
          () -> {
            try (socket) {
              socket.getOutputStream().write("hello".getBytes());
              if (new String(socket.getInputStream().readNBytes(5)).equals("hello")) {
                right.incrementAndGet();
              }
            }
          });
    }
    done.await();
    IO.println(right + " answers");
  }
}

void accept(ServerSocket server) throws IOException {
  try {
    while (true) {
      Socket socket = server.accept();
      Gloom.go(() -> echo(socket));
    }
  } catch (SocketException closed) {
    // main has left
  }
}

void echo(Socket socket) throws IOException {
  try (socket) {
    socket.getInputStream().transferTo(socket.getOutputStream());
  }
}

// Output:
// 500 connections are idle
// threads: a few
// 500 answers
