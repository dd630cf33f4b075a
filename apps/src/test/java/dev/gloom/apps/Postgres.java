package dev.gloom.apps;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A PostgreSQL of the test's own, in a folder of its own, if one is installed. It refuses to run
/// as root, and is then run as the user `postgres`.
final class Postgres implements AutoCloseable {
  private static final boolean ROOT = System.getProperty("user.name").equals("root");

  private final Path bin;
  private final Path data;
  private final int port;

  private Postgres(Path bin, Path data, int port) {
    this.bin = bin;
    this.data = data;
    this.port = port;
  }

  /// Null if there is none.
  static Postgres start(Path directory) throws IOException {
    Path bin = bin();
    if (bin == null) {
      return null;
    }
    Path data = directory.resolve("data");
    Files.createDirectory(data);
    if (ROOT) {
      run(List.of("chown", "-R", "postgres", directory.toString()));
    }
    var postgres = new Postgres(bin, data, freePort());
    postgres.tool("initdb", "-D", data.toString(), "-U", "apps", "--auth=trust", "-N");
    postgres.tool(
        "pg_ctl",
        "-D",
        data.toString(),
        "-w",
        "-l",
        data.resolve("log").toString(),
        "-o",
        "-p "
            + postgres.port
            + " -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off",
        "start");
    return postgres;
  }

  String address() {
    return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=apps";
  }

  @Override
  public void close() throws IOException {
    tool("pg_ctl", "-D", data.toString(), "-m", "immediate", "-w", "stop");
  }

  private void tool(String name, String... args) throws IOException {
    var command = new ArrayList<String>();
    if (ROOT) {
      command.addAll(List.of("runuser", "-u", "postgres", "--"));
    }
    command.add(bin.resolve(name).toString());
    command.addAll(List.of(args));
    run(command);
  }

  private static void run(List<String> command) throws IOException {
    Path log = Files.createTempFile("postgres", ".log");
    try {
      Process p =
          new ProcessBuilder(command)
              .directory(Path.of("/").toFile())
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
      if (p.onExit().completeOnTimeout(null, 60, TimeUnit.SECONDS).join() == null
          || p.exitValue() != 0) {
        p.destroyForcibly();
        throw new AssertionError(command + " failed:\n" + Files.readString(log));
      }
    } finally {
      Files.delete(log);
    }
  }

  private static Path bin() throws IOException {
    Path versions = Path.of("/usr/lib/postgresql");
    if (Files.isDirectory(versions)) {
      try (var all = Files.newDirectoryStream(versions)) {
        for (Path version : all) {
          if (Files.isExecutable(version.resolve("bin/initdb"))) {
            return version.resolve("bin");
          }
        }
      }
    }
    for (String folder : System.getenv("PATH").split(java.io.File.pathSeparator)) {
      if (Files.isExecutable(Path.of(folder, "initdb"))) {
        return Path.of(folder);
      }
    }
    return null;
  }

  private static int freePort() throws IOException {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
