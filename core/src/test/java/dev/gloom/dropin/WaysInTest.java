package dev.gloom.dropin;

import static dev.gloom.dropin.AgentJvm.agent;
import static dev.gloom.dropin.AgentJvm.isOnGloom;
import static dev.gloom.dropin.AgentJvm.isOnJdk;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.tools.attach.VirtualMachine;
import dev.gloom.api.ChildJvm;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The other ways to the agent, and what else may be in the JVM.
@Tag("waits")
@Timeout(300)
class WaysInTest {
  // A jar that starts it by itself.

  @Test
  void anExecutableJarNeedsNoFlag(@TempDir Path directory) throws Exception {
    Path app = executableJar(directory);
    isOnGloom(ChildJvm.run(60, List.of(AgentJvm.java(), "-jar", app.toString())));
  }

  @Test
  void andIsSwitchedOffByAProperty(@TempDir Path directory) throws Exception {
    Path app = executableJar(directory);
    isOnJdk(
        "",
        ChildJvm.run(
            60, List.of(AgentJvm.java(), "-Dgloom.options=mode=off", "-jar", app.toString())));
  }

  @Test
  void andDoesNothingBesideTheFlag(@TempDir Path directory) throws Exception {
    Path app = executableJar(directory);
    var child = ChildJvm.run(60, List.of(AgentJvm.java(), agent(""), "-jar", app.toString()));
    assertEquals("gloom\n", child.succeeded().out());
    assertEquals(
        "gloom: the agent is there already (mode=on); the second one does nothing\n", child.err());
  }

  /// A program built on gloom: the manifest names the agent, and where gloom is.
  private static Path executableJar(Path directory) throws Exception {
    var manifest = new Manifest();
    Attributes main = manifest.getMainAttributes();
    main.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    main.put(Attributes.Name.MAIN_CLASS, WhereProgram.class.getName());
    main.put(Attributes.Name.CLASS_PATH, AgentJvm.jar().toUri().toString());
    main.putValue("Launcher-Agent-Class", "dev.gloom.agent.Entry");
    Path jar = directory.resolve("app.jar");
    String name = WhereProgram.class.getName().replace('.', '/') + ".class";
    try (OutputStream out = Files.newOutputStream(jar);
        var jarOut = new JarOutputStream(out, manifest)) {
      jarOut.putNextEntry(new ZipEntry(name));
      jarOut.write(Files.readAllBytes(Path.of(ChildJvm.pathOf(WhereProgram.class)).resolve(name)));
    }
    return jar;
  }

  // Attaching to a JVM that runs.

  /// Starts virtual threads from a platform thread until it is hot, then says who runs them, then
  /// has the agent attached, and says it again.
  static final class AttachedProgram {
    public static void main(String[] args) throws Exception {
      var stop = new AtomicBoolean();
      var jdk = new AtomicLong();
      var gloom = new AtomicLong();
      var lived = new AtomicLong();
      var old =
          Thread.startVirtualThread(
              () -> {
                while (!stop.get()) {
                  Thread.yield();
                  lived.incrementAndGet();
                }
                System.out.println("the old one stays: " + WhereProgram.here());
              });
      var starter =
          new Thread(
              () -> {
                while (!stop.get()) {
                  start(WhereProgram.countHere(jdk, gloom));
                }
              });
      starter.start();
      while (jdk.get() < 50_000) {
        Thread.sleep(10);
      }
      System.out.println("before: jdk " + (gloom.get() == 0));
      var attacher =
          new ProcessBuilder(
                  System.getProperty("java.home") + "/bin/java",
                  "-cp",
                  System.getProperty("java.class.path"),
                  Attacher.class.getName(),
                  Long.toString(ProcessHandle.current().pid()),
                  args[0])
              .inheritIO()
              .start();
      System.out.println("attached: " + attacher.waitFor());
      start(() -> {}); // the last that may have been on its way
      long before = jdk.get();
      long lives = lived.get();
      while (gloom.get() < 10_000 || lived.get() == lives) {
        Thread.sleep(10);
      }
      System.out.println("left behind: " + (jdk.get() - before > 1));
      stop.set(true);
      starter.join();
      old.join();
    }

