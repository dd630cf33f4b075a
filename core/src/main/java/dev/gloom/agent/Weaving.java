package dev.gloom.agent;

import dev.gloom.jdk.Retransformation;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Which classes get checks, and when: in eager mode every class of the application at its load; in
/// any mode a class that was caught, by retransforming it.
///
/// These are two transformers, each registered when it is first needed, so a program whose
/// goroutines never hog pays nothing. The one for loads is of the simple sort: the JVM keeps what
/// it made of a class when others have that class transformed again. The one for those that are
/// caught can change classes that are loaded, at a higher price for each load, and answers the same
/// for a class each time it is asked.
///
/// Of the application is what neither the boot loader nor the platform loader has loaded, is in no
/// module of the JDK, and is not gloom's. The options `include` and `exclude` leave more out.
///
/// A class that cannot be woven is left alone and said once, by name: at once if it cannot be read,
/// else if it has been caught. (Not those that are left alone by rule, as too old: nothing can be
/// done about them.) The class itself then loads or fails as it would have without gloom.
final class Weaving implements ClassFileTransformer {
  private static final ClassLoader PLATFORM = ClassLoader.getPlatformClassLoader();

  private final Instrumentation instrumentation;
  private final @Nullable Packages packages;
  private volatile boolean eager;

  // The helper's, or before it starts.
  private boolean watchesLoads;
  private boolean watchesCaught;

  /// Names of classes, with dots, that were caught.
  private final Set<String> caught = ConcurrentHashMap.newKeySet();

  private final Set<String> told = ConcurrentHashMap.newKeySet();

  Weaving(Instrumentation instrumentation, @Nullable Packages packages) {
    this.instrumentation = instrumentation;
    this.packages = packages;
  }

  /// Whether classes get checks when they are loaded.
  void eager(boolean wanted) {
    if (wanted && !watchesLoads) {
      instrumentation.addTransformer(this, false);
      watchesLoads = true;
    }
    eager = wanted;
  }

  /// Puts checks into the classes of this name that are loaded; those that come later get theirs as
  /// they are loaded. Once for each name: false if it has been done, or if there is no memory for
  /// it now.
  boolean weave(String name) {
    if (!caught.add(name)) {
      return false;
    }
    boolean done = false;
    try {
      done = weaveLoaded(name);
    } finally {
      if (!done) {
        caught.remove(name);
      }
    }
    return done;
  }

  private boolean weaveLoaded(String name) {
    if (!watchesCaught) {
      instrumentation.addTransformer(new OfCaught(), true);
      watchesCaught = true;
    }
    Class<?>[] loaded = instrumentation.getAllLoadedClasses();
    if (loaded == null) { // the JVM is about to end
      return false;
    }
    for (Class<?> type : loaded) {
      if (type.getName().equals(name)
          && instrumentation.isModifiableClass(type)
          && isOfApplication(type.getModule(), type.getClassLoader(), name)
          && !retransform(type)) {
        return false;
      }
    }
    return true;
  }

  /// Whether the classes of this name have been dealt with.
  boolean wasCaught(String name) {
    return caught.contains(name);
  }

  private boolean retransform(Class<?> type) {
    try {
      return Retransformation.of(instrumentation, type);
    } catch (Exception | LinkageError | InternalError e) {
      // Another agent's doing, or a class that the JVM holds on to. It is as it was.
      leaveAlone(type.getName(), e.toString());
      return true;
    }
  }

  @Override
  public byte @Nullable [] transform(
      Module module,
      @Nullable ClassLoader loader,
      @Nullable String internalName,
      @Nullable Class<?> redefined,
      @Nullable ProtectionDomain domain,
      byte[] classFile) {
    return eager ? weave(module, loader, internalName, classFile, false) : null;
  }

  /// For classes that were caught.
  private final class OfCaught implements ClassFileTransformer {
    @Override
    public byte @Nullable [] transform(
        Module module,
        @Nullable ClassLoader loader,
        @Nullable String internalName,
        @Nullable Class<?> redefined,
        @Nullable ProtectionDomain domain,
        byte[] classFile) {
      return weave(module, loader, internalName, classFile, true);
    }
  }

  private byte @Nullable [] weave(
      Module module,
      @Nullable ClassLoader loader,
      @Nullable String internalName,
      byte[] classFile,
      boolean onlyCaught) {
    if (loader == null || loader == PLATFORM) {
      return null;
    }
    String name = internalName == null ? "a class without a name" : dotted(internalName);
    try {
      if (internalName == null) { // whoever defines a class need not name it
        name = dotted(Weaver.nameOf(classFile));
      }
      if (onlyCaught && !caught.contains(name) || !isOfApplication(module, loader, name)) {
        return null;
      }
      Weaver.Woven woven = Weaver.weave(classFile);
      if (!woven.leftAlone().isEmpty() && caught.contains(name)) {
        leaveAlone(name, String.join("; ", woven.leftAlone()));
      }
      return woven.bytes();
    } catch (LeftAlone e) {
      if (caught.contains(name)) { // one that hogs; of the others nobody wants to know
        leaveAlone(name, e.getMessage());
      }
      return null;
    } catch (RuntimeException e) {
      leaveAlone(name, e.toString());
      return null;
    }
  }

  private static String dotted(String internalName) {
    return internalName.replace('/', '.');
  }

  private void leaveAlone(String name, @Nullable String why) {
    if (told.add(name)) {
      System.err.println("gloom: no preemption checks in " + name + ": " + why);
    }
  }

  /// Whether a class on a stack may get checks, as far as its name tells.
  boolean mayHaveChecks(StackTraceElement frame) {
    String module = frame.getModuleName();
    String name = frame.getClassName();
    return !(module != null && isOfJdk(module))
        && name.indexOf('/') < 0 // a hidden class
        && !isOfGloom(name)
        && (packages == null || packages.want(name));
  }

  private boolean isOfApplication(Module module, @Nullable ClassLoader loader, String name) {
    return loader != null
        && loader != PLATFORM
        && !(module.isNamed() && isOfJdk(module.getName()))
        && !isOfGloom(name)
        && (packages == null || packages.want(name));
  }

  private static boolean isOfJdk(String module) {
    return module.startsWith("java.") || module.startsWith("jdk.");
  }

  /// gloom's packages, each as a whole; what is below `dev.gloom` otherwise is not gloom.
  private static boolean isOfGloom(String name) {
    if (!name.startsWith("dev.gloom.")) {
      return false;
    }
    String in = name.substring(0, name.lastIndexOf('.'));
    return switch (in) {
      case "dev.gloom",
          "dev.gloom.runtime",
          "dev.gloom.jdk",
          "dev.gloom.agent",
          "dev.gloom.trace",
          "dev.gloom.observe" ->
          true;
      default -> false;
    };
  }
}
