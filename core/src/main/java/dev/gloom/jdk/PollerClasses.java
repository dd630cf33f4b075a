package dev.gloom.jdk;

import static dev.gloom.jdk.TinyClass.Code.ALOAD_0;
import static dev.gloom.jdk.TinyClass.Code.ALOAD_1;
import static dev.gloom.jdk.TinyClass.Code.ALOAD_2;
import static dev.gloom.jdk.TinyClass.Code.ALOAD_3;
import static dev.gloom.jdk.TinyClass.Code.ARETURN;
import static dev.gloom.jdk.TinyClass.Code.ASTORE_2;
import static dev.gloom.jdk.TinyClass.Code.CHECKCAST;
import static dev.gloom.jdk.TinyClass.Code.DUP;
import static dev.gloom.jdk.TinyClass.Code.GETFIELD;
import static dev.gloom.jdk.TinyClass.Code.GETSTATIC;
import static dev.gloom.jdk.TinyClass.Code.ICONST_0;
import static dev.gloom.jdk.TinyClass.Code.ICONST_1;
import static dev.gloom.jdk.TinyClass.Code.ICONST_2;
import static dev.gloom.jdk.TinyClass.Code.ICONST_3;
import static dev.gloom.jdk.TinyClass.Code.ILOAD_1;
import static dev.gloom.jdk.TinyClass.Code.ILOAD_2;
import static dev.gloom.jdk.TinyClass.Code.INVOKESPECIAL;
import static dev.gloom.jdk.TinyClass.Code.INVOKESTATIC;
import static dev.gloom.jdk.TinyClass.Code.INVOKEVIRTUAL;
import static dev.gloom.jdk.TinyClass.Code.IRETURN;
import static dev.gloom.jdk.TinyClass.Code.LDC_W;
import static dev.gloom.jdk.TinyClass.Code.NEW;
import static dev.gloom.jdk.TinyClass.Code.POP;
import static dev.gloom.jdk.TinyClass.Code.PUTFIELD;
import static dev.gloom.jdk.TinyClass.Code.RETURN;
import static dev.gloom.jdk.TinyClass.FINAL;
import static dev.gloom.jdk.TinyClass.STATIC;
import static java.lang.invoke.MethodType.methodType;

import dev.gloom.jdk.TinyClass.Code;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.reflect.Field;
import java.util.function.IntFunction;

/// The two classes that gloom adds to `sun.nio.ch`, for {@link SocketPollers}. They know nothing of
/// gloom, only an interface of `java.util.function` each: two copies of gloom can share them.
///
/// ```
/// class GloomPoller extends Poller {
///   final IntBinaryOperator hook;
///   GloomPoller(IntBinaryOperator hook, Map map, Field field) { this.hook = hook; this.map = map; }  // by Unsafe: final
///   void implRegister(int fd) { hook.applyAsInt(fd, 2); }
///   void implDeregister(int fd, boolean polled) { hook.applyAsInt(fd, polled); }
///   int poll(int timeout) { return hook.applyAsInt(timeout, 3); }
/// }
///
/// class GloomPollerProvider extends DefaultPollerProvider {
///   final IntFunction make;
///   Poller.Mode defaultPollerMode() { return SYSTEM_THREADS; }
///   Poller readPoller(boolean _) { return (Poller) make.apply(1); }
///   Poller writePoller(boolean _) { return (Poller) make.apply(0); }
///   static Object current() { return provider(); }
///   static Object unstarted() { return unsafe.shouldBeInitialized(Poller.class); }
///   static void install(Field field, IntFunction make) { INSTANCE = new GloomPollerProvider(make); }  // by Unsafe: final
/// }
/// ```
final class PollerClasses {
  private static final String POLLER = "sun/nio/ch/Poller";
  private static final String PROVIDER = "sun/nio/ch/PollerProvider";
  private static final String GLOOM_POLLER = "sun/nio/ch/GloomPoller";
  private static final String GLOOM_PROVIDER = "sun/nio/ch/GloomPollerProvider";
  private static final String UNSAFE = "jdk/internal/misc/Unsafe";
  private static final String FIELD = "Ljava/lang/reflect/Field;";
  private static final String OBJECT = "Ljava/lang/Object;";
  private static final String MAP = "Ljava/util/Map;";
  private static final String HOOK = "java/util/function/IntBinaryOperator";
  private static final String MAKE = "java/util/function/IntFunction";

  final Class<?> poller;
  final MethodHandle current;
  final MethodHandle unstarted;
  final MethodHandle install;

  /// Defines them through a lookup in `sun.nio.ch`, or finds them there.
  PollerClasses(Lookup lookup) throws ReflectiveOperationException {
    poller = define(lookup, GLOOM_POLLER, pollerFile());
    Class<?> provider = define(lookup, GLOOM_PROVIDER, providerFile());
    lookup.ensureInitialized(provider); // handles that need not see to it are there already
    current = lookup.findStatic(provider, "current", methodType(Object.class));
    unstarted = lookup.findStatic(provider, "unstarted", methodType(Object.class));
    install =
        lookup.findStatic(
            provider, "install", methodType(void.class, Field.class, IntFunction.class));
  }

  private static Class<?> define(Lookup lookup, String name, byte[] file)
      throws ReflectiveOperationException {
    try {
      return lookup.defineClass(file);
    } catch (LinkageError e) {
      try {
        return Class.forName(name.replace('/', '.'), true, null);
      } catch (ClassNotFoundException _) {
        throw e;
      }
    }
  }

