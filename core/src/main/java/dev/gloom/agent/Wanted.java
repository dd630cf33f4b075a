package dev.gloom.agent;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Classes that were caught and are to get checks, as soon as that harms nobody.
///
/// The JVM never compiles a method again that was changed while it ran: that activation goes on in
/// the interpreter, some fifty times slower, to its end, and still without checks. So to change a
/// class under the one that hogs does not stop it, and makes seconds of a request that would have
/// taken a tenth of one. Meanwhile its processor can be taken (layer 3).
///
/// So a class is changed when no goroutine that runs has it on its stack. If there is always one,
/// since it computes for long or others come and go, the class stays as it is and layer 3 sees to
/// them: they run at full speed, without a processor. Only so many may do that
/// (`gloom.maxovercommit`). When that many do, the next would keep its processor and everybody
/// behind it waiting: then a class is changed in spite of those inside, if one of them has been
/// there for two seconds.
///
/// Not seen: who waits inside (it seldom goes on to compute for long), who was out between two
/// looks, and who comes in while the JVM changes the class.
final class Wanted {
  static final long STAY_NANOS = 2_000_000_000;

  /// By the name of the class: the ids of the threads that were in it at the last look, and since
  /// when.
  private final Map<String, Map<Long, Long>> insiders = new LinkedHashMap<>();

  /// False if it is wanted already.
  boolean add(String name) {
    return insiders.putIfAbsent(name, Map.of()) == null;
  }

  boolean isEmpty() {
    return insiders.isEmpty();
  }

  void clear() {
    insiders.clear();
  }

  /// All of them, as they are now; who was caught first comes first.
  List<String> names() {
    return List.copyOf(insiders.keySet());
  }

  /// Whether the time of this one has come, given which classes each thread that runs is in, and
  /// whether no more of them may run without a processor. If so, it is no longer wanted.
  boolean isRipe(String name, Map<Long, Set<String>> running, boolean crowded, long now) {
    Map<Long, Long> still = still(name, insiders.getOrDefault(name, Map.of()), running, now);
    if (still.isEmpty() || crowded && anySince(still, now - STAY_NANOS)) {
      insiders.remove(name);
      return true;
    }
    insiders.put(name, still);
    return false;
  }

  private static boolean anySince(Map<Long, Long> insiders, long then) {
    return insiders.values().stream().anyMatch(since -> since - then <= 0);
  }

  private static Map<Long, Long> still(
      String name, Map<Long, Long> before, Map<Long, Set<String>> running, long now) {
    var still = new HashMap<Long, Long>();
    running.forEach(
        (thread, classes) -> {
          if (classes.contains(name)) {
            still.put(thread, before.getOrDefault(thread, now));
          }
        });
    return still;
  }
}
