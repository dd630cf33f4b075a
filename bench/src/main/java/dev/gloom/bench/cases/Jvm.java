package dev.gloom.bench.cases;

import java.lang.management.ManagementFactory;

/// The JVM that a round ran in.
final class Jvm {
  private Jvm() {}

  /// With the collector, which the JVM chooses by the machine and which decides over some cases.
  static String version() {
    return "JDK " + Runtime.version() + ", " + collector();
  }

  private static String collector() {
    String name = ManagementFactory.getGarbageCollectorMXBeans().getFirst().getName();
    String firstWord = name.split(" ")[0];
    return switch (firstWord) {
      case "Copy" -> "Serial";
      case "PS" -> "Parallel";
      default -> firstWord;
    };
  }
}
