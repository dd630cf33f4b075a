package dev.gloom.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

/// A child that behaves, or does not: `FakeChild NAME MODE LOG`. Each round leaves a line at its
/// begin and its end.
final class FakeChild {
  public static void main(String[] args) throws Exception {
    String name = args[0];
    String mode = args[1];
    Path log = Path.of(args[2]);
    if (mode.equals("unsupported")) {
      say("unsupported no twin here");
      return;
    }
    System.out.println("a message of " + name);
    say("warm");
    say("ready fake 1");
    var in = new BufferedReader(new InputStreamReader(System.in));
    for (int round = 0; in.readLine() != null; round++) {
      append(log, name + " begins");
      if (round == 1) {
        misbehave(mode);
      }
      append(log, name + " ends");
      say("round 10 " + (1_000 + 10 * round) + " dispatches=20 sameM=15");
    }
  }

  private static void misbehave(String mode) throws InterruptedException {
    switch (mode) {
      case "dies" -> {
        System.err.println("a last word");
        System.exit(7);
      }
      case "hangs" -> Thread.sleep(Duration.ofDays(1));
      case "babbles" -> say("round many fast");
      case "fails" -> say("fail wrong sum");
      case "stands still" -> say("round 10 0");
      default -> {}
    }
  }

  private static void append(Path log, String line) throws IOException {
    Files.writeString(log, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private static void say(String line) {
    System.out.println(Child.PREFIX + line);
  }

  private FakeChild() {}
}
