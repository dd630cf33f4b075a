// Code that is written for an ExecutorService runs on goroutines as it is: one for each task.
// close() waits for them all.

import static dev.gloom.Gloom.executor;
import static dev.gloom.Gloom.sleep;

void main() throws Exception {
  List<Future<String>> answers = new ArrayList<>();
  try (ExecutorService tasks = executor()) {
    for (String word : List.of("park", "steal", "yield")) {
      answers.add(
          tasks.submit(
              () -> {
                sleep(Duration.ofMillis(10));
                return word + " has " + word.length() + " letters";
              }));
    }
  }
  for (Future<String> answer : answers) {
    IO.println(answer.resultNow());
  }
}

// Output:
// park has 4 letters
// steal has 5 letters
// yield has 5 letters
