// Goroutines: start some, wait for them. main itself is goroutine 1.

import static dev.gloom.Gloom.go;

import dev.gloom.Goroutine;

void main() throws Exception {
  var squares = new int[5];
  List<Goroutine> workers = new ArrayList<>();
  for (int i = 0; i < squares.length; i++) {
    int n = i;
    workers.add(go(() -> squares[n] = n * n));
  }
  for (Goroutine worker : workers) {
    worker.join();
  }
  IO.println("Hello from " + workers.size() + " goroutines");
  IO.println(Arrays.toString(squares));
}

// Output:
// Hello from 5 goroutines
// [0, 1, 4, 9, 16]
