package dev.gloom.agent;

import dev.gloom.jdk.DefaultScheduler;
import dev.gloom.jdk.Unlock;
import dev.gloom.jdk.Vthread;
import dev.gloom.runtime.Sched;
import java.lang.instrument.Instrumentation;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// The start of the drop-in: reads its options, opens what gloom needs, and puts gloom in the place
/// of the JDK's scheduler for virtual threads. Whatever goes wrong is one line on standard error,
/// and the program runs as it would have without the agent.
public final class Agent {
  /// Set while an agent is there, to its mode. A property, because another copy of gloom, from
  /// another jar or class loader, must see it too.
  static final String MARK = "gloom.agent";

  private Agent() {}

  /// Called by Entry, before the program's `main` or while it runs.
  public static void start(@Nullable String text, Instrumentation instrumentation) {
    Options options;
    try {
      options = Options.parse(text);
    } catch (IllegalArgumentException e) {
      say(e.getMessage() + ": going on without gloom");
      return;
    }
    if (options.help()) {
      System.err.print(Options.HELP);
    }
    if (options.mode() == Options.Mode.OFF) {
      return;
    }
    if (System.getProperty(MARK) != null) {
      say(
          "the agent is there already (mode=%s); the second one does nothing"
              .formatted(System.getProperty(MARK)));
      return;
    }
    try {
      Unlock.with(instrumentation);
      Vthread.require();
      DefaultScheduler.require();
      switch (options.mode()) {
        case ON -> DropIn.install(Sched.byDefault(), options);
        case OBSERVE -> Observer.start();
        case OFF -> {}
      }
      System.setProperty(MARK, options.mode().name().toLowerCase(Locale.ROOT));
    } catch (IllegalStateException | IllegalArgumentException e) {
      unsupported(options, e);
    }
  }

  private static void unsupported(Options options, Exception e) {
    if (options.stopIfUnsupported()) {
      say(e.getMessage() + " (unsupported=stop)");
      System.exit(1);
    }
    say(e.getMessage() + ": going on without gloom");
  }

  private static void say(@Nullable String what) {
    String text = String.valueOf(what);
    System.err.println(text.startsWith("gloom: ") ? text : "gloom: " + text);
  }
}
