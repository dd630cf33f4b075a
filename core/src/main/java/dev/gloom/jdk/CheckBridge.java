package dev.gloom.jdk;

import static dev.gloom.jdk.TinyClass.Code.ALOAD_0;
import static dev.gloom.jdk.TinyClass.Code.ALOAD_2;
import static dev.gloom.jdk.TinyClass.Code.ARETURN;
import static dev.gloom.jdk.TinyClass.Code.GETSTATIC;
import static dev.gloom.jdk.TinyClass.FINAL;
import static dev.gloom.jdk.TinyClass.PRIVATE;
import static dev.gloom.jdk.TinyClass.PUBLIC;
import static dev.gloom.jdk.TinyClass.STATIC;
import static java.lang.invoke.MethodType.methodType;

import dev.gloom.jdk.TinyClass.Code;
import java.lang.invoke.MethodHandle;
import java.util.function.BinaryOperator;

/// The way from any class of the application to gloom, whatever its class loader can see.
///
/// A preemption check in an application class is a constant or a call site whose bootstrap method
/// must be found by that class. Every class loader finds what is in `java.lang`; few find gloom. So
/// a class of one public method is defined there:
///
/// ```java
/// public static Object check(Lookup caller, String name, Object kind) {
///   return linker.apply(caller, kind);
/// }
/// ```
///
/// It serves constants (`kind` is a Class) and `invokedynamic` (a MethodType). What it answers is a
/// handle that does nothing, or yields, so whoever calls it by hand gains nothing. The linker is a
/// private field that gloom sets once, before the first class refers to it.
public final class CheckBridge {
  /// As class files write it.
  public static final String NAME = "java/lang/GloomCheck";

  /// The name and descriptor of its bootstrap method.
  public static final String METHOD = "check";

  /// See {@link #METHOD}.
  public static final String DESCRIPTOR =
      "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/Object;)"
          + "Ljava/lang/Object;";

  private static final String OPERATOR = "java/util/function/BinaryOperator";
  private static final MethodHandle SET_LINKER =
      Door.setter(
          methodType(void.class, BinaryOperator.class),
          Door.define("java.lang.GloomCheck", classFile()),
          "linker");

  private CheckBridge() {}

  /// From now on checks are linked by `linker`, which gets the caller's Lookup and the kind. Throws
  /// {@link IllegalStateException} if the bridge could not be built.
  public static void open(BinaryOperator<Object> linker) {
    Door.require();
    try {
      SET_LINKER.invokeExact(linker);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  private static byte[] classFile() {
    var type = new TinyClass(PUBLIC | FINAL, NAME, "java/lang/Object");
    type.addField(PRIVATE | STATIC, "linker", "L" + OPERATOR + ";");
    type.addMethod(
        PUBLIC | STATIC,
        METHOD,
        DESCRIPTOR,
        3,
        3,
        new Code()
            .op(GETSTATIC, type.field(NAME, "linker", "L" + OPERATOR + ";"))
            .op(ALOAD_0)
            .op(ALOAD_2)
            .invokeInterface(
                type.interfaceMethod(
                    "java/util/function/BiFunction",
                    "apply",
                    "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"),
                2)
            .op(ARETURN));
    return type.toByteArray();
  }
}
