package dev.gloom.jdk;

import static dev.gloom.jdk.TinyClass.Code.ALOAD_0;
import static dev.gloom.jdk.TinyClass.Code.ALOAD_1;
import static dev.gloom.jdk.TinyClass.Code.ALOAD_2;
import static dev.gloom.jdk.TinyClass.Code.GETFIELD;
import static dev.gloom.jdk.TinyClass.Code.INVOKESPECIAL;
import static dev.gloom.jdk.TinyClass.Code.INVOKESTATIC;
import static dev.gloom.jdk.TinyClass.Code.PUTFIELD;
import static dev.gloom.jdk.TinyClass.Code.RETURN;
import static dev.gloom.jdk.TinyClass.FINAL;
import static java.lang.invoke.MethodType.methodType;

import dev.gloom.jdk.TinyClass.Code;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.reflect.Field;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// Tells when the JDK closes a socket, before it does: from then on its number may be another's.
///
/// The classes that close sockets do so through an object in a static final field. It is replaced
/// by one that tells. The JIT takes such a field for a constant, and code that was compiled before
/// would go on with the old object; so this is done only if none of these classes has been
/// initialised yet, and done at once after it has been.
public final class SocketCloses {
  private static final String PACKAGE = "sun.nio.ch.";

  /// All that wait in `sun.nio.ch.Poller` and have a descriptor that is closed in Java. (A selector
  /// has one that is not.)
  private static final String[] WITH_SOCKETS = {
    "NioSocketImpl",
    "SocketChannelImpl",
    "ServerSocketChannelImpl",
    "SourceChannelImpl",
    "SinkChannelImpl",
    "DatagramChannelImpl"
  };

  private SocketCloses() {}

  /// Has `closing` called with each descriptor. Answers null, or why that cannot be.
  public static @Nullable String tell(IntConsumer closing) {
    try {
      Class<?> unsafeType = Class.forName("jdk.internal.misc.Unsafe", true, null);
      Lookup in = Inside.of(unsafeType);
      Object unsafe = in.findStatic(unsafeType, "getUnsafe", methodType(unsafeType)).invoke();
      MethodHandle untouched =
          in.findVirtual(unsafeType, "shouldBeInitialized", methodType(boolean.class, Class.class))
              .bindTo(unsafe);
      var types = new Class<?>[WITH_SOCKETS.length];
      for (int i = 0; i < types.length; i++) {
        types[i] = Class.forName(PACKAGE + WITH_SOCKETS[i], false, null);
        if (!(boolean) untouched.invokeExact(types[i])) {
          return "sockets were used before";
        }
      }
      Lookup nio = Inside.of(types[0]);
      Object stream = dispatcher(nio, "SocketDispatcher", closing);
      Object datagram = dispatcher(nio, "DatagramDispatcher", closing);
      for (Class<?> type : types) {
        Object dispatcher = type == types[types.length - 1] ? datagram : stream;
        Field field = type.getDeclaredField("nd");
        Class.forName(type.getName(), true, null);
        put(in, unsafeType, unsafe, field, dispatcher);
      }
      return null;
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return e.toString();
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  private static void put(Lookup in, Class<?> unsafeType, Object unsafe, Field field, Object value)
      throws Throwable {
    Object base =
        in.findVirtual(unsafeType, "staticFieldBase", methodType(Object.class, Field.class))
            .invoke(unsafe, field);
    long offset =
        (long)
            in.findVirtual(unsafeType, "staticFieldOffset", methodType(long.class, Field.class))
                .invoke(unsafe, field);
    in.findVirtual(
            unsafeType,
            "putReferenceVolatile",
            methodType(void.class, Object.class, long.class, Object.class))
        .invoke(unsafe, base, offset, value);
  }

  private static Object dispatcher(Lookup nio, String base, IntConsumer closing) throws Throwable {
    String name = "Gloom" + base;
    Class<?> type;
    byte[] file = classFile(name, base, base.equals("DatagramDispatcher"));
    try {
      type = nio.defineClass(file);
    } catch (LinkageError e) {
      type = Class.forName(PACKAGE + name, true, null);
    }
    return nio.findConstructor(type, methodType(void.class, IntConsumer.class)).invoke(closing);
  }

  /// `close(fd) { closing.accept(IOUtil.fdVal(fd)); super.close(fd); }`, and the same for the
  /// second argument of `dup`, which is closed by it.
  private static byte[] classFile(String name, String base, boolean dups) {
    var self = "sun/nio/ch/" + name;
    var parent = "sun/nio/ch/" + base;
    var consumer = "java/util/function/IntConsumer";
    var fd = "Ljava/io/FileDescriptor;";
    var type = new TinyClass(FINAL, self, parent);
    type.addField(FINAL, "closing", "L" + consumer + ";");
    int closing = type.field(self, "closing", "L" + consumer + ";");
    int accept = type.interfaceMethod(consumer, "accept", "(I)V");
    int fdVal = type.method("sun/nio/ch/IOUtil", "fdVal", "(" + fd + ")I");
    type.addMethod(
        0,
        "<init>",
        "(L" + consumer + ";)V",
        2,
        2,
        new Code()
            .op(ALOAD_0)
            .op(INVOKESPECIAL, type.method(parent, "<init>", "()V"))
            .op(ALOAD_0)
            .op(ALOAD_1)
            .op(PUTFIELD, closing)
            .op(RETURN));
    type.addMethod(
        0,
        "close",
        "(" + fd + ")V",
        2,
        2,
        new Code()
            .op(ALOAD_0)
            .op(GETFIELD, closing)
            .op(ALOAD_1)
            .op(INVOKESTATIC, fdVal)
            .invokeInterface(accept, 1)
            .op(ALOAD_0)
            .op(ALOAD_1)
            .op(INVOKESPECIAL, type.method(parent, "close", "(" + fd + ")V"))
            .op(RETURN));
    if (dups) {
      type.addMethod(
          0,
          "dup",
          "(" + fd + fd + ")V",
          3,
          3,
          new Code()
              .op(ALOAD_0)
              .op(GETFIELD, closing)
              .op(ALOAD_2)
              .op(INVOKESTATIC, fdVal)
              .invokeInterface(accept, 1)
              .op(ALOAD_0)
              .op(ALOAD_1)
              .op(ALOAD_2)
              .op(INVOKESPECIAL, type.method(parent, "dup", "(" + fd + fd + ")V"))
              .op(RETURN));
    }
    return type.toByteArray();
  }
}
