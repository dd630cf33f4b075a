package dev.gloom.agent;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
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
/// So a class is changed when no goroutine that runs has it on its stack, and none of those that
/// were caught is still in the method in which they were, be it that they wait there for their next
/// job, or for a processor. (In another method of that class one may wait: in a loop that takes
/// jobs and calls what was caught.) If there is always one, since it computes for long or others
/// come and go, the class stays as it is and layer 3 sees to them: they run at full speed, without
/// a processor. Only so many may do that (`gloom.maxovercommit`). When that many do, the next would
/// keep its processor and everybody behind it waiting: then a class is changed in spite of those
/// inside, if one of them has been there for two seconds.
///
/// Not seen: who waits inside and has never been caught, who was out between two looks, and who
/// comes in while the JVM changes the class.
final class Wanted {
  static final long STAY_NANOS = 2_000_000_000;

  /// So many that were caught in one class are remembered: each costs a look at its stack.
  private static final int MOST_CAUGHT = 32;

  /// By the name of the class.
  private final Map<String, Inside> classes = new LinkedHashMap<>();

  /// Who was in a class at the last look: ids of threads, and since when; and who was caught there.
  private record Inside(Map<Long, Long> since, List<Caught> caught) {}

  /// A thread, and the method in which it was caught. Nobody else may know that thread any more.
  private record Caught(WeakReference<Thread> thread, String method) {
    boolean isThere(String name) {
      Thread t = thread.get();
      if (t == null) {
        return false;
      }
      for (StackTraceElement frame : t.getStackTrace()) {
        if (frame.getMethodName().equals(method) && frame.getClassName().equals(name)) {
          return true;
        }
      }
      return false; // it has ended, or is elsewhere
    }
  }

  /// `thread` was caught in this class, in this method. False if the class is wanted already.
  boolean add(String name, Thread thread, String method) {
    Inside known = classes.get(name);
    Inside inside = known == null ? new Inside(Map.of(), new ArrayList<>()) : known;
    if (known == null) {
      classes.put(name, inside);
    }
    List<Caught> caught = inside.caught;
    if (caught.size() < MOST_CAUGHT
        && caught.stream().noneMatch(c -> c.thread.refersTo(thread) && c.method.equals(method))) {
      caught.add(new Caught(new WeakReference<>(thread), method));
    }
    return known == null;
  }

  boolean isEmpty() {
    return classes.isEmpty();
  }

  void clear() {
    classes.clear();
  }

  /// All of them, as they are now; who was caught first comes first.
  List<String> names() {
    return List.copyOf(classes.keySet());
  }

  /// Whether the time of this one has come, given which classes each thread that runs is in, and
  /// whether no more of them may run without a processor. If so, it is no longer wanted.
  boolean isRipe(String name, Map<Long, Set<String>> running, boolean crowded, long now) {
    Inside inside = classes.get(name);
    if (inside == null) {
      return false;
    }
    Map<Long, Long> still = still(name, inside.since, running, now);
    boolean ripe = still.isEmpty() && noneIsThere(name, inside.caught);
    if (ripe || crowded && anySince(still, now - STAY_NANOS)) {
      classes.remove(name);
      return true;
    }
    classes.put(name, new Inside(still, inside.caught));
    return false;
  }

  /// Those that have left are forgotten.
  private static boolean noneIsThere(String name, List<Caught> caught) {
    while (!caught.isEmpty() && !caught.getLast().isThere(name)) {
      caught.removeLast();
    }
    return caught.isEmpty();
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
