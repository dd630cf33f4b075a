package dev.gloom.jdk;

import java.util.AbstractMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What `sun.nio.ch.Poller` takes for its map from descriptors to the threads that wait for them:
/// gloom's in the table, those of others in the map of the JDK's own poller behind it.
final class PollerMap extends AbstractMap<Integer, @Nullable Thread> {
  private final FdTable table;
  private final SocketWaits waits;
  private final Map<Integer, @Nullable Thread> jdk;

  PollerMap(FdTable table, SocketWaits waits, Map<Integer, @Nullable Thread> jdk) {
    this.table = table;
    this.waits = waits;
    this.jdk = jdk;
  }

  /// A wait begins.
  @Override
  public @Nullable Thread put(Integer fd, @Nullable Thread thread) {
    if (thread == null || !waits.begin(thread)) {
      return jdk.put(fd, thread);
    }
    if (!table.put(fd, thread)) {
      waits.needNotWait(thread);
    }
    return null;
  }

  /// A wait ends: called by the thread itself, and by whoever closes the descriptor under it.
  @Override
  public @Nullable Thread remove(Object fd) {
    Thread thread = table.take((Integer) fd);
    return thread == null ? jdk.remove(fd) : thread;
  }

  @Override
  public int size() {
    return table.size() + jdk.size();
  }

  @Override
  public Set<Entry<Integer, @Nullable Thread>> entrySet() {
    throw new UnsupportedOperationException("sun.nio.ch.Poller has changed");
  }
}
