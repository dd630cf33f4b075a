package dev.gloom.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.api.ChildJvm;
import dev.gloom.api.Lab;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Ten thousand connections on which nothing happens cost no thread and no CPU. The server is a
/// process of its own: one has not enough descriptors for both ends.
class IdleConnectionsTest {
  private static final int MANY = 10_000;

  /// Descriptors that this JVM and its tests need for themselves.
  private static final int RESERVED = 500;

  private static final long WINDOW_MILLIS = 3_000;

  @Test
  @Timeout(180)
  void tenThousandIdleConnectionsCostNothing() throws Exception {
    int many = Math.min(MANY, limit() - RESERVED);
    var sockets = new ArrayList<Socket>();
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                ChildJvm.OPEN,
                "-cp",
                ChildJvm.pathOf(Gloom.class) + ":" + ChildJvm.pathOf(NetProgram.class),
                NetProgram.class.getName(),
                "idle")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader out = process.inputReader()) {
      int port = Integer.parseInt(out.readLine().substring("port=".length()));
      open(sockets, 10, port);
      await(process, out, 11); // and the one that accepts
      int threads = threads(process);
      open(sockets, many, port);
      await(process, out, many + 1);
      assertTrue(threads(process) <= threads + 2, threads + " threads, now " + threads(process));
      long ticks = Long.MAX_VALUE;
      for (int i = 0; i < 5 && ticks > 1; i++) { // compilers and the collector come to rest
        long before = ticks(process);
        Thread.sleep(WINDOW_MILLIS);
        ticks = ticks(process) - before;
      }
      double share = ticks * 10.0 / WINDOW_MILLIS; // a tick is 10 ms
      System.out.printf(
          "IdleConnectionsTest: %d connections, %d threads, %.2f %% of a core%n",
          many, threads(process), 100 * share);
      assertTrue(share < 0.02, share + " of a core");
      for (Socket socket : sockets) {
        socket.getOutputStream().write(5);
      }
      for (Socket socket : sockets) {
        assertEquals(5, socket.getInputStream().read());
      }
      await(process, out, many + 1);
    } finally {
      process.destroyForcibly().waitFor();
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  private static void open(List<Socket> sockets, int upTo, int port) throws IOException {
    while (sockets.size() < upTo) {
      sockets.add(new Socket(Wires.HERE, port));
    }
  }

  private static void await(Process process, BufferedReader out, int waiting) {
    Lab.await(
        waiting + " wait",
        () -> {
          try {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
            return out.readLine().equals("waiting=" + waiting + " rescues=0");
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
  }

  /// How many descriptors this process may have.
  private static int limit() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/limits"))) {
      if (line.startsWith("Max open files")) {
        String soft = line.substring("Max open files".length()).strip().split(" +", 2)[0];
        return soft.equals("unlimited") ? Integer.MAX_VALUE : Integer.parseInt(soft);
      }
    }
    throw new AssertionError("no limit");
  }

  private static int threads(Process process) throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/" + process.pid() + "/status"))) {
      if (line.startsWith("Threads:")) {
        return Integer.parseInt(line.substring("Threads:".length()).strip());
      }
    }
    throw new AssertionError("no threads");
  }

  /// User and system time, in ticks.
  private static long ticks(Process process) throws IOException {
    String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
  }
}
