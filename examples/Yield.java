// gosched() lets others run. Three goroutines take turns on one processor: whoever is not next
// steps back, and without that step it would burn a whole slice before another gets its turn.

import static dev.gloom.Gloom.go;
import static dev.gloom.Gloom.gosched;
import static dev.gloom.Gloom.maxProcs;

import dev.gloom.Goroutine;

void main() throws Exception {
  maxProcs(1);
  var steps = new AtomicInteger();
  var names = List.of("a", "b", "c");
  List<Goroutine> talkers = new ArrayList<>();
  for (int i = 0; i < names.size(); i++) {
    int me = i;
    talkers.add(
        go(
            () -> {
              for (int round = 1; round <= 3; round++) {
                while (steps.get() % names.size() != me) {
                  gosched();
                }
                IO.println(names.get(me) + round);
                steps.incrementAndGet();
              }
            }));
  }
  for (Goroutine talker : talkers) {
    talker.join();
  }
}

// Output:
// a1
// b1
// c1
// a2
// b2
// c2
// a3
// b3
// c3
