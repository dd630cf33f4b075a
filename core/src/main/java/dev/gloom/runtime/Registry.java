package dev.gloom.runtime;

import org.jspecify.annotations.Nullable;

/// All goroutines that have started and not ended: what is counted, dumped, and searched for those
/// that ran out of stack.
///
/// {@link StrongRegistry} is the one that is used. {@link WeakRegistry} is for a JVM that was
/// started with `-Djdk.trackAllThreads=false`, by which the JDK too lets go of virtual threads that
/// nobody can wake any more.
///
/// Go: `allgs`
interface Registry {
  /// A goroutine starts. Fails, if at all, before it has changed anything.
  void add(G g);

  /// Takes an ended goroutine out. Its M does, and whoever joined it may be quicker: only the first
  /// counts.
  void remove(G g);

  /// How many there are. Exact when nothing starts or ends meanwhile.
  int size();

  /// How many have started since the beginning, ended or not. Never goes back.
  long started();

  /// All of them, list by list, each list at one moment.
  G[] snapshot();

  /// Forgets those that the collector has taken. For sysmon.
  void sweep();

  /// The one that `m` runs at this moment, if any; a moment's view.
  default @Nullable G runningOn(M m) {
    for (G g : snapshot()) {
      if (g.runsOn() == m) {
        return g;
      }
    }
    return null;
  }
}
