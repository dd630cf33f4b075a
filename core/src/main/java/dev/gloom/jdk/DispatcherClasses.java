package dev.gloom.jdk;

import static dev.gloom.jdk.TinyClass.Code.ALOAD_0;
import static dev.gloom.jdk.TinyClass.Code.ALOAD_1;
import static dev.gloom.jdk.TinyClass.Code.ALOAD_2;
import static dev.gloom.jdk.TinyClass.Code.ARETURN;
import static dev.gloom.jdk.TinyClass.Code.ASTORE_2;
import static dev.gloom.jdk.TinyClass.Code.BIPUSH;
import static dev.gloom.jdk.TinyClass.Code.DUP;
import static dev.gloom.jdk.TinyClass.Code.GETFIELD;
import static dev.gloom.jdk.TinyClass.Code.I2L;
import static dev.gloom.jdk.TinyClass.Code.IFNE;
import static dev.gloom.jdk.TinyClass.Code.ILOAD;
import static dev.gloom.jdk.TinyClass.Code.INVOKESPECIAL;
import static dev.gloom.jdk.TinyClass.Code.INVOKESTATIC;
import static dev.gloom.jdk.TinyClass.Code.INVOKEVIRTUAL;
import static dev.gloom.jdk.TinyClass.Code.IRETURN;
import static dev.gloom.jdk.TinyClass.Code.ISTORE;
import static dev.gloom.jdk.TinyClass.Code.L2I;
import static dev.gloom.jdk.TinyClass.Code.LLOAD_2;
import static dev.gloom.jdk.TinyClass.Code.LOR;
import static dev.gloom.jdk.TinyClass.Code.LSHL;
import static dev.gloom.jdk.TinyClass.Code.NEW;
import static dev.gloom.jdk.TinyClass.Code.POP2;
import static dev.gloom.jdk.TinyClass.Code.PUTFIELD;
import static dev.gloom.jdk.TinyClass.Code.RETURN;
import static dev.gloom.jdk.TinyClass.FINAL;
import static dev.gloom.jdk.TinyClass.STATIC;
import static java.lang.invoke.MethodType.methodType;

import dev.gloom.jdk.TinyClass.Code;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.reflect.Field;
import java.util.function.LongBinaryOperator;

/// The classes that gloom adds to `sun.nio.ch` for {@link SocketDispatchers}. As those of {@link
/// PollerClasses} they know nothing of gloom.
///
/// ```
/// class GloomSocketDispatcher extends SocketDispatcher {
///   final LongBinaryOperator hook;
///   void close(FileDescriptor fd) { hook.applyAsLong(fdVal(fd), CLOSES); super.close(fd); }
///   int read(FileDescriptor fd, long address, int room) {
///     int number = fdVal(fd);
///     if (hook.applyAsLong(number, READS) == 0) return UNAVAILABLE;
///     int count = super.read(fd, address, room);
///     hook.applyAsLong(number, (long) count << 32 | room);
///     return count;
///   }
///   static void install(Field field, LongBinaryOperator hook) { nd = new …(hook); }  // by Unsafe: final
///   static Object untouched(Class type) { return unsafe.shouldBeInitialized(type); }
/// }
/// ```
///
/// The one for channels has no `read`; that for datagrams neither, but a `dup`, which closes its
/// second argument.
final class DispatcherClasses {
  static final int CLOSES = -1;
  static final int READS = -2;

  private static final String PACKAGE = "sun/nio/ch/";
  private static final String UNSAFE = "jdk/internal/misc/Unsafe";
  private static final String HOOK = "java/util/function/LongBinaryOperator";
  private static final String FD = "Ljava/io/FileDescriptor;";
  private static final String FIELD = "Ljava/lang/reflect/Field;";
  private static final String OBJECT = "Ljava/lang/Object;";
  private static final int COUNT_SHIFT = 32;

  /// `(Class)Object`: whether the class has not been initialised.
  final MethodHandle untouched;

  // (Field, LongBinaryOperator)void: puts one into the field.
  final MethodHandle ofSockets;
  final MethodHandle ofChannels;
  final MethodHandle ofDatagrams;

  /// Defines them through a lookup in `sun.nio.ch`, or finds them there.
  DispatcherClasses(Lookup lookup) throws ReflectiveOperationException {
    var socket = new OneClass("GloomSocketDispatcher", "SocketDispatcher");
    socket.addRead();
    var channel = new OneClass("GloomChannelDispatcher", "SocketDispatcher");
    var datagram = new OneClass("GloomDatagramDispatcher", "DatagramDispatcher");
    datagram.addDup();
    Class<?> defined = socket.define(lookup);
    untouched = lookup.findStatic(defined, "untouched", methodType(Object.class, Class.class));
    ofSockets = install(lookup, defined);
    ofChannels = install(lookup, channel.define(lookup));
    ofDatagrams = install(lookup, datagram.define(lookup));
  }

  private static MethodHandle install(Lookup lookup, Class<?> type)
      throws ReflectiveOperationException {
    return lookup.findStatic(
        type, "install", methodType(void.class, Field.class, LongBinaryOperator.class));
  }

  /// The file of one of them, with all that they have in common.
  private static final class OneClass {
    private final String self;
    private final String base;
    private final TinyClass type;
    private final int hook;
    private final int apply;
    private final int number;

