// gosched() steps back behind those who wait for a turn. On one processor, two goroutines that step
// back after each line take turns, hello and world; without it the first prints all its lines at
// once. Turns are a courtesy, not a promise: for an order that must hold see Yield.java.

import static dev.gloom.Gloom.go;
import static dev.gloom.Gloom.gosched;
import static dev.gloom.Gloom.maxProcs;

import dev.gloom.Goroutine;

void main() throws Exception {
  maxProcs(1);
  Goroutine other = go(() -> say("world")); // can run now, but main has the processor
  say("hello");
  other.join();
}

void say(String word) {
  for (int i = 1; i <= 3; i++) {
    IO.println(word + " " + i);
    gosched();
  }
}

// Unordered output:
// hello 1
// world 1
// hello 2
// world 2
// hello 3
// world 3
