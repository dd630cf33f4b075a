package dev.gloom.agent;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
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
/// So a class is changed when no goroutine that runs has it on its stack; or when one has been in
/// it for two seconds, since that one may never end, and the next is to be stopped. If others come
/// and go all the time it stays as it is, and layer 3 sees to them.
///
/// Not seen: who waits inside (it seldom goes on to compute for long), who was out between two
/// looks, and who comes in while the JVM changes the class.
final class Wanted {
  static final long STAY_NANOS = 2_000_000_000;

  /// By the name of the class: the ids of the threads that were in it at the last look, and since
  /// when.
  private final Map<String, Map<Long, Long>> insiders = new HashMap<>();

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

  /// Those whose time has come, given which classes each thread that runs is in. From now on they
  /// are no longer wanted.
  List<String> ripe(Map<Long, Set<String>> running, long now) {
    var ripe = new ArrayList<String>();
    for (Iterator<Map.Entry<String, Map<Long, Long>>> i = insiders.entrySet().iterator();
        i.hasNext(); ) {
      Map.Entry<String, Map<Long, Long>> wanted = i.next();
      Map<Long, Long> still = still(wanted.getKey(), wanted.getValue(), running, now);
      if (still.isEmpty() || still.values().stream().anyMatch(at -> now - at >= STAY_NANOS)) {
        ripe.add(wanted.getKey());
        i.remove();
      } else {
        wanted.setValue(still);
      }
    }
    return ripe;
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
