package dev.gloom.dropin;

import dev.gloom.Gloom;
import java.lang.management.ManagementFactory;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/// Random virtual-thread work from several class loaders under the agent, for a while. Arguments:
/// seconds, seed. Prints how much was started and ended, what the scheduler says, and what is left
/// on the heap.
public final class DropInSoakProgram {
  private static final int LOADERS = 4;

  private DropInSoakProgram() {}

  public static void main(String[] args) throws Exception {
    long seconds = Long.parseLong(args[0]);
    long seed = Long.parseLong(args[1]);
    round(seed, 2); // what is made once is made now
    long before = used();
    var counts = new long[2];
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    for (int i = 1; System.nanoTime() < end; i++) {
      long[] some = round(seed + i, Math.min(5, seconds));
      counts[0] += some[0];
      counts[1] += some[1];
    }
    long left = used() - before;
    for (int i = 0; i < 1_000 && Gloom.numGoroutine() != 0; i++) {
      Thread.sleep(10);
    }
    System.out.println("started=" + counts[0]);
    System.out.println("ended=" + counts[1]);
    System.out.println("goroutines=" + Gloom.numGoroutine());
    System.out.println("rescues=" + Gloom.stats().rescues());
    System.out.println("gloomStarted=" + Gloom.stats().started());
    System.out.println("bytesLeft=" + left);
  }

  /// Each loader has its own copy of the work, sees nothing of gloom, and is dropped afterwards.
  private static long[] round(long seed, long seconds) throws Exception {
    URL here = DropInSoakProgram.class.getProtectionDomain().getCodeSource().getLocation();
    List<URLClassLoader> loaders = new ArrayList<>();
    List<Thread> drivers = new ArrayList<>();
    var counts = new long[LOADERS][];
    for (int i = 0; i < LOADERS; i++) {
      int index = i;
      var loader =
          new URLClassLoader("soak-" + i, new URL[] {here}, ClassLoader.getPlatformClassLoader());
      loaders.add(loader);
      @SuppressWarnings("unchecked") // its own type, of another loader
      var work =
          (Callable<long[]>)
              loader
                  .loadClass("dev.gloom.dropin.SoakWork")
                  .getConstructor(long.class, long.class)
                  .newInstance(seed * LOADERS + i, seconds);
      Thread t =
          new Thread(
              () -> {
                try {
                  counts[index] = work.call();
                } catch (Exception e) {
                  e.printStackTrace();
                }
              });
      t.setContextClassLoader(loader);
      t.start();
      drivers.add(t);
    }
    for (Thread t : drivers) {
      t.join();
    }
    for (URLClassLoader loader : loaders) {
      loader.close();
    }
    long[] sum = new long[2];
    for (long[] c : counts) {
      sum[0] += c[0];
      sum[1] += c[1];
    }
    return sum;
  }

  private static long used() throws Exception {
    for (int i = 0; i < 4; i++) {
      System.gc();
      Thread.sleep(50);
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
