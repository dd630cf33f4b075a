package dev.gloom;

/// What a scheduler has counted since it was made, and how it stands now. Figures are read one
/// after the other while it runs, so they agree with each other only roughly.
///
/// @param maxProcs how many goroutines may run at once
/// @param idleProcs processors without work
/// @param searching threads that look for work
/// @param threads threads that carry goroutines, asleep or not
/// @param threadsStarted threads ever started, the monitor's included
/// @param idleThreads those of `threads` that sleep and can be woken for any goroutine
/// @param goroutines started and not ended
/// @param started goroutines ever started
/// @param globalQueue goroutines in the global queue
/// @param dispatches times that a goroutine was put on a thread
/// @param sameM those on the thread it had been on last
/// @param meetings values that were handed over between two goroutines that ran at the same time,
///   so that neither had to leave its thread
/// @param steals times that a thread took work from another processor
/// @param stolen goroutines taken that way
/// @param overflows times that half a full local queue went to the global one
/// @param wakeups times that a thread was woken or started to look for work
/// @param handoffs times that a processor went straight from one thread to another, which had to go
///   on in its place; `retaken`, `takenBlocked` and `takenBurning` say why, the rest are goroutines
///   that are locked to a thread and calls that gave theirs up at once
/// @param alarms sleeps and time-outs that came to their end
/// @param alarmsLateNanos by how much they were late, together
/// @param blockingCalls calls that were announced as blocking
/// @param overcommitted goroutines that run at this moment beyond maxProcs: back from a call, or
///   their processor was taken because they did not stop, and they have not come to a place since
///   where they can be held
/// @param retaken processors taken from calls that were announced and lasted
/// @param takenBlocked processors taken from goroutines that held their thread without a word:
///   native code, a file, a class initialiser, a wait while pinned
/// @param takenBurning processors taken from goroutines that computed on although they were asked
///   to stop
/// @param preemptedAtPoints times that a goroutine that had used up its slice let others run at a
///   scheduling point
/// @param preemptedAtChecks times that one was stopped by a check in a loop or recursive method,
///   which the agent puts there
/// @param net the network poller's
/// @param mount "lean": goroutines get onto their threads by gloom's own code; or "jdk: " and why
///   by the JDK's, which takes longer
/// @param rescues times that the monitor had to wake a thread for work nobody saw: a bug if not 0
public record Stats(
    int maxProcs,
    int idleProcs,
    int searching,
    int threads,
    long threadsStarted,
    int idleThreads,
    int goroutines,
    long started,
    int globalQueue,
    long dispatches,
    long sameM,
    long meetings,
    long steals,
    long stolen,
    long overflows,
    long wakeups,
    long handoffs,
    long alarms,
    long alarmsLateNanos,
    long blockingCalls,
    int overcommitted,
    long retaken,
    long takenBlocked,
    long takenBurning,
    long preemptedAtPoints,
    long preemptedAtChecks,
    Net net,
    String mount,
    long rescues) {
  /// Of the network poller.
  ///
  /// @param poller "epoll, edge" or, if sockets are registered at each wait, "epoll"; or "jdk: "
  ///   and why the JDK's own pollers serve all goroutines; the other figures are 0 then
  /// @param waiting goroutines that wait for a socket now
  /// @param ready times that a socket was ready and a goroutine was woken for it
  /// @param polls looks at the sockets that did not wait: by processors between goroutines or out
  ///   of work, and by the monitor
  /// @param blockingPolls times that a thread without work slept until a socket was ready
  /// @param monitorPolls those of `polls` that were the monitor's, since all processors were busy
  public record Net(
      String poller, int waiting, long ready, long polls, long blockingPolls, long monitorPolls) {}
}
