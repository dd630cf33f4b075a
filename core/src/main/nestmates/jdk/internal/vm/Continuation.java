package jdk.internal.vm;

import java.util.function.BiPredicate;
import jdk.internal.access.JavaLangAccess;
import jdk.internal.access.SharedSecrets;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;
import jdk.internal.vm.annotation.JvmtiHideEvents;

/// Stands for the JDK's class of this name while {@link Lean} is compiled, and declares what that
/// touches of it. Not in the jar: at run time `Lean` finds the JDK's own.
public class Continuation {
  private ContinuationScope scope;
  private StackChunk tail;
  private boolean done;
  private volatile boolean mounted;
  private Object yieldInfo;
  private Object[] scopedValueCache;

  /// See the JDK's.
  public Continuation(ContinuationScope scope, Runnable target) {}

  /// See the JDK's.
  public native boolean isDone();

  /// See the JDK's.
  public static native boolean yield(ContinuationScope scope);

  private static native int doYield();

  private static native void enterSpecial(
      Continuation continuation, boolean isContinue, boolean isVirtualThread);

  /// Entry and exit of a virtual thread's continuation. A hidden class in the nest of the JDK's
  /// Continuation; used by the one of the same name in the nest of VirtualThread.
  static final class Lean implements BiPredicate<Continuation, Boolean> {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long MOUNTED = U.objectFieldOffset(Continuation.class, "mounted");
    private static final JavaLangAccess LANG = SharedSecrets.getJavaLangAccess();

    private Lean() {}

    /// The only one.
    static Object make() {
      return new Lean();
    }

    /// Runs one, or yields from it, by the thread whose continuation this is; false if it is pinned.
    @Override
    @ForceInline
    @Hidden
    @JvmtiHideEvents
    public boolean test(Continuation continuation, Boolean yields) {
      if (yields) {
        return Lean.yield(continuation);
      }
      run(continuation);
      return true;
    }

    /// As `run`, for the outermost continuation on a platform thread. One M at a time is in here
    /// with a continuation, by the word of its goroutine, so that `mounted` needs no CAS.
    @ForceInline
    private static void run(Continuation continuation) {
      Thread carrier = LANG.currentCarrierThread();
      if (continuation.mounted || continuation.done || LANG.getContinuation(carrier) != null) {
        throw new IllegalStateException("gloom: mounted twice, or ended");
      }
      U.putBooleanRelease(continuation, MOUNTED, true);
      Object[] cache = continuation.scopedValueCache;
      if (LANG.scopedValueCache() != cache) {
        LANG.setScopedValueCache(cache);
      }
      LANG.setContinuation(carrier, continuation);
      try {
        enterSpecial(continuation, continuation.tail != null, true);
      } finally {
        U.storeFence(); // as in the JDK: keeps the compiler from moving things across
        LANG.setContinuation(carrier, null);
        if (continuation.done) {
          continuation.tail = null;
        }
        U.putBooleanRelease(continuation, MOUNTED, false);
        cache = LANG.scopedValueCache();
        if (cache != continuation.scopedValueCache) {
          continuation.scopedValueCache = cache;
        }
        if (cache != null) {
          LANG.setScopedValueCache(null);
        }
        if (continuation.yieldInfo != null) {
          continuation.yieldInfo = null;
        }
      }
    }

    /// As `yield` of its scope.
    @ForceInline
    @Hidden
    @JvmtiHideEvents
    private static boolean yield(Continuation continuation) {
      if (LANG.getContinuation(LANG.currentCarrierThread()) != continuation) {
        return Continuation.yield(continuation.scope); // from inside of another one
      }
      int pinned = doYield();
      U.storeFence(); // as in the JDK
      if (continuation.yieldInfo != null) {
        continuation.yieldInfo = null;
      }
      return pinned == 0;
    }
  }
}
