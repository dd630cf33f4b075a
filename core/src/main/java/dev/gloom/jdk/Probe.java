package dev.gloom.jdk;

/// The start probe: exit status 0 if gloom can run on this JVM, else its message and status 1. The
/// launcher asks it before it picks a JDK newer than the one gloom was made for.
public final class Probe {
  private Probe() {}

  /// Takes no arguments.
  public static void main(String[] args) {
    try {
      Vthread.require();
    } catch (IllegalStateException e) {
      System.err.println(e.getMessage());
      System.exit(1);
    }
  }
}
