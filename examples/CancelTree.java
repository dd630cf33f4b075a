// Contexts form a tree. Whoever is cancelled takes everything below along, and nothing above or
// beside it. A goroutine sees it on a channel, so it can wait for its work and for the end at once.

import static dev.gloom.Gloom.recv;
import static dev.gloom.Gloom.select;

import dev.gloom.Chan;
import dev.gloom.Context;
import dev.gloom.WaitGroup;

final WaitGroup workers = new WaitGroup();

void main() throws Exception {
  try (var server = Context.background().withCancel()) {
    var slow = server.withValue("name", "slow request").withTimeout(Duration.ofMillis(20));
    var left = server.withValue("name", "left request").withCancel();
    var query = left.withValue("name", "its query").withCancel();
    var right = server.withValue("name", "right request").withCancel();
    work(slow);
    workers.await();

    work(query);
    left.cancel(new IOException("the client hung up"));
    workers.await();
    IO.println("server and right request: " + server.err() + ", " + right.err());

    workers.add(1);
    right.afterFunc(
        () -> {
          IO.println("cleaned up after the right request");
          workers.done();
        });
    server.cancel();
    workers.await();
    work(right);
    workers.await();
  }
}

/// Waits for something that never comes, or for the end of its context.
void work(Context ctx) {
  Chan<String> result = Chan.make();
  workers.go(
      () -> {
        String end = select(recv(result, r -> r), recv(ctx.done(), _ -> ctx.err().getMessage()));
        IO.println(ctx.value("name") + ": " + end + ", because: " + ctx.cause().getMessage());
      });
}

// Output:
// slow request: context deadline exceeded, because: context deadline exceeded
// its query: context canceled, because: the client hung up
// server and right request: null, null
// cleaned up after the right request
// right request: context canceled, because: context canceled
