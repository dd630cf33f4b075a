package dev.gloom.jdk;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/// How an agent opens the JDK for gloom: through {@link Key}. A class of its own, because to touch
/// any other of this package would start the look-ups that need the key.
public final class Unlock {
  private Unlock() {}

  /// From now on members of the JDK are opened by a key of gloom's own. Throws {@link
  /// IllegalStateException} if that cannot be.
  public static void with(Instrumentation instrumentation) {
    var loader = new KeyLoader();
    Class<?> type = loader.define(classFile());
    Set<Module> only = Set.of(loader.getUnnamedModule());
    try {
      instrumentation.redefineModule(
          Object.class.getModule(),
          Set.of(),
          Map.of(),
          Map.of("java.lang", only, "jdk.internal.vm", only),
          Set.of(),
          Map.of());
      @SuppressWarnings("unchecked") // a Key, from another loader
      var key = (Function<Object, Object>) type.getConstructor().newInstance();
      Door.openWith(key);
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      throw new IllegalStateException("gloom: cannot open the JDK for itself: " + e, e);
    }
  }

  /// Has the JIT's code that starts virtual threads thrown away: what was compiled before the
  /// scheduler was replaced has the old one in it as a constant. The class is retransformed to what
  /// it is, and the JVM drops all code that depends on it.
  public static void forgetCompiledStarts(Instrumentation instrumentation) {
    try {
      if (!Retransformation.of(instrumentation, Door.type("java.lang.VirtualThread"))) {
        throw new IllegalStateException(
            "gloom: cannot take over the start of threads: the heap is nearly full; attach again"
                + " when it is not");
      }
    } catch (UnmodifiableClassException | UnsupportedOperationException e) {
      throw new IllegalStateException("gloom: cannot take over the start of threads: " + e, e);
    }
  }

  private static byte[] classFile() {
    try (InputStream in = Unlock.class.getResourceAsStream("Key.class")) {
      if (in == null) {
        throw new IllegalStateException("gloom: the jar is incomplete: it has no Key.class");
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new IllegalStateException("gloom: the jar cannot be read: " + e, e);
    }
  }

  /// A loader with one class and no parent but the boot loader.
  private static final class KeyLoader extends ClassLoader {
    KeyLoader() {
      super("gloom-key", null);
    }

    Class<?> define(byte[] classFile) {
      return defineClass(Key.class.getName(), classFile, 0, classFile.length);
    }
  }
}
