// Five philosophers, five forks, and each takes the left one first. When all have their left fork,
// all wait for their right one, for ever. Nobody is left who could change that: gloom says so, with
// the stack of each, and the program ends with status 2, as in Go.
//
// The way out: one of them takes the right fork first.

import static dev.gloom.Gloom.go;

import dev.gloom.Chan;
import dev.gloom.Goroutine;
import dev.gloom.WaitGroup;

final int seats = 5;

void main() throws Exception {
  List<Chan<String>> forks = new ArrayList<>();
  for (int i = 0; i < seats; i++) {
    Chan<String> place = Chan.make(1); // a fork lies there, or it is empty
    place.send("fork " + i);
    forks.add(place);
  }
  var allHaveOne = new WaitGroup();
  allHaveOne.add(seats);
  List<Goroutine> table = new ArrayList<>();
  for (int i = 0; i < seats; i++) {
    Chan<String> left = forks.get(i);
    Chan<String> right = forks.get((i + 1) % seats);
    table.add(
        go(
            () -> {
              String first = left.recv();
              allHaveOne.done();
              allHaveOne.await(); // bad luck, made certain
              String second = right.recv();
              IO.println("eats with " + first + " and " + second);
              left.send(first);
              right.send(second);
            }));
  }
  allHaveOne.await();
  IO.println("everybody has a fork");
  for (Goroutine philosopher : table) {
    philosopher.join();
  }
}

// Ends with status 2 and: fatal error: all goroutines are asleep - deadlock!
// Output:
// everybody has a fork
