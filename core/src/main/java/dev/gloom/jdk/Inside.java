package dev.gloom.jdk;

import static dev.gloom.jdk.TinyClass.Code.ARETURN;
import static dev.gloom.jdk.TinyClass.Code.INVOKESTATIC;
import static dev.gloom.jdk.TinyClass.FINAL;
import static dev.gloom.jdk.TinyClass.PRIVATE;
import static dev.gloom.jdk.TinyClass.STATIC;
import static java.lang.invoke.MethodType.methodType;

import dev.gloom.jdk.TinyClass.Code;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;

/// The way from `java.lang`, which is open to gloom, into the other packages of java.base, which
/// are not: a class defined into `java.lang` asks for a lookup of its own, and that one may look
/// into every class of its module. Nothing is opened or exported for it.
///
/// Class and method are private to `java.lang`: the program cannot call them as long as that
/// package is closed to it.
final class Inside {
  private static final String NAME = "java.lang.GloomLookup";
  private static final MethodHandle LOOKUP =
      Door.method(methodType(Lookup.class), Door.define(NAME, classFile()), "lookup");

  private Inside() {}

  /// A lookup that sees all of `type`, a class of java.base.
  static Lookup of(Class<?> type) throws IllegalAccessException {
    try {
      return MethodHandles.privateLookupIn(type, (Lookup) LOOKUP.invokeExact());
    } catch (IllegalAccessException e) {
      throw e;
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// A class of `src/main/nestmates`, to be defined in java.base.
  static byte[] classFile(String name) throws IOException {
    String path = "/META-INF/gloom/" + name.replace('.', '/') + ".class";
    try (InputStream in = Inside.class.getResourceAsStream(path)) {
      if (in == null) {
        throw new IOException("the jar is incomplete: it has no " + path);
      }
      return in.readAllBytes();
    }
  }

  private static byte[] classFile() {
    var lookup = "()Ljava/lang/invoke/MethodHandles$Lookup;";
    var type = new TinyClass(FINAL, "java/lang/GloomLookup", "java/lang/Object");
    type.addMethod(
        PRIVATE | STATIC,
        "lookup",
        lookup,
        1,
        0,
        new Code()
            .op(INVOKESTATIC, type.method("java/lang/invoke/MethodHandles", "lookup", lookup))
            .op(ARETURN));
    return type.toByteArray();
  }
}
