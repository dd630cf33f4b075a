package dev.gloom.jdk;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// A reference for each descriptor: an array by number. The kernel hands out the lowest free
/// number, so it is dense; it grows by blocks that never move, so a slot is one place in memory for
/// ever.
public final class FdSlots {
  private static final int BLOCK_SHIFT = 10;
  private static final int BLOCK = 1 << BLOCK_SHIFT;

  /// Replaced as a whole when a block is added.
  private volatile @Nullable Object[][] blocks = new Object[0][];

  /// All empty.
  public FdSlots() {}

  /// What is in the slot of `fd`.
  public @Nullable Object get(int fd) {
    @Nullable Object[][] all = blocks;
    int index = fd >> BLOCK_SHIFT;
    if (fd < 0 || index >= all.length) {
      return null;
    }
    @Nullable Object[] block = all[index];
    return block == null ? null : SLOT.getVolatile(block, fd & (BLOCK - 1));
  }

  /// Puts `value` there, and answers what was.
  public @Nullable Object swap(int fd, @Nullable Object value) {
    return SLOT.getAndSet(block(fd), fd & (BLOCK - 1), value);
  }

  /// Puts `value` there if it holds `expected`.
  public boolean replace(int fd, @Nullable Object expected, @Nullable Object value) {
    return SLOT.compareAndSet(block(fd), fd & (BLOCK - 1), expected, value);
  }

  /// How many slots hold an instance of `type`; looks at all.
  int count(Class<?> type) {
    int n = 0;
    for (@Nullable Object[] block : blocks) {
      if (block != null) {
        for (int i = 0; i < BLOCK; i++) {
          if (type.isInstance(SLOT.getVolatile(block, i))) {
            n++;
          }
        }
      }
    }
    return n;
  }

  private @Nullable Object[] block(int fd) {
    int index = fd >> BLOCK_SHIFT;
    for (; ; ) {
      @Nullable Object[][] all = blocks;
      if (index < all.length && all[index] != null) {
        return all[index];
      }
      @Nullable Object[][] more = new Object[Math.max(all.length, index + 1)][];
      System.arraycopy(all, 0, more, 0, all.length);
      more[index] = new Object[BLOCK];
      BLOCKS.compareAndSet(this, all, more);
    }
  }

  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Object[].class);
  private static final VarHandle BLOCKS;

  static {
    try {
      BLOCKS = MethodHandles.lookup().findVarHandle(FdSlots.class, "blocks", Object[][].class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
