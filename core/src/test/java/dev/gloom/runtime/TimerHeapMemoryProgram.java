package dev.gloom.runtime;

/// A heap of alarms that has to grow when there is no memory, in a JVM with little of it. Prints
/// figures as `name=value`.
public final class TimerHeapMemoryProgram {
  private static final int FULL = 1_024; // the arrays double when this many are in
  private static final int BLOCK = 1_000;

  private static long last;
  private static boolean inOrder = true;

  private TimerHeapMemoryProgram() {}

  public static void main(String[] args) {
    var heap = new TimerHeap();
    for (int i = 0; i < FULL; i++) {
      heap.add(armed((i * 7_919L) % 1_000_003));
    }
    Alarm oneMore = armed(1);
    int refused = 0;
    Object[] ballast = fill(null);
    try {
      heap.add(oneMore);
    } catch (OutOfMemoryError e) {
      refused++;
    }
    int blocks = 0;
    for (Object[] b = ballast; b != null; b = (Object[]) b[0]) {
      blocks++;
    }
    ballast = null;
    print("refused", refused);
    print("blocks", blocks);
    print("rang", heap.ringDue(Alarm.NEVER - 1));
    last = 0;
    for (int i = 0; i < 3_000; i++) {
      heap.add(armed((i * 7_919L) % 1_000_003));
    }
    print("rangLater", heap.ringDue(Alarm.NEVER - 1));
    print("inOrder", inOrder ? 1 : 0);
  }

  /// Takes all memory, a block at a time, each smaller than what the heap will ask for.
  private static Object[] fill(Object[] before) {
    Object[] blocks = before;
    try {
      for (; ; ) {
        Object[] block = new Object[BLOCK];
        block[0] = blocks;
        blocks = block;
      }
    } catch (OutOfMemoryError e) {
      return blocks;
    }
  }

  private static Alarm armed(long when) {
    var alarm = new Ordered();
    alarm.prepare(() -> 0, when);
    return alarm;
  }

  private static void print(String name, long value) {
    System.out.println(name + "=" + value);
  }

  private static final class Ordered extends Alarm {
    @Override
    protected void ring() {
      inOrder &= when >= last;
      last = when;
    }
  }
}
