package dev.gloom.jdk;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// Who waits for which descriptor, one thread for each: an array by number. The kernel hands out
/// the lowest free number, so it is dense; it grows by blocks that never move, so a slot is one
/// place in memory for ever.
public final class FdTable {
  private static final int BLOCK_SHIFT = 10;
  private static final int BLOCK = 1 << BLOCK_SHIFT;

  /// Replaced as a whole when a block is added.
  private volatile @Nullable Thread[][] blocks = new Thread[0][];

  FdTable() {}

  /// Puts `thread` into the slot of `fd`, and answers who was there.
  @Nullable Thread put(int fd, Thread thread) {
    return (Thread) SLOT.getAndSet(block(fd), fd & (BLOCK - 1), thread);
  }

  /// Empties the slot of `fd` and answers who was in it. One of those that race for it gets it.
  public @Nullable Thread take(int fd) {
    @Nullable Thread[][] all = blocks;
    int index = fd >> BLOCK_SHIFT;
    if (fd < 0 || index >= all.length) {
      return null;
    }
    @Nullable Thread[] block = all[index];
    if (block == null || SLOT.getVolatile(block, fd & (BLOCK - 1)) == null) {
      return null;
    }
    return (Thread) SLOT.getAndSet(block, fd & (BLOCK - 1), (Thread) null);
  }

  /// How many wait; looks at all slots.
  int size() {
    int n = 0;
    for (@Nullable Thread[] block : blocks) {
      if (block != null) {
        for (int i = 0; i < BLOCK; i++) {
          if (SLOT.getVolatile(block, i) != null) {
            n++;
          }
        }
      }
    }
    return n;
  }

  private @Nullable Thread[] block(int fd) {
    int index = fd >> BLOCK_SHIFT;
    for (; ; ) {
      @Nullable Thread[][] all = blocks;
      if (index < all.length && all[index] != null) {
        return all[index];
      }
      @Nullable Thread[][] more = new Thread[Math.max(all.length, index + 1)][];
      System.arraycopy(all, 0, more, 0, all.length);
      more[index] = new Thread[BLOCK];
      BLOCKS.compareAndSet(this, all, more);
    }
  }

  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Thread[].class);
  private static final VarHandle BLOCKS;

  static {
    try {
      BLOCKS = MethodHandles.lookup().findVarHandle(FdTable.class, "blocks", Thread[][].class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