    private static void start(Runnable body) {
      try {
        Thread.startVirtualThread(body).join();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  static final class Attacher {
    public static void main(String[] args) throws Exception {
      VirtualMachine vm = VirtualMachine.attach(args[0]);
      vm.loadAgent(args[1], "");
      vm.detach();
    }
  }

  @Test
  void attachedItTakesWhatStartsFromThenOn() throws Exception {
    var child =
        AgentJvm.run(
            List.of("-XX:+EnableDynamicAgentLoading"),
            AttachedProgram.class,
            AgentJvm.jar().toString());
    assertEquals(
        "before: jdk true\nattached: 0\nleft behind: false\nthe old one stays: jdk\n",
        child.succeeded().out());
    assertEquals("", child.err());
  }

  // Other agents.

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void besideJacoco(boolean gloomFirst, @TempDir Path directory) throws Exception {
    Path coverage = directory.resolve("coverage.exec");
    String jacoco = "-javaagent:" + other("jacoco.jar") + "=destfile=" + coverage;
    isOnGloom(AgentJvm.run(inOrder(gloomFirst, jacoco), WhereProgram.class));
    assertTrue(Files.size(coverage) > 0, "no coverage written");
  }

  /// It retransforms java.lang.VirtualThread, among others: gloom must survive that.
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void besideOpenTelemetry(boolean gloomFirst) throws Exception {
    var args = new ArrayList<String>();
    args.addAll(inOrder(gloomFirst, "-javaagent:" + other("opentelemetry.jar")));
    args.addAll(
        List.of(
            "-Dotel.traces.exporter=none",
            "-Dotel.metrics.exporter=none",
            "-Dotel.logs.exporter=none",
            "-Dotel.javaagent.logging=none",
            "-Xshare:off",
            "--enable-preview"));
    var child = AgentJvm.run(args, EverywhereProgram.class).succeeded();
    List<String> lines = child.out().lines().toList();
    assertEquals(12, lines.size(), child.out());
    for (String line : lines) {
      assertTrue(line.endsWith(": gloom"), child.out());
    }
    assertEquals("", child.err());
  }

  private static List<String> inOrder(boolean gloomFirst, String other) throws Exception {
    return gloomFirst ? List.of(agent(""), other) : List.of(other, agent(""));
  }

  private static Path other(String name) throws Exception {
    Path jar = AgentJvm.jar().resolveSibling("agents").resolve(name);
    assertTrue(Files.exists(jar), jar + " is missing: mvn process-test-resources copies it");
    return jar;
  }

  // Class-data sharing and the AOT cache.

  /// Archives are made without the agent: the JVM makes none beside any. It also complains, of any
  /// agent, that the archive knows nothing of java.instrument, and uses it all the same.
  @Test
  void withAnArchiveOfItsClasses(@TempDir Path directory) throws Exception {
    Path archive = directory.resolve("app.jsa");
    Path app = plainJar(directory);
    var dump =
        AgentJvm.run(
            app.toString(), List.of("-XX:ArchiveClassesAtExit=" + archive), WhereProgram.class);
    assertTrue(dump.succeeded().out().startsWith("jdk\n"), dump.out());
    assertTrue(Files.exists(archive), "no archive: " + dump.out() + dump.err());
    isOnGloom(
        AgentJvm.run(
            app.toString(),
            List.of(
                agent(""), "-XX:SharedArchiveFile=" + archive, "-Xlog:cds=off", "-Xlog:aot=off"),
            WhereProgram.class));
  }

  @Test
  void withAnAotCacheOfTheProgram(@TempDir Path directory) throws Exception {
    Path cache = directory.resolve("app.aot");
    Path app = plainJar(directory);
    var train =
        AgentJvm.run(
            app.toString(),
            List.of("-XX:AOTCacheOutput=" + cache, "--add-modules=java.instrument"),
            WhereProgram.class);
    assertTrue(train.succeeded().out().startsWith("jdk\n"), train.out());
    assertTrue(Files.exists(cache), train.out() + train.err());
    isOnGloom(
        AgentJvm.run(
            app.toString(), List.of(agent(""), "-XX:AOTCache=" + cache), WhereProgram.class));
  }

  private static Path plainJar(Path directory) throws Exception {
    Path jar = directory.resolve("plain.jar");
    String name = WhereProgram.class.getName().replace('.', '/') + ".class";
    try (var out = new JarOutputStream(Files.newOutputStream(jar))) {
      out.putNextEntry(new ZipEntry(name));
      out.write(Files.readAllBytes(Path.of(ChildJvm.pathOf(WhereProgram.class)).resolve(name)));
    }
    return jar;
  }
}
