// A pipeline: words flow from stage to stage through channels. The middle stage fans out to three
// goroutines, which share one channel, and fans in again to another. Whoever sends closes: a stage
// ends when the one before it has closed its channel, so the end travels down the line by itself.

import static dev.gloom.Gloom.go;

import dev.gloom.Chan;
import dev.gloom.RecvChan;
import dev.gloom.WaitGroup;

void main() throws Exception {
  RecvChan<String> words = words("goroutines on Go's scheduler for Java");
  RecvChan<String> described = describe(words, 3);
  Set<String> sorted = new TreeSet<>(); // three at once come in any order
  for (String line : described) {
    sorted.add(line);
  }
  sorted.forEach(IO::println);
}

RecvChan<String> words(String text) {
  Chan<String> out = Chan.make();
  go(
      () -> {
        for (String word : text.split(" ")) {
          out.send(word);
        }
        out.close();
      });
  return out;
}

RecvChan<String> describe(RecvChan<String> in, int workers) {
  Chan<String> out = Chan.make();
  var group = new WaitGroup();
  for (int i = 0; i < workers; i++) {
    group.go(
        () -> {
          for (String word : in) {
            out.send(word + " has " + word.length() + " letters");
          }
        });
  }
  go(
      () -> {
        group.await();
        out.close(); // only when the last of them has sent its last
      });
  return out;
}

// Output:
// Go's has 4 letters
// Java has 4 letters
// for has 3 letters
// goroutines has 10 letters
// on has 2 letters
// scheduler has 9 letters
