// A goroutine that prints without end and never steps back takes one processor, not the program:
// the others run on the second one. When main returns, the program ends, and the loop with it.

import static dev.gloom.Gloom.go;
import static dev.gloom.Gloom.maxProcs;

import dev.gloom.Goroutine;

void main() throws Exception {
  maxProcs(2);
  var looping = new CountDownLatch(3);
  go(
      () -> {
        while (true) {
          IO.println("again and again");
          looping.countDown();
        }
      });
  looping.await(); // from here on the loop is under way
  List<Goroutine> others = new ArrayList<>();
  for (String name : List.of("first", "second", "third")) {
    others.add(go(() -> IO.println(name + " of the others")));
  }
  for (Goroutine other : others) {
    other.join();
  }
  IO.println("main ends");
}

// Unordered output, each line once or more:
// again and again
// first of the others
// second of the others
// third of the others
// main ends