    OneClass(String name, String baseName) {
      this.self = PACKAGE + name;
      this.base = PACKAGE + baseName;
      this.type = new TinyClass(FINAL, self, base);
      type.addField(FINAL, "hook", "L" + HOOK + ";");
      this.hook = type.field(self, "hook", "L" + HOOK + ";");
      this.apply = type.interfaceMethod(HOOK, "applyAsLong", "(JJ)J");
      this.number = type.method(PACKAGE + "IOUtil", "fdVal", "(" + FD + ")I");
      addConstructor();
      addInstall();
      addUntouched();
      type.addMethod(
          0,
          "close",
          "(" + FD + ")V",
          5,
          2,
          closes(ALOAD_1)
              .op(ALOAD_0)
              .op(ALOAD_1)
              .op(INVOKESPECIAL, type.method(base, "close", "(" + FD + ")V"))
              .op(RETURN));
    }

    Class<?> define(Lookup lookup) throws ReflectiveOperationException {
      Class<?> defined;
      try {
        defined = lookup.defineClass(type.toByteArray());
      } catch (LinkageError e) {
        defined = Class.forName(self.replace('/', '.'), true, null);
      }
      return lookup.ensureInitialized(defined); // handles that need not see to it are there already
    }

    /// `hook.applyAsLong(fdVal(the argument), CLOSES)`
    private Code closes(int argument) {
      return new Code()
          .op(ALOAD_0)
          .op(GETFIELD, hook)
          .op(argument)
          .op(INVOKESTATIC, number)
          .op(I2L)
          .op(BIPUSH)
          .op(CLOSES)
          .op(I2L)
          .invokeInterface(apply, 4)
          .op(POP2);
    }

    private void addConstructor() {
      type.addMethod(
          0,
          "<init>",
          "(L" + HOOK + ";)V",
          2,
          2,
          new Code()
              .op(ALOAD_0)
              .op(INVOKESPECIAL, type.method(base, "<init>", "()V"))
              .op(ALOAD_0)
              .op(ALOAD_1)
              .op(PUTFIELD, hook)
              .op(RETURN));
    }

    private void addInstall() {
      type.addMethod(
          STATIC,
          "install",
          "(" + FIELD + "L" + HOOK + ";)V",
          7,
          3,
          new Code()
              .op(INVOKESTATIC, unsafe())
              .op(ASTORE_2)
              .op(ALOAD_2)
              .op(ALOAD_2)
              .op(ALOAD_0)
              .op(INVOKEVIRTUAL, type.method(UNSAFE, "staticFieldBase", "(" + FIELD + ")" + OBJECT))
              .op(ALOAD_2)
              .op(ALOAD_0)
              .op(INVOKEVIRTUAL, type.method(UNSAFE, "staticFieldOffset", "(" + FIELD + ")J"))
              .op(NEW, type.type(self))
              .op(DUP)
              .op(ALOAD_1)
              .op(INVOKESPECIAL, type.method(self, "<init>", "(L" + HOOK + ";)V"))
              .op(
                  INVOKEVIRTUAL,
                  type.method(UNSAFE, "putReferenceVolatile", "(" + OBJECT + "J" + OBJECT + ")V"))
              .op(RETURN));
    }

    private void addUntouched() {
      var bool = "java/lang/Boolean";
      type.addMethod(
          STATIC,
          "untouched",
          "(Ljava/lang/Class;)" + OBJECT,
          2,
          1,
          new Code()
              .op(INVOKESTATIC, unsafe())
              .op(ALOAD_0)
              .op(INVOKEVIRTUAL, type.method(UNSAFE, "shouldBeInitialized", "(Ljava/lang/Class;)Z"))
              .op(INVOKESTATIC, type.method(bool, "valueOf", "(Z)L" + bool + ";"))
              .op(ARETURN));
    }

    private int unsafe() {
      return type.method(UNSAFE, "getUnsafe", "()L" + UNSAFE + ";");
    }

    void addDup() {
      type.addMethod(
          0,
          "dup",
          "(" + FD + FD + ")V",
          5,
          3,
          closes(ALOAD_2)
              .op(ALOAD_0)
              .op(ALOAD_1)
              .op(ALOAD_2)
              .op(INVOKESPECIAL, type.method(base, "dup", "(" + FD + FD + ")V"))
              .op(RETURN));
    }

    void addRead() {
      int room = 4;
      int fd = 5;
      int count = 6;
      var code =
          new Code()
              .op(ALOAD_1)
              .op(INVOKESTATIC, number)
              .local(ISTORE, fd)
              .op(ALOAD_0)
              .op(GETFIELD, hook)
              .local(ILOAD, fd)
              .op(I2L)
              .op(BIPUSH)
              .op(READS)
              .op(I2L)
              .invokeInterface(apply, 4)
              .op(L2I)
              .op(IFNE, 6) // past the next two
              .op(BIPUSH)
              .op(SocketCalls.UNAVAILABLE)
              .op(IRETURN);
      int tries = code.size();
      code.op(ALOAD_0)
          .op(ALOAD_1)
          .op(LLOAD_2)
          .local(ILOAD, room)
          .op(INVOKESPECIAL, type.method(base, "read", "(" + FD + "JI)I"))
          .local(ISTORE, count)
          .op(ALOAD_0)
          .op(GETFIELD, hook)
          .local(ILOAD, fd)
          .op(I2L)
          .local(ILOAD, count)
          .op(I2L)
          .op(BIPUSH)
          .op(COUNT_SHIFT)
          .op(LSHL)
          .local(ILOAD, room)
          .op(I2L)
          .op(LOR)
          .invokeInterface(apply, 4)
          .op(POP2)
          .local(ILOAD, count)
          .op(IRETURN);
      type.addMethod(0, "read", "(" + FD + "JI)I", 7, 7, code.oneMoreInt(tries));
    }
  }
}
