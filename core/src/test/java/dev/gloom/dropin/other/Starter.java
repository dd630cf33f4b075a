package dev.gloom.dropin.other;

import java.util.concurrent.atomic.AtomicReference;

/// Another package of the program, for the options that name packages.
public final class Starter {
  private Starter() {}

  /// Starts a virtual thread from here and says who ran it.
  public static String start(Runnable body) throws InterruptedException {
    var who = new AtomicReference<String>();
    Thread.startVirtualThread(
            () -> {
              body.run();
              who.set(Thread.currentThread().toString());
            })
        .join();
    return who.get().contains("@gloom-m") ? "gloom" : "jdk";
  }
}
