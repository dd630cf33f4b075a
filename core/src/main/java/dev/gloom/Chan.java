package dev.gloom;

import dev.gloom.runtime.Channel;
import dev.gloom.runtime.Channel.Outcome;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/// A channel: goroutines pass values through it, in order, each value to one receiver.
///
/// Without capacity a send and a receive meet: each waits for the other, and the value goes from
/// hand to hand. With capacity a send waits only while the channel is full, and a receive while it
/// is empty. Whoever waits longest is served first. What a goroutine did before a send, the one
/// that receives the value sees.
///
/// Any thread may use a channel, goroutine or not. Values are never null.
///
/// ```java
/// Chan<Integer> jobs = Chan.make(16);
/// go(() -> { for (int job : jobs) work(job); });
/// jobs.send(7);
/// jobs.close();
/// ```
public final class Chan<T> implements SendChan<T>, RecvChan<T> {
  static final String NULL_ELEMENT =
      "send of null: a channel has no null elements; close it to say that no more will come";

  private static final TryRecv.Empty<?> EMPTY = new TryRecv.Empty<>();
  private static final TryRecv.Closed<?> CLOSED = new TryRecv.Closed<>();

  final Channel channel;

  /// On which nothing ever happens: what a nil channel is in Go, but one can call its methods. A
  /// select does not even lock it.
  private static final Chan<?> NEVER = new Chan<>(new Channel(0));

  Chan(Channel channel) {
    this.channel = channel;
  }

  @SuppressWarnings("unchecked") // there are no values
  static <T> Chan<T> never() {
    return (Chan<T>) NEVER;
  }

  static @Nullable Channel forSelect(@Nullable RecvChan<?> chan) {
    return chan == null || chan == NEVER ? null : ((Chan<?>) chan).channel;
  }

  /// A channel without capacity.
  public static <T> Chan<T> make() {
    return make(0);
  }

  /// A channel that holds up to `capacity` values.
  ///
  /// @throws IllegalArgumentException if the capacity is negative, or larger than any array
  public static <T> Chan<T> make(int capacity) {
    return new Chan<>(new Channel(capacity));
  }

  @Override
  public void send(T value) throws InterruptedException {
    if (!channel.send(Objects.requireNonNull(value, NULL_ELEMENT))) {
      throw sendOnClosed(channel);
    }
  }

  @Override
  public boolean trySend(T value) {
    return switch (channel.trySend(Objects.requireNonNull(value, NULL_ELEMENT))) {
      case DONE -> true;
      case BLOCKED -> false;
      case CLOSED -> throw sendOnClosed(channel);
    };
  }

  @Override
  @SuppressWarnings("unchecked") // only T's are sent
  public @Nullable T recv() throws InterruptedException {
    return (T) channel.recv();
  }

  @Override
  @SuppressWarnings("unchecked") // only T's are sent
  public TryRecv<T> tryRecv() {
    Object got = channel.tryRecv();
    if (got == Outcome.BLOCKED) {
      return (TryRecv<T>) EMPTY;
    }
    return got == Outcome.CLOSED ? (TryRecv<T>) CLOSED : new TryRecv.Value<>((T) got);
  }

  @Override
  public void close() {
    if (!channel.close()) {
      throw new ChannelClosedException("close of closed channel: " + channel);
    }
  }

  @Override
  public int len() {
    return channel.len();
  }

  @Override
  public int cap() {
    return channel.cap();
  }

  /// Receives until the channel is closed and drained: see {@link RecvChan}.
  @Override
  public Iterator<T> iterator() {
    return new Values();
  }

  /// Its number, capacity and length.
  @Override
  public String toString() {
    return channel + " len=" + channel.len();
  }

  static ChannelClosedException sendOnClosed(Channel channel) {
    return new ChannelClosedException("send on closed channel: " + channel);
  }

  private final class Values implements Iterator<T> {
    private @Nullable T next;

    @Override
    public boolean hasNext() {
      if (next == null) {
        try {
          next = recv();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          var ended = new CancellationException("interrupted while receiving from " + channel);
          ended.initCause(e);
          throw ended;
        }
      }
      return next != null;
    }

    @Override
    public T next() {
      if (!hasNext()) {
        throw new NoSuchElementException("closed and drained: " + channel);
      }
      T value = Objects.requireNonNull(next);
      next = null;
      return value;
    }
  }
}
