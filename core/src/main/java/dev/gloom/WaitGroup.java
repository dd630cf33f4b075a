package dev.gloom;

import dev.gloom.runtime.Panic;
import dev.gloom.runtime.WaitCount;
import dev.gloom.runtime.Wrapping;
import java.util.Objects;

/// Waits for a number of goroutines to finish.
///
/// ```java
/// var group = new WaitGroup();
/// for (var url : urls) {
///   group.go(() -> fetch(url));
/// }
/// group.await();
/// ```
///
/// Can be used again at once, also while those that waited for the last round are not yet back.
public final class WaitGroup {
  private final WaitCount count = new WaitCount();

  /// With nothing to wait for.
  public WaitGroup() {}

  /// Adds so many, or takes away if negative; those that wait go on when nothing is left.
  ///
  /// @throws IllegalStateException if that is less than nothing; the group is as before
  public void add(int delta) {
    count.add(delta);
  }

  /// One has finished.
  ///
  /// @throws IllegalStateException if there was none
  public void done() {
    count.add(-1);
  }

  /// Waits until all have finished.
  ///
  /// @throws InterruptedException if the calling thread is interrupted, before or while it waits
  public void await() throws InterruptedException {
    count.await();
  }

  /// Starts a goroutine that counts as one of the group until it ends. If an exception leaves it
  /// and that ends the program (`gloom.panic=exit`), it does not count as finished, as in Go: what
  /// waits does not get to see half a result. Else it does, since nobody would end the wait.
  public Goroutine go(Body body) {
    Objects.requireNonNull(body, "go of nil func value: the body is null");
    count.add(1);
    try {
      return Gloom.go(new Member(count, body));
    } catch (Throwable e) {
      count.add(-1); // refused
      throw e;
    }
  }

  private record Member(WaitCount count, Body body) implements Body, Wrapping {
    @Override
    public Body wrapped() {
      return body;
    }

    @Override
    public void run() throws Exception {
      try {
        body.run();
      } catch (Throwable e) {
        if (!Panic.endsProgram()) {
          count.add(-1);
        }
        throw e;
      }
      count.add(-1);
    }
  }

  /// How many have not finished.
  @Override
  public String toString() {
    return "WaitGroup[" + count.count() + "]";
  }
}
