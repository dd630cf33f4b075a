// A bounded worker pool: three goroutines share a queue of jobs, however many jobs there are. The
// queue holds two, so whoever submits waits when the workers fall behind. The submitter selects: it
// takes results while it waits to hand in more, and would notice if nothing moved.

import static dev.gloom.Gloom.after;
import static dev.gloom.Gloom.go;
import static dev.gloom.Gloom.recv;
import static dev.gloom.Gloom.select;
import static dev.gloom.Gloom.send;

import dev.gloom.Chan;

void main() throws Exception {
  int count = 20;
  Chan<Integer> jobs = Chan.make(2);
  Chan<Integer> results = Chan.make();
  var inside = new AtomicInteger();
  var most = new AtomicInteger();
  for (int worker = 0; worker < 3; worker++) {
    go(
        () -> {
          for (int job : jobs) {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            int square = job * job;
            inside.decrementAndGet();
            results.send(square);
          }
        });
  }

  int submitted = 0;
  int received = 0;
  long sum = 0;
  while (received < count) {
    Chan<Integer> open = submitted < count ? jobs : null; // a null channel is never ready
    int value =
        select(
            send(open, submitted + 1, () -> 0),
            recv(results, square -> square),
            after(Duration.ofSeconds(30), () -> -1));
    if (value < 0) {
      throw new IllegalStateException("nothing moves");
    }
    if (value == 0) {
      submitted++;
    } else {
      received++;
      sum += value;
    }
  }
  jobs.close();
  IO.println("jobs: " + received);
  IO.println("sum of squares: " + sum);
  IO.println("never more than three at once: " + (most.get() <= 3));
}

// Output:
// jobs: 20
// sum of squares: 2870
// never more than three at once: true
