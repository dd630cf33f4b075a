package dev.gloom.api;

import dev.gloom.Gloom;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/// Says how many processors it has, and each time that changes, until the file that it is given
/// exists.
final class CgroupProgram {
  private static final long MOST_NANOS = 60_000_000_000L;

  private CgroupProgram() {}

  public static void main(String[] args) throws Exception {
    Path stop = Path.of(args[0]);
    Gloom.run(
        () -> {
          System.out.println("jvm=" + Runtime.getRuntime().availableProcessors());
          int last = 0;
          long start = System.nanoTime();
          while (!Files.exists(stop) && System.nanoTime() - start < MOST_NANOS) {
            if (Gloom.maxProcs() != last) {
              last = Gloom.maxProcs();
              System.out.println("procs=" + last);
            }
            Gloom.sleep(Duration.ofMillis(20));
          }
          System.out.println("rescues=" + Gloom.stats().rescues());
        });
  }
}
