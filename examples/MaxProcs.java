// maxProcs is how many goroutines run at the same moment. Without a number, or with 0, it only
// tells; with one it sets, and answers what it was before. There may be any number of goroutines.

import static dev.gloom.Gloom.go;
import static dev.gloom.Gloom.maxProcs;

import dev.gloom.Goroutine;

void main() throws Exception {
  maxProcs(4);
  IO.println("it is " + maxProcs());
  IO.println("it was " + maxProcs(2));
  IO.println("now it is " + maxProcs(0));

  var ran = new AtomicInteger();
  List<Goroutine> many = new ArrayList<>();
  for (int i = 0; i < 1_000; i++) {
    many.add(go(ran::incrementAndGet));
  }
  for (Goroutine one : many) {
    one.join();
  }
  IO.println(ran + " goroutines ran on " + maxProcs() + " processors");
}

// Output:
// it is 4
// it was 4
// now it is 2
// 1000 goroutines ran on 2 processors
