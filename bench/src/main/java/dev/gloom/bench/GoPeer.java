package dev.gloom.bench;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Go itself: the twins in `go/`, built when they or the toolchain are newer than the binary.
record GoPeer() implements Peer {
  @Override
  public String name() {
    return Peers.GO;
  }

  @Override
  public String about() {
    return "goroutines on Go's scheduler";
  }

  @Override
  public Launch launch(BenchCase benchCase, Settings settings) throws ChildException {
    var go = find(System.getenv());
    if (go.isEmpty()) {
      return Launch.Absent.missing("no `go` on the PATH");
    }
    Path binary = build(go.get(), settings.home());
    return new Launch.Command(
        List.of(
            binary.toString(),
            benchCase.name(),
            Long.toString(settings.scaled(benchCase.size())),
            Long.toString(settings.warmup().toMillis())),
        Map.of("GOMAXPROCS", Integer.toString(benchCase.procs())));
  }

  /// The `go` command, on the PATH or in GOROOT.
  static Optional<Path> find(Map<String, String> environment) {
    var folders = new ArrayList<String>();
    folders.addAll(List.of(environment.getOrDefault("PATH", "").split(File.pathSeparator)));
    if (environment.containsKey("GOROOT")) {
      folders.add(environment.get("GOROOT") + "/bin");
    }
    return folders.stream()
        .filter(folder -> !folder.isEmpty())
        .map(folder -> Path.of(folder, "go"))
        .filter(Files::isExecutable)
        .findFirst();
  }

  private static Path build(Path go, Path home) throws ChildException {
    Path sources = home.resolve("go");
    Path binary = home.resolve("target").resolve("go-peer");
    try {
      if (isFresh(binary, go, sources)) {
        return binary;
      }
      Files.createDirectories(binary.getParent());
      var build =
          new ProcessBuilder(go.toString(), "build", "-o", binary.toString(), ".")
              .directory(sources.toFile())
              .redirectErrorStream(true);
      // Never another toolchain than the one found: the results name its version.
      build.environment().put("GOTOOLCHAIN", "local");
      var process = build.start();
      var output = new String(process.getInputStream().readAllBytes());
      if (process.waitFor() != 0) {
        throw new ChildException("go build failed:\n" + output.strip());
      }
      return binary;
    } catch (IOException e) {
      throw new ChildException("cannot build the Go twins: " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ChildException("interrupted while building the Go twins");
    }
  }

  private static boolean isFresh(Path binary, Path go, Path sources) throws IOException {
    if (!Files.exists(binary)) {
      return false;
    }
    FileTime built = Files.getLastModifiedTime(binary);
    if (Files.getLastModifiedTime(go.toRealPath()).compareTo(built) > 0) {
      return false;
    }
    try (var files = Files.list(sources)) {
      for (Path file : files.toList()) {
        if (Files.getLastModifiedTime(file).compareTo(built) > 0) {
          return false;
        }
      }
    }
    return true;
  }
}
