package dev.gloom.agent;

import java.lang.instrument.Instrumentation;

/**
 * Where the JVM enters the agent. Compiled for Java 8, so that an older JVM can load it and say in
 * one sentence what is wrong, instead of a class file error and the end of the program. It names
 * one class that is not: the JVM looks for that only when it gets there.
 */
public final class Entry {
  private static final int OLDEST = 25;

  private Entry() {}

  /** {@code -javaagent}. */
  public static void premain(String options, Instrumentation instrumentation) {
    enter(options, instrumentation);
  }

  /** {@code Launcher-Agent-Class} of an executable jar, and attaching to a JVM that runs. */
  public static void agentmain(String options, Instrumentation instrumentation) {
    enter(options, instrumentation);
  }

  private static void enter(String options, Instrumentation instrumentation) {
    int java = javaVersion(System.getProperty("java.specification.version", "0"));
    if (java < OLDEST) {
      System.err.println(
          "gloom: this is Java " + java + ", gloom needs " + OLDEST + ": going on without gloom");
      return;
    }
    try {
      Agent.start(options, instrumentation);
    } catch (Throwable e) {
      // What leaves here ends the JVM; the program is to run as it would without the agent.
      System.err.println("gloom: the agent failed: " + e + ": going on without gloom");
    }
  }

  static int javaVersion(String specification) {
    String major = specification.startsWith("1.") ? specification.substring(2) : specification;
    try {
      return Integer.parseInt(major);
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
