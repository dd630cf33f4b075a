// Two goroutines that print and sleep, on two processors. Both get on at once; whose line comes
// first in a round is up to the scheduler. main waits for them: nothing else would.

import static dev.gloom.Gloom.go;
import static dev.gloom.Gloom.maxProcs;
import static dev.gloom.Gloom.sleep;

import dev.gloom.Goroutine;

void main() throws Exception {
  maxProcs(2);
  Goroutine letters = go(() -> print("letters", List.of("a", "b", "c")));
  Goroutine numbers = go(() -> print("numbers", List.of("1", "2", "3")));
  letters.join();
  numbers.join();
  IO.println("both are done");
}

void print(String who, List<String> items) throws InterruptedException {
  for (String item : items) {
    IO.println(who + " " + item);
    sleep(Duration.ofMillis(10)); // the goroutine sleeps, its thread and processor do not
  }
}

// Unordered output:
// letters a
// letters b
// letters c
// numbers 1
// numbers 2
// numbers 3
// both are done