  private static byte[] pollerFile() {
    var type = new TinyClass(FINAL, GLOOM_POLLER, POLLER);
    type.addField(FINAL, "hook", "L" + HOOK + ";");
    int hook = type.field(GLOOM_POLLER, "hook", "L" + HOOK + ";");
    int apply = type.interfaceMethod(HOOK, "applyAsInt", "(II)I");
    type.addMethod(
        0,
        "<init>",
        "(L" + HOOK + ";" + MAP + FIELD + ")V",
        6,
        4,
        new Code()
            .op(ALOAD_0)
            .op(INVOKESPECIAL, type.method(POLLER, "<init>", "()V"))
            .op(ALOAD_0)
            .op(ALOAD_1)
            .op(PUTFIELD, hook)
            .op(INVOKESTATIC, type.method(UNSAFE, "getUnsafe", "()L" + UNSAFE + ";"))
            .op(ALOAD_0)
            .op(INVOKESTATIC, type.method(UNSAFE, "getUnsafe", "()L" + UNSAFE + ";"))
            .op(ALOAD_3)
            .op(INVOKEVIRTUAL, type.method(UNSAFE, "objectFieldOffset", "(" + FIELD + ")J"))
            .op(ALOAD_2)
            .op(INVOKEVIRTUAL, put(type))
            .op(RETURN));
    type.addMethod(0, "implRegister", "(I)V", 3, 2, ask(hook, apply, ICONST_2).op(POP).op(RETURN));
    type.addMethod(
        0, "implDeregister", "(IZ)V", 3, 3, ask(hook, apply, ILOAD_2).op(POP).op(RETURN));
    type.addMethod(0, "poll", "(I)I", 3, 2, ask(hook, apply, ICONST_3).op(IRETURN));
    return type.toByteArray();
  }

  /// `hook.applyAsInt(first argument, what)`
  private static Code ask(int hook, int apply, int what) {
    return new Code().op(ALOAD_0).op(GETFIELD, hook).op(ILOAD_1).op(what).invokeInterface(apply, 2);
  }

  private static byte[] providerFile() {
    var base = "sun/nio/ch/DefaultPollerProvider";
    var mode = "sun/nio/ch/Poller$Mode";
    var type = new TinyClass(FINAL, GLOOM_PROVIDER, base);
    type.addField(FINAL, "make", "L" + MAKE + ";");
    int make = type.field(GLOOM_PROVIDER, "make", "L" + MAKE + ";");
    type.addMethod(
        0,
        "<init>",
        "(L" + MAKE + ";)V",
        2,
        2,
        new Code()
            .op(ALOAD_0)
            .op(INVOKESPECIAL, type.method(base, "<init>", "()V"))
            .op(ALOAD_0)
            .op(ALOAD_1)
            .op(PUTFIELD, make)
            .op(RETURN));
    type.addMethod(
        0,
        "defaultPollerMode",
        "()L" + mode + ";",
        1,
        1,
        new Code().op(GETSTATIC, type.field(mode, "SYSTEM_THREADS", "L" + mode + ";")).op(ARETURN));
    for (boolean read : new boolean[] {true, false}) {
      type.addMethod(
          0,
          read ? "readPoller" : "writePoller",
          "(Z)L" + POLLER + ";",
          2,
          2,
          new Code()
              .op(ALOAD_0)
              .op(GETFIELD, make)
              .op(read ? ICONST_1 : ICONST_0)
              .invokeInterface(type.interfaceMethod(MAKE, "apply", "(I)" + OBJECT), 1)
              .op(CHECKCAST, type.type(POLLER))
              .op(ARETURN));
    }
    type.addMethod(
        STATIC,
        "current",
        "()" + OBJECT,
        1,
        0,
        new Code()
            .op(INVOKESTATIC, type.method(PROVIDER, "provider", "()L" + PROVIDER + ";"))
            .op(ARETURN));
    int unsafe = type.method(UNSAFE, "getUnsafe", "()L" + UNSAFE + ";");
    type.addMethod(
        STATIC,
        "unstarted",
        "()" + OBJECT,
        2,
        0,
        new Code()
            .op(INVOKESTATIC, unsafe)
            .op(LDC_W, type.type(POLLER))
            .op(INVOKEVIRTUAL, type.method(UNSAFE, "shouldBeInitialized", "(Ljava/lang/Class;)Z"))
            .op(INVOKESTATIC, type.method("java/lang/Boolean", "valueOf", "(Z)Ljava/lang/Boolean;"))
            .op(ARETURN));
    type.addMethod(
        STATIC,
        "install",
        "(" + FIELD + "L" + MAKE + ";)V",
        7,
        3,
        new Code()
            .op(INVOKESTATIC, unsafe)
            .op(ASTORE_2)
            .op(ALOAD_2)
            .op(ALOAD_2)
            .op(ALOAD_0)
            .op(INVOKEVIRTUAL, type.method(UNSAFE, "staticFieldBase", "(" + FIELD + ")" + OBJECT))
            .op(ALOAD_2)
            .op(ALOAD_0)
            .op(INVOKEVIRTUAL, type.method(UNSAFE, "staticFieldOffset", "(" + FIELD + ")J"))
            .op(NEW, type.type(GLOOM_PROVIDER))
            .op(DUP)
            .op(ALOAD_1)
            .op(INVOKESPECIAL, type.method(GLOOM_PROVIDER, "<init>", "(L" + MAKE + ";)V"))
            .op(INVOKEVIRTUAL, put(type))
            .op(RETURN));
    return type.toByteArray();
  }

  private static int put(TinyClass type) {
    return type.method(UNSAFE, "putReferenceVolatile", "(" + OBJECT + "J" + OBJECT + ")V");
  }
}
