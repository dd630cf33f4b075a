package dev.gloom.java;

import java.util.function.IntFunction;

/// One class of java.util.concurrent under stress, with an outcome that does not depend on who runs
/// when.
///
/// @param of the class
/// @param name what is done with it
/// @param expected the outcome, for a scale
/// @param stress the work; its size follows the crew's scale
record ConcurrentCase(Class<?> of, String name, IntFunction<?> expected, Crew.Task<?> stress) {
  @Override
  public String toString() {
    return of.getSimpleName() + ", " + name;
  }
}
