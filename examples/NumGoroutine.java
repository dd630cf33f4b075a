// numGoroutine counts those that have started and not ended, main among them, running or not.

import static dev.gloom.Gloom.go;
import static dev.gloom.Gloom.numGoroutine;

import dev.gloom.Goroutine;

void main() throws Exception {
  IO.println("at first " + numGoroutine() + ": main");
  var gate = new CountDownLatch(1);
  List<Goroutine> waiting = new ArrayList<>();
  for (int i = 0; i < 10; i++) {
    waiting.add(go(gate::await));
  }
  IO.println("ten more wait: " + numGoroutine());
  gate.countDown();
  for (Goroutine one : waiting) {
    one.join();
  }
  IO.println("they have ended: " + numGoroutine());
}

// Output:
// at first 1: main
// ten more wait: 11
// they have ended: 1
