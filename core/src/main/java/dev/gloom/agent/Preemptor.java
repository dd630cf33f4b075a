package dev.gloom.agent;

import dev.gloom.jdk.CheckBridge;
import dev.gloom.runtime.Hogs;
import dev.gloom.runtime.Preemption;
import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// The helper thread of preemption, layer 2: when a goroutine goes on after sysmon has asked it to
/// stop, this one looks at its stack and arms the checks of the classes there. Those that have none
/// yet get them at the next good moment ({@link Wanted}); until then the one that was caught is
/// left to layer 3.
///
/// It is a thread of its own because it waits: for a handshake with the thread that hogs, for the
/// JVM to change a class. Sysmon must not.
///
/// The loop that keeps a processor is on the stack, most often near its top. To arm a class throws
/// away compiled code, so the first try takes a few classes from the top, and each further one more
/// of them. Whoever goes on after the last try is given up: what no check reaches, native code or
/// the JDK's own, is left to layer 3.
///
/// A class is disarmed when no check of it has stopped anybody for a minute: to arm it again has
/// its loops compiled again.
final class Preemptor implements Runnable {
  private static final int TRIES = 3;
  private static final int FIRST_CLASSES = 4;
  private static final int MORE_EACH_TRY = 4;

  /// Until an armed loop has had time to fall into its check.
  private static final long TRY_NANOS = 1_000_000;

  private static final long DISARM_AFTER_NANOS = 60_000_000_000L;
  private static final long DISARM_LOOK_NANOS = 10_000_000_000L;

  /// Until it tries again after an error.
  private static final long REST_NANOS = 1_000_000_000;

  /// How often it looks for a good moment: soon at first, then ever more rarely; and at once when
  /// one that ran without a processor has left its thread.
  private static final long FIRST_LOOK_NANOS = 2_000_000;

  private static final long RARE_LOOK_NANOS = 50_000_000;

  /// To find the goroutine takes time in proportion to how many there are: this much of a CPU.
  private static final int REST_FACTOR = 20;

  /// To change a class takes tens of milliseconds: this much of the time.
  private static final int CHANGE_REST_FACTOR = 3;

  private final Weaving weaving;

  /// The default scheduler's: whether classes are woven at their load.
  private final Hogs settings;

  private final Sites sites = new Sites();
  private final Wanted wanted = new Wanted();
  private long lookNanos = FIRST_LOOK_NANOS;
  private long lookAtNanos;
  private long restsUntilNanos;
  private long searchNanos;
  private boolean opened;
  private boolean anyArmed;

  /// Somebody was caught, or the settings have changed, since this round began. A short park in the
  /// middle of it takes the permit that was meant for its end.
  private volatile boolean news;

  private Preemptor(Weaving weaving, Hogs settings) {
    this.weaving = weaving;
    this.settings = settings;
  }

  /// Starts the thread, and in eager mode the weaving of whatever is loaded from now on.
  static void start(Instrumentation instrumentation, @Nullable Packages packages, Hogs settings) {
    var preemptor = new Preemptor(new Weaving(instrumentation, packages), settings);
    preemptor.follow();
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .name("gloom-preemptor")
            .inheritInheritableThreadLocals(false)
            .unstarted(preemptor);
    thread.setContextClassLoader(ClassLoader.getSystemClassLoader());
    thread.start();
    Hogs.helper(new Wake(preemptor, thread));
  }

  private record Wake(Preemptor preemptor, Thread thread) implements Runnable {
    @Override
    public void run() {
      preemptor.news = true;
      LockSupport.unpark(thread);
    }
  }

  /// Before the first class with a check is loaded.
  private void open() {
    if (!opened) {
      CheckBridge.open(sites);
      sites.warmUp();
      opened = true;
    }
  }

  @Override
  public void run() {
    for (; ; ) {
      try {
        round();
      } catch (OutOfMemoryError e) {
        rest(REST_NANOS); // no memory for words either
      } catch (RuntimeException | LinkageError e) {
        // Without it, hogs are left to layer 3. To end would leave classes armed for ever.
        say(e);
        rest(REST_NANOS);
      }
      Thread.interrupted(); // an outsider's; pending, it would turn this loop into a spin
    }
  }

  private static void say(Throwable e) {
    try {
      System.err.println("gloom: preemption: " + e);
    } catch (OutOfMemoryError again) {
      // nobody can be told
    }
  }

  /// The settings may have changed.
  private void follow() {
    boolean eager = settings.mode() == Preemption.Mode.EAGER;
    if (eager) {
      open();
    }
    weaving.eager(eager);
  }

