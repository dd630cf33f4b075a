package dev.gloom.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// More goroutines block in native code than there may be threads; then all is as before.
public final class ThreadLimitProgram {
  private ThreadLimitProgram() {}

  /// How many to block.
  public static void main(String[] args) throws Exception {
    Sched sched = Sched.byDefault();
    int n = Integer.parseInt(args[0]);
    var back = new AtomicInteger();
    var most = new AtomicInteger();
    for (int round = 0; round < 2; round++) {
      List<G> all = new ArrayList<>();
      for (int i = 0; i < n; i++) {
        all.add(
            Spawn.go(
                sched,
                "",
                () -> {
                  NativeSleep.micros(100_000);
                  most.accumulateAndGet(sched.counters().threads(), Math::max);
                  return back.incrementAndGet();
                }));
      }
      for (G g : all) {
        g.join();
      }
      // A pending alarm: the one thread that sleeps is the watcher.
      G sleeper =
          Spawn.go(
              sched,
              "",
              () -> {
                Thread.sleep(600_000);
                return null;
              });
      for (int i = 0; i < 200; i++) {
        Spawn.go(sched, "", back::incrementAndGet).join();
      }
      sleeper.thread().interrupt();
      sleeper.join();
    }
    System.out.println("back=" + back);
    System.out.println("most=" + most);
    System.out.println("rescues=" + sched.counters().rescues());
  }
}
