package dev.gloom.cli;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The `main` that the `java` command would choose: any one that is not private, static or not,
/// `main(String[])` before `main()` (JLS 12.1.4).
final class MainMethod {
  private final Class<?> type;
  private final Method method;

  private MainMethod(Class<?> type, Method method) {
    this.type = type;
    this.method = method;
  }

  static Optional<MainMethod> of(Class<?> type) {
    Method method = find(type, String[].class);
    if (method == null) {
      method = find(type);
    }
    return Optional.ofNullable(method).map(found -> new MainMethod(type, found));
  }

  /// Calls it. What the program throws comes out as it is, without the wrapping of reflection.
  void call(String[] args) throws Exception {
    try {
      Object receiver = Modifier.isStatic(method.getModifiers()) ? null : newInstance();
      if (method.getParameterCount() == 0) {
        method.invoke(receiver);
      } else {
        method.invoke(receiver, (Object) args);
      }
    } catch (InvocationTargetException e) {
      throw programsOwn(e);
    }
  }

  ClassLoader loader() {
    return type.getClassLoader();
  }

  /// Says before anything runs why an instance `main` could not be called.
  void check() throws UsageException {
    if (Modifier.isStatic(method.getModifiers())) {
      return;
    }
    if (Modifier.isAbstract(type.getModifiers())) {
      throw new UsageException(
          type.getName() + " is abstract: make the class concrete, or its main static");
    }
    if (constructor() == null) {
      throw new UsageException(
          type.getName()
              + " has no constructor without parameters that is not private: add one, or make main"
              + " static");
    }
  }

  private Object newInstance() throws ReflectiveOperationException {
    Constructor<?> constructor = constructor();
    assert constructor != null : "check() was not called";
    constructor.setAccessible(true);
    return constructor.newInstance();
  }

  private @Nullable Constructor<?> constructor() {
    try {
      Constructor<?> constructor = type.getDeclaredConstructor();
      return Modifier.isPrivate(constructor.getModifiers()) ? null : constructor;
    } catch (NoSuchMethodException e) {
      return null;
    }
  }

  private static @Nullable Method find(Class<?> type, Class<?>... parameters) {
    for (Class<?> c = type; c != null; c = c.getSuperclass()) {
      try {
        Method method = c.getDeclaredMethod("main", parameters);
        if (isCandidate(type, method)) {
          method.setAccessible(true);
          return method;
        }
      } catch (NoSuchMethodException e) {
        // Perhaps it is inherited.
      }
    }
    try {
      Method method = type.getMethod("main", parameters); // A default method of an interface.
      method.setAccessible(true); // It is public, the interface need not be.
      return isCandidate(type, method) ? method : null;
    } catch (NoSuchMethodException e) {
      return null;
    }
  }

  private static boolean isCandidate(Class<?> type, Method method) {
    int modifiers = method.getModifiers();
    boolean visible =
        Modifier.isPublic(modifiers)
            || Modifier.isProtected(modifiers)
            || (!Modifier.isPrivate(modifiers)
                && method.getDeclaringClass().getPackageName().equals(type.getPackageName()));
    return visible && method.getReturnType() == void.class;
  }

  private static Exception programsOwn(InvocationTargetException wrapper) {
    for (Throwable e = wrapper.getCause(); e != null; e = e.getCause()) {
      e.setStackTrace(withoutCaller(e.getStackTrace()));
    }
    return switch (wrapper.getCause()) {
      case Exception exception -> exception;
      case Error error -> throw error;
      case null, default -> wrapper;
    };
  }

  /// Cuts the frames of this class and of reflection, which are below the program's `main`.
  private static StackTraceElement[] withoutCaller(StackTraceElement[] frames) {
    int end = 0;
    while (end < frames.length && !frames[end].getClassName().equals(MainMethod.class.getName())) {
      end++;
    }
    if (end == frames.length) {
      return frames;
    }
    while (end > 0 && frames[end - 1].getClassName().contains(".reflect.")) {
      end--;
    }
    return Arrays.copyOf(frames, end);
  }
}
