package dev.gloom.bench;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.tools.ToolProvider;

/// Builds a peer that the project's own build leaves alone, in a folder of its own beside `src/`,
/// when somebody asks for it and it is out of date.
///
/// Not modules of the build: they would cost everybody their download and compile time, and nothing
/// could be built where they cannot be fetched.
final class PeerBuild {
  /// What Maven says when it cannot get at something: then the peer is missing, not broken.
  private static final List<String> UNREACHABLE =
      List.of(
          "Could not resolve",
          "could not be resolved",
          "Could not find artifact",
          "Could not transfer",
          "Cannot access");

  private final Path folder;
  private final Path target;

  /// @param home the folder of this module
  PeerBuild(Path home, String name) {
    folder = home.resolve(name);
    target = folder.resolve("target");
  }

  /// Thrown in place of a build: something that it needs is not here.
  static final class MissingException extends Exception {
    private static final long serialVersionUID = 1;

    MissingException(String why) {
      super(why);
    }
  }

  /// Runs Maven in the folder, if anything there is newer than its last run.
  void maven() throws ChildException, MissingException {
    Path stamp = target.resolve(".built");
    try {
      if (isFresh(stamp)) {
        return;
      }
      var mvn = find(System.getenv());
      if (mvn.isEmpty()) {
        throw new MissingException("no `mvn` on the PATH");
      }
      var begun = FileTime.fromMillis(System.currentTimeMillis());
      runMaven(mvn.get());
      // The time of its begin: what is edited meanwhile is built next time.
      Files.setLastModifiedTime(Files.writeString(stamp, ""), begun);
    } catch (IOException e) {
      throw new ChildException("cannot build " + folder.getFileName() + ": " + e);
    }
  }

  /// Compiles the sources against `classPath` into `target/classes`. Each time: it takes less than
  /// it would to find out that it need not.
  void javac(String classPath) throws ChildException {
    var compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null) {
      throw new ChildException("this Java has no compiler");
    }
    try (var files = Files.walk(folder.resolve("src"))) {
      var args =
          new ArrayList<>(
              List.of(
                  "-Xlint:all", "-Werror", "-proc:none", "-cp", classPath, "-d", classes() + ""));
      files.map(Path::toString).filter(name -> name.endsWith(".java")).forEach(args::add);
      var output = new ByteArrayOutputStream();
      if (compiler.run(null, output, output, args.toArray(String[]::new)) != 0) {
        throw new ChildException(
            "javac failed:\n" + output.toString(StandardCharsets.UTF_8).strip());
      }
    } catch (IOException e) {
      throw new ChildException("cannot compile " + folder.getFileName() + ": " + e);
    }
  }

  /// What has been built, as a class path.
  String classPath() {
    return classes() + File.pathSeparator + libraries();
  }

  /// What Maven has fetched, as a class path, jar by jar: javac and java read a star differently.
  String libraries() {
    var jars = new ArrayList<String>();
    for (File file :
        Optional.ofNullable(target.resolve("lib").toFile().listFiles()).orElseThrow()) {
      jars.add(file.toString());
    }
    jars.sort(null);
    return String.join(File.pathSeparator, jars);
  }

  /// The `mvn` command on the PATH.
  static Optional<Path> find(Map<String, String> environment) {
    for (String folder : environment.getOrDefault("PATH", "").split(File.pathSeparator)) {
      Path mvn = Path.of(folder, "mvn");
      if (!folder.isEmpty() && Files.isExecutable(mvn)) {
        return Optional.of(mvn);
      }
    }
    return Optional.empty();
  }

  /// Why the build is impossible here, if `output` is of a Maven that could not get at something.
  static Optional<String> unreachable(String output) {
    return output
        .lines()
        .filter(line -> line.startsWith("[ERROR]"))
        .filter(line -> UNREACHABLE.stream().anyMatch(line::contains))
        .findFirst()
        .map(line -> line.substring("[ERROR]".length()).strip());
  }

  private void runMaven(Path mvn) throws IOException, ChildException, MissingException {
    var builder =
        new ProcessBuilder(
                mvn.toString(), "-B", "-ntp", "-q", "-f", folder.toString(), "process-classes")
            .redirectErrorStream(true);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    var process = builder.start();
    process.getOutputStream().close();
    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (process.waitFor() == 0) {
        return;
      }
    } catch (InterruptedException e) {
      process.destroy();
      Thread.currentThread().interrupt();
      throw new ChildException("interrupted while building " + folder.getFileName());
    }
    var why = unreachable(output);
    if (why.isPresent()) {
      throw new MissingException(why.get());
    }
    throw new ChildException("mvn failed:\n" + output.strip());
  }

  private boolean isFresh(Path stamp) throws IOException {
    if (!Files.exists(stamp)) {
      return false;
    }
    FileTime built = Files.getLastModifiedTime(stamp);
    try (var files = Files.walk(folder)) {
      for (Path file : files.filter(file -> !file.startsWith(target)).toList()) {
        boolean isOutside = file.equals(folder); // its time changes when target/ is made
        if (!isOutside && Files.getLastModifiedTime(file).compareTo(built) > 0) {
          return false;
        }
      }
    }
    return true;
  }

  private Path classes() {
    return target.resolve("classes");
  }
}
