// The program ends when main does, whatever the other goroutines are doing: nobody waits for the
// sleeper, so its second line is never printed.

import static dev.gloom.Gloom.go;
import static dev.gloom.Gloom.sleep;

void main() throws Exception {
  var asleep = new CountDownLatch(1);
  go(
      () -> {
        IO.println("the sleeper goes to sleep");
        asleep.countDown();
        sleep(Duration.ofHours(1));
        IO.println("the sleeper wakes");
      });
  asleep.await();
  IO.println("main ends first");
}

// Output:
// the sleeper goes to sleep
// main ends first
