package dev.gloom.dropin;

import dev.gloom.Gloom;
import dev.gloom.Stats;
import dev.gloom.api.Lab;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/// Prints by how much each kind of call raises the number of calls that were announced; then how
/// many processors were taken, announced and not, while threads wait for a pipe.
final class FilesProgram {
  private static final Duration LONG = Duration.ofSeconds(60);

  private FilesProgram() {}

  public static void main(String[] args) throws Exception {
    if (args.length == 1 && args[0].equals("full")) {
      try {
        fillHeap();
      } catch (OutOfMemoryError e) {
        // one that struck beside the handler in there; now there is memory again
      }
      System.gc(); // at the first try after this the JVM may not find it by itself
      System.exit(Thread.ofVirtual().start(() -> System.out.println("alive")).join(LONG) ? 0 : 1);
    }
    Path file = Files.createTempFile("gloom", "files");
    try {
      Lab.await("all is changed", () -> Lab.threads("gloom-announcer").isEmpty());
      awaitAnnouncements(file);
      print("stream", () -> new FileInputStream(file.toFile()).readAllBytes());
      print("output", () -> write(file));
      print("random", () -> random(file));
      print("nio", () -> Files.newInputStream(file).readAllBytes());
      print("lock", () -> lock(file));
      print("name", FilesProgram::name);
      print("process", () -> new ProcessBuilder("true").start().waitFor());
      print("missing", () -> missing(file));
      pipes();
    } finally {
      Files.delete(file);
    }
    System.exit(0);
  }

  /// From the first moment until the JDK's classes are to be changed, and beyond.
  private static void fillHeap() {
    var all = new ArrayList<byte[]>();
    int errors;
    try {
      throw new OutOfMemoryError("so that the handler is linked while there is memory");
    } catch (OutOfMemoryError e) {
      errors = 0;
    }
    for (long end = System.nanoTime() + 3_000_000_000L; System.nanoTime() < end; ) {
      try {
        all.add(new byte[1_000]);
      } catch (OutOfMemoryError e) {
        errors++;
      }
    }
    if (errors == 0) {
      throw new IllegalStateException("the heap was not full with " + all.size());
    }
  }

  /// They come a moment after the start.
  private static void awaitAnnouncements(Path file) throws Exception {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (calls(() -> new FileInputStream(file.toFile()).read()) == 0) {
      if (System.nanoTime() > until) {
        throw new IllegalStateException("no call is announced");
      }
    }
  }

  private static Object write(Path file) throws IOException {
    try (var out = new FileOutputStream(file.toFile())) {
      out.write(new byte[100]);
    }
    return file;
  }

  private static Object random(Path file) throws IOException {
    try (var in = new RandomAccessFile(file.toFile(), "r")) {
      return in.read(new byte[10]);
    }
  }

  private static Object lock(Path file) throws IOException {
    try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      return channel.lock();
    }
  }

  /// Its own name, which the machine need not know.
  private static Object name() {
    try {
      return InetAddress.getLocalHost();
    } catch (UnknownHostException e) {
      return e;
    }
  }

  private static Object missing(Path file) throws IOException {
    try (var in = new FileInputStream(file + ".missing")) {
      return in;
    } catch (FileNotFoundException e) {
      return e;
    }
  }

  private static void pipes() throws Exception {
    Path dir = Files.createTempDirectory("gloom");
    List<Thread> readers = new ArrayList<>();
    List<Path> pipes = new ArrayList<>();
    Stats before = Gloom.stats();
    for (int i = 0; i < 8; i++) {
      Path pipe = dir.resolve("pipe" + i);
      pipes.add(pipe);
      new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor();
      readers.add(Thread.ofVirtual().start(() -> open(pipe)));
    }
    Thread.ofVirtual().start(() -> {}).join(); // gets a processor all the same
    for (Path pipe : pipes) {
      new FileOutputStream(pipe.toFile()).close();
    }
    for (Thread t : readers) {
      t.join();
    }
    for (Path pipe : pipes) {
      Files.delete(pipe);
    }
    Files.delete(dir);
    Stats after = Gloom.stats();
    System.out.println("retaken " + (after.retaken() - before.retaken()));
    System.out.println("rescues " + after.rescues());
  }

  private static void open(Path pipe) {
    try (var in = new FileInputStream(pipe.toFile())) {
      in.read();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void print(String what, Callable<?> call) throws Exception {
    System.out.println(what + " " + calls(call));
  }

  private static long calls(Callable<?> call) throws Exception {
    long before = Gloom.stats().blockingCalls();
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                call.call();
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            })
        .join();
    return Gloom.stats().blockingCalls() - before;
  }
}
