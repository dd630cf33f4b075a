package dev.gloom;

/// All goroutines are asleep, and nobody is left who could wake one. Thrown by {@link Gloom#run}
/// and {@link Goroutine#join()} on a platform thread, whose wait would never end; the message has
/// the stacks of all goroutines. They stay as they are, and the scheduler can be used on.
///
/// It is reported only where it is certain. Any other live platform thread of the program, a
/// pending timer, a shutdown hook, a goroutine that waits for a socket or is in native code keeps
/// it away. Where the JVM does not run on Linux, and under the agent, it is never reported;
/// `-Dgloom.deadlock=off` switches it off.
public final class DeadlockException extends RuntimeException {
  private static final long serialVersionUID = 1;

  DeadlockException(String goroutines) {
    super("all goroutines are asleep - deadlock!\n\n" + goroutines);
  }
}
