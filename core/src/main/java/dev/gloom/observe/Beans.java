package dev.gloom.observe;

import dev.gloom.runtime.Preemption;
import dev.gloom.runtime.Sched;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;

/// Registers a bean for each scheduler that has threads, and takes it out when the scheduler has
/// ended. On a thread of its own: the server is the program's, and may keep a caller waiting.
final class Beans {
  private static final long LOOK_MILLIS = 500;

  private final Map<Sched, ObjectName> registered = new HashMap<>();

  void follow() {
    try {
      for (; ; ) {
        // Nobody makes the server for our sake.
        if (!MBeanServerFactory.findMBeanServer(null).isEmpty()) {
          look(ManagementFactory.getPlatformMBeanServer());
        }
        Thread.sleep(LOOK_MILLIS);
      }
    } catch (InterruptedException _) {
      // somebody wants it to end
    }
  }

  private void look(MBeanServer server) {
    Set<Sched> live = new HashSet<>(Sched.live());
    for (Sched s : live) {
      if (!registered.containsKey(s)) {
        register(server, s);
      }
    }
    registered
        .entrySet()
        .removeIf(
            e -> {
              boolean ended = !live.contains(e.getKey());
              if (ended) {
                unregister(server, e.getValue());
              }
              return ended;
            });
  }

  private void register(MBeanServer server, Sched sched) {
    try {
      var name = new ObjectName("dev.gloom:type=Scheduler,name=" + sched.name());
      server.registerMBean(new Bean(sched), name);
      registered.put(sched, name);
    } catch (JMException | RuntimeException _) {
      // Another copy of gloom has one of that name, or the program forbids it: tried again.
    }
  }

  private static void unregister(MBeanServer server, ObjectName name) {
    try {
      server.unregisterMBean(name);
    } catch (JMException | RuntimeException _) {
      // it has gone
    }
  }

  /// The bean of one scheduler.
  private record Bean(Sched sched) implements SchedulerMXBean {
    @Override
    public int getMaxProcs() {
      return sched.maxProcs();
    }

    @Override
    public long getSliceMillis() {
      return sched.hogs().sliceNanos() / 1_000_000;
    }

    @Override
    public void setSliceMillis(long millis) {
      sched.hogs().slice(millis);
    }

    @Override
    public String getPreempt() {
      return sched.hogs().mode().word();
    }

    @Override
    public void setPreempt(String mode) {
      sched.hogs().mode(Preemption.Mode.of(mode));
    }

    @Override
    public int getGoroutines() {
      return sched.numGoroutine();
    }

    @Override
    public long getPreemptedAtPoints() {
      return sched.counters().preemptedAtPoints();
    }

    @Override
    public long getPreemptedAtChecks() {
      return sched.counters().preemptedAtChecks();
    }
  }
}
