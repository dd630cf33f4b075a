package dev.gloom.bench.cases;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.SynchronousQueue;

/// What java.util.concurrent has for channels: a SynchronousQueue, and an ArrayBlockingQueue if
/// there is capacity. There is nothing that waits for several of them.
final class JdkChannels implements Channels {
  @Override
  public Pipe make(int capacity) {
    return new QueuePipe(
        capacity == 0 ? new SynchronousQueue<>() : new ArrayBlockingQueue<>(capacity));
  }

  private record QueuePipe(BlockingQueue<Integer> queue) implements Pipe {
    @Override
    public void send(Integer value) {
      try {
        queue.put(value);
      } catch (InterruptedException e) {
        throw Channels.unexpected(e);
      }
    }

    @Override
    public Integer recv() {
      try {
        return queue.take();
      } catch (InterruptedException e) {
        throw Channels.unexpected(e);
      }
    }
  }
}
