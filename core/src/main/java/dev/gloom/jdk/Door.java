package dev.gloom.jdk;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Finds the JDK's internals once, at start, and says in one message what is missing.
///
/// Every handle that this package uses is looked up here. A look-up that fails does not throw: it
/// records the first failure and answers with a handle that throws it, so that static initialisers
/// stay simple and {@link #require()} can tell the user the line to paste before any goroutine
/// exists. Handles end up in `static final` fields, which is what lets the JIT inline them: a call
/// through one costs what a direct call costs.
final class Door {
  private static @Nullable String failure;

  /// Opens what the JVM keeps closed, if an agent gave one; else gloom relies on --add-opens.
  private static @Nullable Function<Object, Object> key;

  private Door() {}

  /// Throws if anything that gloom needs from this JDK was not found.
  static void require() {
    if (failure != null) {
      throw new IllegalStateException(failure);
    }
  }

  /// Takes the agent's key. Before the first look-up.
  static void openWith(Function<Object, Object> given) {
    key = given;
  }

  private static void open(AccessibleObject member) {
    Function<Object, Object> k = key;
    if (k == null) {
      member.setAccessible(true);
    } else {
      var _ = k.apply(member);
    }
  }

  static Class<?> type(String name) {
    try {
      return Class.forName(name, true, null);
    } catch (ClassNotFoundException e) {
      fail(name, e);
      return Object.class;
    }
  }

  static MethodHandle constructor(MethodType as, Class<?> owner, Class<?>... parameters) {
    try {
      Constructor<?> c = owner.getDeclaredConstructor(parameters);
      open(c);
      return MethodHandles.lookup().unreflectConstructor(c).asType(as);
    } catch (ReflectiveOperationException | RuntimeException e) {
      return fail(owner.getName() + ".<init>", e, as);
    }
  }

  static MethodHandle method(MethodType as, Class<?> owner, String name, Class<?>... parameters) {
    try {
      Method m = owner.getDeclaredMethod(name, parameters);
      open(m);
      return MethodHandles.lookup().unreflect(m).asType(as);
    } catch (ReflectiveOperationException | RuntimeException e) {
      return fail(owner.getName() + "." + name, e, as);
    }
  }

  static MethodHandle getter(MethodType as, Class<?> owner, String name) {
    try {
      return MethodHandles.lookup().unreflectGetter(field(owner, name)).asType(as);
    } catch (ReflectiveOperationException | RuntimeException e) {
      return fail(owner.getName() + "." + name, e, as);
    }
  }

  static MethodHandle setter(MethodType as, Class<?> owner, String name) {
    try {
      return MethodHandles.lookup().unreflectSetter(field(owner, name)).asType(as);
    } catch (ReflectiveOperationException | RuntimeException e) {
      return fail(owner.getName() + "." + name, e, as);
    }
  }

  /// The only instance field of `owner` that holds a `held`: how a lambda keeps what it captured.
  static MethodHandle captured(MethodType as, Class<?> owner, Class<?> held) {
    try {
      for (Field f : owner.getDeclaredFields()) {
        if (f.getType() == held) {
          open(f);
          return MethodHandles.lookup().unreflectGetter(f).asType(as);
        }
      }
      throw new NoSuchFieldException("no field of type " + held.getName());
    } catch (ReflectiveOperationException | RuntimeException e) {
      return fail(owner.getName(), e, as);
    }
  }

  static int constant(Class<?> owner, String name) {
    try {
      // Not Field.getInt, which warms up machinery of its own for each field.
      return (int) MethodHandles.lookup().unreflectGetter(field(owner, name)).invokeExact();
    } catch (Throwable e) {
      fail(owner.getName() + "." + name, e);
      return Integer.MIN_VALUE;
    }
  }

  /// A class of gloom's own in `java.lang`, or the one that another copy of gloom put there.
  static Class<?> define(String name, byte[] classFile) {
    try {
      Function<Object, Object> k = key;
      var lookup =
          k == null
              ? MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup())
              : (MethodHandles.Lookup) k.apply(Thread.class);
      return lookup.defineClass(classFile);
    } catch (LinkageError e) {
      try {
        return Class.forName(name, true, null);
      } catch (ClassNotFoundException _) {
        fail(name, e);
        return Object.class;
      }
    } catch (IllegalAccessException | RuntimeException e) {
      fail(name, e);
      return Object.class;
    }
  }

  static void fail(String what, Throwable cause) {
    if (failure != null) {
      return;
    }
    failure =
        isClosed(cause)
            ? closedMessage(Door.class.getModule())
            : "gloom: this JDK (%s) has no %s as gloom knows it (%s). Use JDK 25, or a gloom made for this JDK."
                .formatted(Runtime.version(), what, cause);
  }

  private static MethodHandle fail(String what, Throwable cause, MethodType as) {
    fail(what, cause);
    MethodHandle thrower =
        MethodHandles.throwException(as.returnType(), IllegalStateException.class)
            .bindTo(new IllegalStateException(failure));
    return MethodHandles.dropArguments(thrower, 0, as.parameterList());
  }

  private static boolean isClosed(Throwable cause) {
    return cause instanceof java.lang.reflect.InaccessibleObjectException
        || cause instanceof IllegalAccessException;
  }

  /// The flag differs between class path and module path, and only this code knows which it is on.
  static String closedMessage(Module gloom) {
    String to = gloom.isNamed() ? gloom.getName() : "ALL-UNNAMED";
    return """
        gloom: package java.lang is not open to gloom, so it cannot schedule virtual threads. Add to the java command:
            --add-opens java.base/java.lang=%s
        or, for java -jar, to the jar's manifest: Add-Opens: java.base/java.lang"""
        .formatted(to);
  }

  private static Field field(Class<?> owner, String name) throws NoSuchFieldException {
    Field f = owner.getDeclaredField(name);
    open(f);
    return f;
  }
}
