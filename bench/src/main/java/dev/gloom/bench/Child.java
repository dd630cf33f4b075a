package dev.gloom.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// A peer's process, seen from the harness: it works only while it is asked for a round.
final class Child implements AutoCloseable {
  /*
   * The protocol, a line each; a child in any language speaks it.
   *
   *   child    @bench warm                           one unmeasured round is done (at least 5, for at least the time
   *                                                  that the command line gives)
   *   child    @bench ready VERSION                  warm and idle from now on
   *   harness  round                                 do one
   *   child    @bench round OPS NANOS [NAME=COUNT …]  done; counts are those of this round
   *   child    @bench unsupported WHY                instead of warm: no such case here; then it exits
   *   child    @bench fail WHY                       instead of ready or round: the work went wrong; then it exits
   *   harness  (end of file)                         exit
   *
   * Any other line of output is somebody's message and is shown on stderr. stdin and stdout and not a socket, because
   * every language has them and an idle child then sleeps in one read.
   */
  static final String PREFIX = "@bench ";

  /// What a child answered to `round`.
  record Answer(long ops, long nanos, Map<String, Long> counters) {
    /// To a thousandth of a nanosecond, so that the rounds in the results file are what the median
    /// was taken of.
    double nanosPerOp() {
      return Math.round(1_000.0 * nanos / ops) / 1_000.0;
    }
  }

  /// Thrown in place of an answer by a child that does not know the case.
  static final class UnsupportedException extends Exception {
    private static final long serialVersionUID = 1;

    UnsupportedException(String why) {
      super(why);
    }
  }

  private static final String END_OF_OUTPUT = "";
  private static final int TAIL_LINES = 20;
  private static final Duration EXIT_GRACE = Duration.ofSeconds(5);

  private final String name;
  private final Process process;
  private final Duration timeout;
  private final PrintStream messages;
  private final Thread onShutdown;

  /// Lines of the protocol without their prefix; the empty line ends them.
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

  /// The last messages, to be shown when the child fails; guarded by itself.
  private final ArrayDeque<String> tail = new ArrayDeque<>();

  private final Thread outputReader;
  private final Thread errorReader;

  private Child(String name, Process process, Duration timeout, PrintStream messages) {
    this.name = name;
    this.process = process;
    this.timeout = timeout;
    this.messages = messages;
    onShutdown = new Thread(process::destroyForcibly);
    outputReader = reader("out", process.getInputStream());
    errorReader = reader("err", process.getErrorStream());
  }

  /// @param name what the messages call it
  static Child start(
      String name, Peer.Launch.Command command, Duration timeout, PrintStream messages)
      throws ChildException {
    var builder = new ProcessBuilder(command.words());
    builder.environment().putAll(command.environment());
    try {
      var child = new Child(name, builder.start(), timeout, messages);
      // An interrupted harness leaves nobody behind, also not one that hangs in a round.
      Runtime.getRuntime().addShutdownHook(child.onShutdown);
      child.outputReader.start();
      child.errorReader.start();
      return child;
    } catch (IOException e) {
      throw new ChildException(name + ": cannot start it: " + e.getMessage());
    }
  }

  /// Waits until the child is warm, and returns the version it gives.
  String awaitReady() throws ChildException, UnsupportedException {
    String[] words = next("to get warm");
    while (words[0].equals("warm")) {
      words = next("to get warm");
    }
    return switch (words[0]) {
      case "ready" -> words[1];
      case "unsupported" -> throw new UnsupportedException(words[1]);
      default -> throw broken("expected `ready`", words);
    };
  }

  Answer round() throws ChildException {
    try {
      process.getOutputStream().write("round\n".getBytes(StandardCharsets.US_ASCII));
      process.getOutputStream().flush();
    } catch (IOException _) {
      throw failure("it ended with status " + exitStatus() + " while it was idle");
    }
    String[] words = next("to do a round");
    if (!words[0].equals("round")) {
      throw broken("expected `round`", words);
    }
    return parseAnswer(words);
  }

  /// CPU time used so far by the process, or zero where the system does not tell.
  Duration cpu() {
    return process.info().totalCpuDuration().orElse(Duration.ZERO);
  }

  @Override
  public void close() {
    try {
      process.getOutputStream().close();
      if (!process.waitFor(EXIT_GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly().waitFor();
      }
      outputReader.join();
      errorReader.join();
    } catch (IOException e) {
      process.destroyForcibly();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    try {
      Runtime.getRuntime().removeShutdownHook(onShutdown);
    } catch (IllegalStateException _) {
      // The harness is being shut down: the hook has run or is about to.
    }
  }

  private Answer parseAnswer(String[] words) throws ChildException {
    try {
      String[] fields = words[1].split(" ");
      long ops = Long.parseLong(fields[0]);
      long nanos = Long.parseLong(fields[1]);
      if (ops <= 0 || nanos <= 0) {
        throw broken("expected operations and nanoseconds above zero", words);
      }
      var counters = new LinkedHashMap<String, Long>();
      for (int i = 2; i < fields.length; i++) {
        String[] pair = fields[i].split("=");
        counters.put(pair[0], Long.parseLong(pair[1]));
      }
      return new Answer(ops, nanos, counters);
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException _) {
      throw broken("expected OPS NANOS [NAME=COUNT …]", words);
    }
  }

  /// The next line of the protocol: its first word and the rest.
  private String[] next(String task) throws ChildException {
    String line;
    try {
      line = lines.poll(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failure("interrupted while waiting for it " + task);
    }
    if (line == null) {
      process.destroyForcibly();
      throw failure(
          "no answer within " + timeout.toMillis() / 1_000.0 + " s " + task + "; ended it");
    }
    if (line.equals(END_OF_OUTPUT)) {
      throw failure("it ended with status " + exitStatus() + " when it was " + task);
    }
    int space = line.indexOf(' ');
    String[] words =
        space < 0
            ? new String[] {line, ""}
            : new String[] {line.substring(0, space), line.substring(space + 1)};
    if (words[0].equals("fail")) {
      throw failure(words[1]);
    }
    return words;
  }

  private String exitStatus() {
    try {
      if (!process.waitFor(EXIT_GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
        return "unknown (it closed its output and lives)";
      }
      // Its last words are often the reason, and they come through the other pipe.
      errorReader.join(EXIT_GRACE);
      return Integer.toString(process.exitValue());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "unknown";
    }
  }

  private ChildException broken(String expected, String[] words) {
    return failure(
        "it broke the protocol: " + expected + ", got `" + String.join(" ", words) + "`");
  }

  private ChildException failure(String what) {
    var message = new StringBuilder(name).append(": ").append(what);
    synchronized (tail) {
      tail.forEach(line -> message.append("\n    ").append(line));
    }
    return new ChildException(message.toString());
  }

  private Thread reader(String stream, InputStream in) {
    return Thread.ofPlatform()
        .daemon()
        .name(name + " " + stream)
        .unstarted(() -> read(in, stream.equals("out")));
  }

  private void read(InputStream in, boolean speaksProtocol) {
    try (var reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        if (speaksProtocol && line.startsWith(PREFIX)) {
          lines.add(line.substring(PREFIX.length()).strip());
        } else {
          message(line);
        }
      }
    } catch (IOException _) {
      // Closed under us: the same as its end.
    } finally {
      if (speaksProtocol) {
        lines.add(END_OF_OUTPUT);
      }
    }
  }

  private void message(String line) {
    messages.println("[" + name + "] " + line);
    synchronized (tail) {
      if (tail.size() == TAIL_LINES) {
        tail.removeFirst();
      }
      tail.addLast(line);
    }
  }
}
