package dev.gloom.agent;

import dev.gloom.jdk.Announcements;
import dev.gloom.jdk.DefaultScheduler;
import dev.gloom.jdk.Unlock;
import dev.gloom.jdk.Vthread;
import dev.gloom.observe.Jmx;
import dev.gloom.runtime.Blocking;
import dev.gloom.runtime.Managed;
import dev.gloom.runtime.Sched;
import java.lang.instrument.Instrumentation;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// The start of the drop-in: reads its options, opens what gloom needs, and puts gloom in the place
/// of the JDK's scheduler for virtual threads. Whatever goes wrong is one line on standard error,
/// and the program runs as it would have without the agent.
public final class Agent {
  /// Set while an agent is there, to its mode. A property, because another copy of gloom, from
  /// another jar or class loader, must see it too, and because people can.
  static final String MARK = "gloom.agent";

  private Agent() {}

  /// Called by Entry, before the program's `main` or while it runs.
  public static void start(@Nullable String text, Instrumentation instrumentation) {
    Options options;
    try {
      options =
          Options.parse(
              text == null || text.isBlank() ? System.getProperty(Options.PROPERTY) : text);
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
    Object there = System.getProperties().putIfAbsent(MARK, options.mode().word);
    if (there != null) {
      say("the agent is there already (mode=" + there + "); the second one does nothing");
      return;
    }
    boolean installed = false;
    try {
      install(options, instrumentation);
      installed = true;
    } catch (IllegalStateException | IllegalArgumentException | LinkageError e) {
      unsupported(options, e);
    } finally {
      if (!installed) {
        System.clearProperty(MARK);
      }
    }
  }

  private static void install(Options options, Instrumentation instrumentation) {
    options.apply();
    Unlock.with(instrumentation);
    Vthread.require();
    DefaultScheduler.require();
    ForkJoinPool jdk = DefaultScheduler.get();
    if (options.mode() == Options.Mode.OBSERVE) {
      Observer.start(jdk);
      return;
    }
    // Whoever could wake a thread of such a program, gloom does not know: it never says deadlock.
    System.setProperty("gloom.deadlock", "off");
    Sched sched = Sched.byDefault();
    ForkJoinPool dropIn = DropIn.inPlaceOf(jdk, sched, options);
    DefaultScheduler.replace(dropIn);
    if (jdk.getPoolSize() != 0 || jdk.getStealCount() != 0) {
      // Virtual threads have run before: this is a JVM that was attached to.
      Unlock.forgetCompiledStarts(instrumentation);
    }
    if (DefaultScheduler.ofNewThread() != dropIn) {
      DefaultScheduler.replace(jdk);
      throw new IllegalStateException(
          "this JDK ("
              + Runtime.version()
              + ") goes on with its own scheduler when it is replaced");
    }
    Managed.whenUsed(new Jmx());
    announceCalls(instrumentation);
    Preemptor.start(instrumentation, Packages.of(options), sched.hogs());
  }

  /// How long a start is left alone: on two cores, what changes the JDK's classes would take a
  /// fifth of a second from it.
  private static final long AFTER_START_NANOS = 1_500_000_000;

  private static final long PAUSE_NANOS = 50_000_000;

  /// On a thread of its own, and later: the program's start need not wait for it. Until then, and
  /// if it fails, the monitor notices such calls all the same.
  private static void announceCalls(Instrumentation instrumentation) {
    if (!instrumentation.isRetransformClassesSupported()) {
      return; // a program that brings gloom along, in a jar whose manifest does not ask for it
    }
    Thread.ofPlatform().daemon().name("gloom-announcer").start(() -> announce(instrumentation));
  }

  private static void announce(Instrumentation instrumentation) {
    try {
      for (long end = System.nanoTime() + AFTER_START_NANOS; System.nanoTime() < end; ) {
        pause();
      }
      Announcements.install(instrumentation, Blocking::begin, Blocking::end, Agent::pause);
    } catch (OutOfMemoryError | LinkageError e) {
      // A heap that is full soon after the start: what is not changed by now stays as it is.
    }
  }

  private static void pause() {
    LockSupport.parkNanos(PAUSE_NANOS);
  }

  private static void unsupported(Options options, Throwable e) {
    String why = e instanceof LinkageError ? "this JDK has changed: " + e : e.getMessage();
    if (options.stopIfUnsupported()) {
      say(why + " (unsupported=stop)");
      System.exit(1);
    }
    say(why + ": going on without gloom");
  }

  private static void say(@Nullable String what) {
    String text = String.valueOf(what);
    System.err.println(text.startsWith("gloom: ") ? text : "gloom: " + text);
  }
}
