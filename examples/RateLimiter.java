// A ticker limits how often something is done: each request takes a tick. Whoever is slow gets no
// heap of ticks to catch up with; one is kept, the rest are dropped. A channel with capacity lets a
// few through at once, a burst, and is filled up by the ticks.

import static dev.gloom.Gloom.go;

import dev.gloom.Chan;
import dev.gloom.Ticker;

final Duration period = Duration.ofMillis(20);

void main() throws Exception {
  long start = System.nanoTime();
  try (var ticker = new Ticker(period)) {
    for (int request = 1; request <= 3; request++) {
      ticker.c().recv();
      IO.println("request " + request);
    }
  }
  IO.println("not faster than the ticks: " + (System.nanoTime() - start >= 3 * period.toNanos()));

  Chan<Boolean> burst = Chan.make(3);
  for (int i = 0; i < 3; i++) {
    burst.send(true);
  }
  long then = System.nanoTime();
  try (var ticker = new Ticker(period)) {
    go(
        () -> {
          for (Instant _ : ticker.c()) {
            burst.trySend(true);
          }
        });
    for (int request = 4; request <= 8; request++) {
      burst.recv();
      IO.println("request " + request);
    }
  }
  IO.println("three at once, two by ticks: " + (System.nanoTime() - then >= 2 * period.toNanos()));
}

// Output:
// request 1
// request 2
// request 3
// not faster than the ticks: true
// request 4
// request 5
// request 6
// request 7
// request 8
// three at once, two by ticks: true
