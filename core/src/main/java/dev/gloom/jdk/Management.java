package dev.gloom.jdk;

import static dev.gloom.jdk.TinyClass.Code.ALOAD_0;
import static dev.gloom.jdk.TinyClass.Code.INVOKESTATIC;
import static dev.gloom.jdk.TinyClass.Code.INVOKEVIRTUAL;
import static dev.gloom.jdk.TinyClass.FINAL;
import static dev.gloom.jdk.TinyClass.PRIVATE;
import static dev.gloom.jdk.TinyClass.STATIC;
import static java.lang.invoke.MethodType.methodType;

import dev.gloom.jdk.TinyClass.Code;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/// Whether the program uses `java.management`, found out without using it: its first class is
/// loaded here, which costs next to nothing, but not initialised.
public final class Management {
  private static final @Nullable Class<?> FACTORY = factory();
  private static final MethodHandle UNUSED =
      Door.method(
          methodType(boolean.class, Class.class),
          Door.define("java.lang.GloomInitialised", classFile()),
          "not",
          Class.class);

  private Management() {}

  /// Whether somebody has begun to.
  public static boolean isUsed() {
    try {
      return FACTORY != null && !(boolean) UNUSED.invokeExact(FACTORY);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  private static @Nullable Class<?> factory() {
    try {
      return Class.forName("java.lang.management.ManagementFactory", false, null);
    } catch (ClassNotFoundException _) {
      return null; // an image without it
    }
  }

  private static byte[] classFile() {
    var unsafe = "jdk/internal/misc/Unsafe";
    var type = new TinyClass(FINAL, "java/lang/GloomInitialised", "java/lang/Object");
    type.addMethod(
        PRIVATE | STATIC,
        "not",
        "(Ljava/lang/Class;)Z",
        2,
        1,
        new Code()
            .op(INVOKESTATIC, type.method(unsafe, "getUnsafe", "()L" + unsafe + ";"))
            .op(ALOAD_0)
            .op(INVOKEVIRTUAL, type.method(unsafe, "shouldBeInitialized", "(Ljava/lang/Class;)Z"))
            .op(Code.IRETURN));
    return type.toByteArray();
  }
}
