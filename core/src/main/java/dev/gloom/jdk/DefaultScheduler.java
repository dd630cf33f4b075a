package dev.gloom.jdk;

import static dev.gloom.jdk.TinyClass.Code.ALOAD_0;
import static dev.gloom.jdk.TinyClass.Code.ALOAD_1;
import static dev.gloom.jdk.TinyClass.Code.ALOAD_2;
import static dev.gloom.jdk.TinyClass.Code.ASTORE_2;
import static dev.gloom.jdk.TinyClass.Code.INVOKESTATIC;
import static dev.gloom.jdk.TinyClass.Code.INVOKEVIRTUAL;
import static dev.gloom.jdk.TinyClass.Code.RETURN;
import static dev.gloom.jdk.TinyClass.FINAL;
import static dev.gloom.jdk.TinyClass.PRIVATE;
import static dev.gloom.jdk.TinyClass.STATIC;
import static java.lang.invoke.MethodType.methodType;

import dev.gloom.jdk.TinyClass.Code;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Field;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;

/// The scheduler that the JDK gives to virtual threads for which none is named, and the way to put
/// another in its place.
///
/// It is a static final field, which only the JDK's own Unsafe can write, and only java.base can
/// call that: so four instructions are defined into `java.lang`, as a private method of a private
/// class. Code that the JIT compiled before the change keeps the old scheduler as a constant; an
/// agent that comes late has that code thrown away ({@link Unlock#forgetCompiledStarts}).
public final class DefaultScheduler {
  private static final String NAME = "java.lang.GloomStaticField";
  private static final Class<?> VTHREAD = Door.type("java.lang.VirtualThread");
  private static final MethodHandle GET =
      Door.getter(methodType(ForkJoinPool.class), VTHREAD, "DEFAULT_SCHEDULER");
  private static final MethodHandle PUT =
      Door.method(
          methodType(void.class, Field.class, Object.class),
          Door.define(NAME, classFile()),
          "put",
          Field.class,
          Object.class);

  private DefaultScheduler() {}

  /// Throws {@link IllegalStateException} if this JDK keeps its scheduler elsewhere.
  public static void require() {
    Door.require();
  }

  /// The one that is there now.
  public static ForkJoinPool get() {
    try {
      return (ForkJoinPool) GET.invokeExact();
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// Puts another one in its place.
  public static void replace(ForkJoinPool other) {
    try {
      PUT.invokeExact(VTHREAD.getDeclaredField("DEFAULT_SCHEDULER"), (Object) other);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// The one that a virtual thread gets which the calling platform thread makes.
  public static Executor ofNewThread() {
    Thread neverStarted = Thread.ofVirtual().unstarted(Thread.currentThread());
    return Vthread.scheduler(neverStarted);
  }

  /// `put(field, value)`: Unsafe u = …; u.putReferenceVolatile(u.staticFieldBase(field),
  /// u.staticFieldOffset(field), value).
  private static byte[] classFile() {
    var unsafe = "jdk/internal/misc/Unsafe";
    var field = "Ljava/lang/reflect/Field;";
    var object = "Ljava/lang/Object;";
    var type = new TinyClass(FINAL, "java/lang/GloomStaticField", "java/lang/Object");
    type.addMethod(
        PRIVATE | STATIC,
        "put",
        "(" + field + object + ")V",
        6,
        3,
        new Code()
            .op(INVOKESTATIC, type.method(unsafe, "getUnsafe", "()L" + unsafe + ";"))
            .op(ASTORE_2)
            .op(ALOAD_2)
            .op(ALOAD_2)
            .op(ALOAD_0)
            .op(INVOKEVIRTUAL, type.method(unsafe, "staticFieldBase", "(" + field + ")" + object))
            .op(ALOAD_2)
            .op(ALOAD_0)
            .op(INVOKEVIRTUAL, type.method(unsafe, "staticFieldOffset", "(" + field + ")J"))
            .op(ALOAD_1)
            .op(
                INVOKEVIRTUAL,
                type.method(unsafe, "putReferenceVolatile", "(" + object + "J" + object + ")V"))
            .op(RETURN));
    return type.toByteArray();
  }
}
