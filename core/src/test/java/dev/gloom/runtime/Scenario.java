package dev.gloom.runtime;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.datastructures.Options;

/// Scenarios for Lincheck in one line each: `before | one thread | another | …`. An operation with
/// a parameter gets the number of its thread, as from Lincheck's `ThreadIdGen`; `before` is 0.
///
/// It makes scenarios up itself too, but on two cores a few hundred interleavings of the situations
/// that an algorithm is afraid of find more in a second than random ones in a minute.
final class Scenario {
  private Scenario() {}

  /// Lincheck's options with these scenarios; its random ones come after them.
  static <O extends Options<O, ?>> O add(O options, Class<?> ops, String... scenarios) {
    for (String line : scenarios) {
      String[] parts = line.split("\\|");
      var threads = new ArrayList<List<Actor>>();
      for (int i = 1; i < parts.length; i++) {
        threads.add(actors(ops, i, parts[i]));
      }
      options.addCustomScenario(
          new ExecutionScenario(actors(ops, 0, parts[0]), threads, List.of(), null));
    }
    return options;
  }

  private static List<Actor> actors(Class<?> ops, int thread, String names) {
    var actors = new ArrayList<Actor>();
    for (String name : names.strip().split(" +")) {
      if (!name.isEmpty()) {
        Method method = method(ops, name);
        actors.add(
            new Actor(method, method.getParameterCount() == 0 ? List.of() : List.of(thread)));
      }
    }
    return actors;
  }

  private static Method method(Class<?> ops, String name) {
    return Arrays.stream(ops.getMethods())
        .filter(m -> m.getName().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no operation " + name));
  }
}
