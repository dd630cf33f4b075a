package dev.gloom.dropin;

import java.util.concurrent.atomic.AtomicReference;

/// Says who runs its virtual threads: `gloom` or `jdk`.
public final class WhereProgram {
  private WhereProgram() {}

  public static void main(String[] args) throws Exception {
    var where = new AtomicReference<String>();
    Thread.startVirtualThread(() -> where.set(here())).join();
    System.out.println(where.get());
  }

  /// Who runs the calling virtual thread: told by the name of its carrier, which its text ends
  /// with.
  static String here() {
    String text = Thread.currentThread().toString();
    String carrier = text.substring(text.indexOf('@') + 1);
    if (carrier.startsWith("gloom-m")) {
      return "gloom";
    }
    return carrier.startsWith("ForkJoinPool-1-worker-") ? "jdk" : text;
  }

  /// A body that counts where it runs.
  static Runnable countHere(
      java.util.concurrent.atomic.AtomicLong jdk, java.util.concurrent.atomic.AtomicLong gloom) {
    return () -> (here().equals("gloom") ? gloom : jdk).incrementAndGet();
  }
}
