// The prime sieve: a chain of goroutines, one for each prime, that grows while it runs. Each passes
// on what its prime does not divide; what comes out at the end is the next prime.

import static dev.gloom.Gloom.go;

import dev.gloom.Chan;
import dev.gloom.RecvChan;
import dev.gloom.SendChan;

void main() throws Exception {
  Chan<Integer> numbers = Chan.make();
  go(() -> generate(numbers));
  RecvChan<Integer> end = numbers;
  for (int i = 0; i < 10; i++) {
    int prime = end.recv();
    IO.println(prime);
    end = filter(end, prime);
  }
}

void generate(SendChan<Integer> out) throws InterruptedException {
  for (int n = 2; ; n++) {
    out.send(n);
  }
}

RecvChan<Integer> filter(RecvChan<Integer> in, int prime) {
  Chan<Integer> out = Chan.make();
  go(
      () -> {
        for (int n : in) {
          if (n % prime != 0) {
            out.send(n);
          }
        }
      });
  return out;
}

// Output:
// 2
// 3
// 5
// 7
// 11
// 13
// 17
// 19
// 23
// 29