  private void round() {
    news = false;
    follow();
    List<Hogs.Hog> hogs = Hogs.caught();
    if (!hogs.isEmpty()) {
      stop(hogs);
    }
    boolean off = settings.mode() == Preemption.Mode.OFF;
    if (off) {
      wanted.clear();
    }
    if (Hogs.anyLeft()) {
      lookSoon();
    }
    try {
      if (!wanted.isEmpty() && lookAtNanos - System.nanoTime() <= 0) {
        weaveWhatIsRipe();
      }
    } finally {
      if (wanted.isEmpty()) {
        Hogs.expectLeaving(false);
      }
    }
    if (anyArmed) {
      anyArmed = sites.disarm(System.nanoTime(), off ? 0 : DISARM_AFTER_NANOS);
    }
    if (news) {
      return;
    }
    if (!wanted.isEmpty()) {
      LockSupport.parkNanos(this, lookAtNanos - System.nanoTime());
    } else if (anyArmed) {
      LockSupport.parkNanos(this, DISARM_LOOK_NANOS);
    } else {
      LockSupport.park(this);
    }
  }

  /// One class at a time: the whole program stands still for it, and has some time to itself before
  /// the next.
  private void weaveWhatIsRipe() {
    Hogs.expectLeaving(true); // before the look: whoever leaves after it is noticed
    long start = System.nanoTime();
    boolean crowded = Hogs.anyCrowded();
    Map<Long, Set<String>> running = whereTheyRun();
    long now = System.nanoTime();
    long rest = Math.max((now - start) * REST_FACTOR, FIRST_LOOK_NANOS);
    long next = Math.min(lookNanos * 5 / 4, RARE_LOOK_NANOS);
    for (String name : wanted.names()) {
      if (wanted.isRipe(name, running, crowded, now)) {
        weaving.weave(name);
        arm(name);
        rest = Math.max(rest, (System.nanoTime() - now) * CHANGE_REST_FACTOR);
        next = rest;
        break;
      }
    }
    long after = System.nanoTime();
    lookNanos = Math.max(rest, next);
    lookAtNanos = after + lookNanos;
    // Whoever leaves is a reason to look, but where others come and go none to look all the time.
    restsUntilNanos = after + Math.max(rest, lookNanos / 4);
  }

  /// Looks for a good moment as soon as it may.
  private void lookSoon() {
    long now = System.nanoTime();
    lookAtNanos = restsUntilNanos - now > 0 ? restsUntilNanos : now;
  }

  /// The classes that each goroutine that runs has on its stack, by the id of its thread.
  private Map<Long, Set<String>> whereTheyRun() {
    var running = new HashMap<Long, Set<String>>();
    for (Thread thread : Hogs.running()) {
      running.put(thread.threadId(), classes(thread.getStackTrace(), Integer.MAX_VALUE).keySet());
    }
    return running;
  }

  private void stop(List<Hogs.Hog> hogs) {
    if (anyArmed) {
      rest(TRY_NANOS / 4); // it may be falling into a check right now
    }
    List<Hogs.Hog> left = new ArrayList<>(hogs);
    int classes = FIRST_CLASSES;
    searchNanos = 0;
    for (int i = 0; i < TRIES; i++, classes *= MORE_EACH_TRY) {
      left.removeIf(hog -> !hog.goesOn());
      if (left.isEmpty()) {
        break;
      }
      int most = classes;
      left.removeIf(hog -> isGivenUp(hog, most));
      rest(TRY_NANOS);
    }
    for (Hogs.Hog hog : left) {
      hog.cannotStop();
    }
    if (searchNanos > TRY_NANOS) {
      rest(Math.min(searchNanos * REST_FACTOR, REST_NANOS));
    }
  }

  /// Whoever is caught meanwhile waits, and is layer 3's in the end.
  private void rest(long nanos) {
    long until = System.nanoTime() + nanos;
    for (long left = nanos; left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(this, left);
      Thread.interrupted();
    }
  }

  /// Arms the classes on its stack. True if none of them has checks yet, since what runs there now
  /// never will have any; or if this one is known to come to a check too late: then all are armed.
  private boolean isGivenUp(Hogs.Hog hog, int most) {
    long start = System.nanoTime();
    Thread thread = hog.thread();
    searchNanos += System.nanoTime() - start;
    if (thread == null) {
      return false;
    }
    boolean late = hog.stopsLate();
    Map<String, String> found = classes(thread.getStackTrace(), late ? Integer.MAX_VALUE : most);
    if (found.isEmpty() || !hog.goesOn()) {
      return false;
    }
    open();
    boolean anyChecks = false;
    for (Map.Entry<String, String> entry : found.entrySet()) {
      String name = entry.getKey();
      if (sites.has(name) || weaving.wasCaught(name)) {
        arm(name);
        anyChecks = true;
      } else if (wanted.add(name, thread, entry.getValue())) {
        lookNanos = FIRST_LOOK_NANOS;
        lookSoon();
      }
    }
    boolean given = late || !anyChecks;
    if (given) {
      hog.cannotStop();
    }
    return given;
  }

  private void arm(String name) {
    sites.arm(name, System.nanoTime());
    anyArmed = true;
  }

  /// The first few classes of the application on a stack, from its top, each with the topmost of
  /// its methods there.
  private Map<String, String> classes(StackTraceElement[] stack, int most) {
    var found = new LinkedHashMap<String, String>();
    for (StackTraceElement frame : stack) {
      if (found.size() == most) {
        break;
      }
      if (weaving.mayHaveChecks(frame)) {
        found.putIfAbsent(frame.getClassName(), frame.getMethodName());
      }
    }
    return found;
  }
}
