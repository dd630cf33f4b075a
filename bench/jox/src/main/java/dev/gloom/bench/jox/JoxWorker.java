package dev.gloom.bench.jox;

import com.softwaremill.jox.Channel;
import dev.gloom.bench.Worker;
import dev.gloom.bench.cases.JdkThreads;
import java.io.IOException;
import java.util.Properties;

/// The child process of jox: virtual threads on the JDK's scheduler, as the peer `jdk`, with jox's
/// channels.
final class JoxWorker {
  private JoxWorker() {}

  public static void main(String[] args) throws IOException {
    Worker.work(new JdkThreads(new JoxChannels(), "jox " + version() + " on "), args);
  }

  private static String version() throws IOException {
    var properties = new Properties();
    String path = "/META-INF/maven/com.softwaremill.jox/channels/pom.properties";
    try (var in = Channel.class.getResourceAsStream(path)) {
      properties.load(in);
    }
    return properties.getProperty("version");
  }
}
