package dev.gloom.observe;

/// A scheduler, for JConsole and the like: `dev.gloom:type=Scheduler,name=gloom`. There within a
/// second or two after the program, or a tool that attaches to it, has begun to use JMX.
public interface SchedulerMXBean {
  /// How many goroutines run at once.
  int getMaxProcs();

  /// How long a goroutine may run while others wait, in milliseconds.
  long getSliceMillis();

  /// Changes that, from 1 to 60,000, while goroutines run.
  void setSliceMillis(long millis);

  /// What is done about a goroutine that passes no scheduling point: `adaptive`, `eager` or `off`.
  String getPreempt();

  /// Changes that: `off` is the kill switch. Classes that are loaded keep what they have; checks in
  /// them do nothing from then on.
  void setPreempt(String mode);

  /// Goroutines that have started and not ended.
  int getGoroutines();

  /// Times that a goroutine that had used up its slice stopped at a scheduling point.
  long getPreemptedAtPoints();

  /// Times that one was stopped by a check in a loop or recursive method.
  long getPreemptedAtChecks();
}
