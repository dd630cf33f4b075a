package dev.gloom.agent;

import dev.gloom.jdk.Thrown;
import dev.gloom.runtime.Check;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.lang.ref.WeakReference;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BinaryOperator;
import java.util.function.Predicate;

/// The call sites behind the checks, one for each class that has reached one of its checks.
///
/// A site does nothing until it is armed. The JIT takes its target for a constant, so a check that
/// does nothing is nothing in compiled code; another target makes the JVM throw away the code that
/// relied on it, also code that is running: a loop falls into the interpreter at its next safepoint
/// and from there into the check.
///
/// Classes are known by name, since that is what a stack trace has; of two with one name, in two
/// class loaders, both are armed. A site is kept by its class alone and goes with it.
///
/// **Who is late.** The helper marks a name as armed and then arms its sites; a thread that reaches
/// its first check enters the site and then looks for the mark. One of the two sees the other. The
/// mark may go meanwhile, so whoever has armed a site by it looks again.
final class Sites implements BinaryOperator<Object> {
  private static final MethodType TYPE = MethodType.methodType(boolean.class, boolean.class);
  private static final MethodHandle NOTHING = MethodHandles.empty(TYPE);
  private static final MethodHandle HERE = here();

  /// More than java.lang.invoke.MethodHandle.CUSTOMIZE_THRESHOLD, which is 127.
  private static final int CALLS_TO_SETTLE = 150;

  /// Made ahead: a lambda is linked when it is first needed, and that may be in a full heap.
  private static final Predicate<WeakReference<Site>> GONE = r -> r.get() == null;

  private final Map<String, OfClass> byName = new ConcurrentHashMap<>();

  /// For `invokedynamic`, which asks once for each place: one site for each class all the same.
  private final ClassValue<Site> ofOldClass =
      new ClassValue<>() {
        @Override
        protected Site computeValue(Class<?> type) {
          return enter(type);
        }
      };

  /// The sites of the classes of one name.
  private static final class OfClass {
    final CopyOnWriteArrayList<WeakReference<Site>> sites = new CopyOnWriteArrayList<>();
    volatile boolean armed;

    /// When it was last caught, by `System.nanoTime`; the helper's.
    long caughtNanos;
  }

  /// A call site and its check.
  @SuppressWarnings("this-escape") // its handle
  private static final class Site extends MutableCallSite {
    final Check check = new Check();
    final MethodHandle handle;
    volatile boolean armed;

    Site() {
      super(NOTHING);
      handle = dynamicInvoker();
    }

    /// After some calls by interpreted code the JDK makes a class of its own for a handle. Better
    /// here than in a loop, which cannot deal with an OutOfMemoryError that comes of it.
    void settle() {
      try {
        for (int i = 0; i < CALLS_TO_SETTLE; i++) {
          boolean _ = (boolean) handle.invokeExact(false);
        }
      } catch (Throwable e) {
        throw Thrown.unchecked(e);
      }
    }
  }

  /// Loads and runs what the first check will need, while it can do no harm.
  void warmUp() {
    var lookup = MethodHandles.lookup();
    Object _ = apply(lookup, MethodHandle.class);
    Object _ = apply(lookup, TYPE);
    byName.clear();
  }

  /// The bootstrap method: for a constant a handle, for `invokedynamic` the site itself.
  @Override
  public Object apply(Object lookup, Object kind) {
    Class<?> caller = ((MethodHandles.Lookup) lookup).lookupClass();
    return kind instanceof MethodType ? ofOldClass.get(caller) : enter(caller).handle;
  }

  private Site enter(Class<?> caller) {
    var site = new Site();
    OfClass same = ofName(caller.getName());
    same.sites.removeIf(GONE); // scripts make many of one name
    same.sites.add(new WeakReference<>(site));
    if (same.armed) {
      arm(site);
      if (!same.armed) {
        disarm(site);
      }
    }
    return site;
  }

  private OfClass ofName(String name) {
    OfClass known = byName.get(name);
    if (known == null) {
      var made = new OfClass();
      OfClass other = byName.putIfAbsent(name, made);
      known = other == null ? made : other;
    }
    return known;
  }

  // The helper's side.

  /// Whether a class of this name has reached one of its checks.
  boolean has(String name) {
    OfClass c = byName.get(name);
    return c != null && !c.sites.isEmpty();
  }

  /// Arms the classes of this name, those that come later too.
  void arm(String name, long now) {
    OfClass c = ofName(name);
    c.caughtNanos = now;
    c.armed = true;
    for (WeakReference<Site> r : c.sites) {
      Site site = r.get();
      if (site != null && !site.armed) { // also one that could not be armed before, without memory
        arm(site);
      }
    }
  }

  private static void arm(Site site) {
    site.settle();
    site.setTarget(HERE.bindTo(site.check));
    MutableCallSite.syncAll(new MutableCallSite[] {site});
    site.armed = true;
  }

  private static void disarm(Site site) {
    site.armed = false;
    site.setTarget(NOTHING);
  }

  /// Disarms what has caught nobody for this long, and answers whether anything is still armed.
  boolean disarm(long now, long afterNanos) {
    boolean any = false;
    Iterator<OfClass> all = byName.values().iterator();
    while (all.hasNext()) {
      OfClass c = all.next();
      c.sites.removeIf(GONE);
      if (c.armed && now - lastCatch(c) >= afterNanos) {
        c.armed = false;
        for (WeakReference<Site> r : c.sites) {
          Site site = r.get();
          if (site != null) {
            disarm(site);
          }
        }
      }
      any |= c.armed;
    }
    return any;
  }

  private static long lastCatch(OfClass c) {
    long last = c.caughtNanos;
    for (WeakReference<Site> r : c.sites) {
      Site site = r.get();
      if (site != null) {
        long stop = site.check.lastStop(last);
        last = stop - last > 0 ? stop : last;
      }
    }
    return last;
  }

  private static MethodHandle here() {
    try {
      return MethodHandles.lookup().findVirtual(Check.class, "here", TYPE);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
