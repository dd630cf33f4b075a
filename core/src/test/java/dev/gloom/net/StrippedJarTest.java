package dev.gloom.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import dev.gloom.api.ChildJvm;
import java.io.File;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/// A build that puts gloom into a jar of its own, and drops what it takes for rubbish: the classes
/// that gloom adds to the JDK lie under META-INF, where nobody refers to them. All goes on without
/// them, more slowly, and says so.
class StrippedJarTest {
  @TempDir Path folder;

  @Test
  @EnabledOnOs(OS.LINUX)
  void withoutTheClassesForTheJdkAllGoesOnTheJdksWay() throws Exception {
    copyWithoutAdded(Path.of(ChildJvm.pathOf(Gloom.class)));
    var child =
        ChildJvm.run(
                60,
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    ChildJvm.OPEN,
                    "-cp",
                    folder + File.pathSeparator + ChildJvm.pathOf(StrippedJarTest.class),
                    Program.class.getName()))
            .succeeded();
    assertEquals("", child.err());
    assertEquals(1, child.figure("received"));
    assertTrue(child.out().contains("mount=jdk: java.io.IOException: the jar is"), child.out());
    assertTrue(child.out().contains("poller=epoll\n"), child.out());
  }

  private void copyWithoutAdded(Path classes) throws Exception {
    Path added = classes.resolve("META-INF").resolve("gloom");
    assertTrue(Files.isDirectory(added), "nothing to leave out");
    try (var files = Files.walk(classes)) {
      for (Path file : files.filter(f -> !f.startsWith(added)).toList()) {
        Path copy = folder.resolve(classes.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(copy);
        } else {
          Files.copy(file, copy);
        }
      }
    }
  }

  static final class Program {
    public static void main(String[] args) throws Exception {
      Gloom.run(
          () -> {
            try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                var client = new Socket(server.getInetAddress(), server.getLocalPort());
                var accepted = server.accept()) {
              Gloom.go(
                  () -> {
                    Thread.sleep(20); // so that the other one waits
                    client.getOutputStream().write(1);
                  });
              System.out.println("received=" + accepted.getInputStream().read());
            }
          });
      System.out.println("mount=" + Gloom.stats().mount());
      System.out.println("poller=" + Gloom.stats().net().poller());
    }
  }
}
