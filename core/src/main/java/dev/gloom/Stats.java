package dev.gloom;

/// What a scheduler has counted since it was made, and how it stands now. Figures are read one
/// after the other while it runs, so they agree with each other only roughly.
///
/// @param maxProcs how many goroutines may run at once
/// @param idleProcs processors without work
/// @param searching threads that look for work
/// @param threads threads that carry goroutines, asleep or not
/// @param idleThreads those of them that sleep and can be woken for any goroutine
/// @param goroutines started and not ended
/// @param started goroutines ever started
/// @param globalQueue goroutines in the global queue
/// @param dispatches times that a goroutine was put on a thread
/// @param sameM those on the thread it had been on last
/// @param steals times that a thread took work from another processor
/// @param stolen goroutines taken that way
/// @param overflows times that half a full local queue went to the global one
/// @param wakeups times that a thread was woken or started to look for work
/// @param handoffs times that a thread gave its processor to another one, which had to go on in its
///   place: so far around goroutines that are locked to a thread
/// @param alarms sleeps and time-outs that came to their end
/// @param blockingCalls calls that were announced as blocking
/// @param overcommitted goroutines that run at this moment beyond maxProcs, back from a call and
///   pinned
/// @param preemptedAtPoints times that a goroutine that had used up its slice let others run at a
///   scheduling point
/// @param preemptedAtChecks times that one was stopped by a check in a loop or recursive method,
///   which the agent puts there
/// @param rescues times that the monitor had to wake a thread for work nobody saw: a bug if not 0
public record Stats(
    int maxProcs,
    int idleProcs,
    int searching,
    int threads,
    int idleThreads,
    int goroutines,
    long started,
    int globalQueue,
    long dispatches,
    long sameM,
    long steals,
    long stolen,
    long overflows,
    long wakeups,
    long handoffs,
    long alarms,
    long blockingCalls,
    int overcommitted,
    long preemptedAtPoints,
    long preemptedAtChecks,
    long rescues) {}
