package dev.gloom.jdk;

import static dev.gloom.jdk.TinyClass.Code.ALOAD_0;
import static dev.gloom.jdk.TinyClass.Code.ALOAD_1;
import static dev.gloom.jdk.TinyClass.Code.ALOAD_2;
import static dev.gloom.jdk.TinyClass.Code.ARETURN;
import static dev.gloom.jdk.TinyClass.Code.CHECKCAST;
import static dev.gloom.jdk.TinyClass.Code.GETFIELD;
import static dev.gloom.jdk.TinyClass.Code.ICONST_1;
import static dev.gloom.jdk.TinyClass.Code.INVOKESPECIAL;
import static dev.gloom.jdk.TinyClass.Code.INVOKESTATIC;
import static dev.gloom.jdk.TinyClass.Code.POP;
import static dev.gloom.jdk.TinyClass.Code.PUTFIELD;
import static dev.gloom.jdk.TinyClass.Code.RETURN;
import static dev.gloom.jdk.TinyClass.FINAL;
import static dev.gloom.jdk.TinyClass.PRIVATE;
import static dev.gloom.jdk.TinyClass.PUBLIC;
import static java.lang.invoke.MethodType.methodType;

import dev.gloom.jdk.TinyClass.Code;
import java.lang.invoke.MethodHandle;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Starts goroutines in a thread container of gloom's own.
///
/// The JDK keeps every virtual thread that is started with `Thread.start()` in one process-wide
/// concurrent set, so that `jcmd Thread.dump_to_file` finds it. gloom has a registry anyway, and
/// paying for both cost 60-100 ns and 50 bytes a goroutine. The container keeps nothing: asked for
/// its threads, it asks the registry, so thread dumps still show every goroutine.
///
/// A container must extend `jdk.internal.vm.ThreadContainer`, which only java.base can see. So the
/// class is written here, a dozen instructions, and defined into `java.lang`, the one package that
/// gloom asks to have opened. It refers to nothing of gloom's: two copies of gloom can share it.
public final class Container {
  private static final String NAME = "java.lang.GloomThreadContainer";
  static final Class<?> BASE = Door.type("jdk.internal.vm.ThreadContainer");
  private static final MethodHandle NEW =
      Door.constructor(
          methodType(Object.class, String.class, Supplier.class),
          Door.define(NAME, classFile()),
          String.class,
          Supplier.class);
  private static final MethodHandle START =
      Door.method(methodType(void.class, Thread.class, Object.class), Thread.class, "start", BASE);

  private static final MethodHandle OF =
      Door.getter(methodType(Object.class, Thread.class), Thread.class, "container");

  private final Object container;

  /// A container that reports `threads` to thread dumps under the given name. The JDK holds it
  /// weakly: it lasts as long as this object does.
  public Container(String name, Supplier<Stream<Thread>> threads) {
    try {
      container = (Object) NEW.invokeExact(name, threads);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  static void init() {}

  /// Starts `vthread` in this container: its scheduler gets its task before this returns.
  public void start(Thread vthread) {
    try {
      START.invokeExact(vthread, container);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// The JDK's side of it.
  Object jdks() {
    return container;
  }

  /// Whether `vthread` was started in this container; if not, another one has it in its list.
  public boolean holds(Thread vthread) {
    try {
      return (Object) OF.invokeExact(vthread) == container;
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  private static byte[] classFile() {
    var self = "java/lang/GloomThreadContainer";
    var base = "jdk/internal/vm/ThreadContainer";
    var string = "Ljava/lang/String;";
    var supplier = "Ljava/util/function/Supplier;";
    var stream = "java/util/stream/Stream";
    var type = new TinyClass(PUBLIC | FINAL, self, base);
    type.addField(PRIVATE | FINAL, "name", string);
    type.addField(PRIVATE | FINAL, "threads", supplier);
    int name = type.field(self, "name", string);
    int threads = type.field(self, "threads", supplier);
    type.addMethod(
        PUBLIC,
        "<init>",
        "(" + string + supplier + ")V",
        2,
        3,
        new Code()
            .op(ALOAD_0)
            .op(ICONST_1) // shared: no thread owns it
            .op(INVOKESPECIAL, type.method(base, "<init>", "(Z)V"))
            .op(ALOAD_0)
            .op(ALOAD_1)
            .op(PUTFIELD, name)
            .op(ALOAD_0)
            .op(ALOAD_2)
            .op(PUTFIELD, threads)
            .op(ALOAD_0)
            .op(
                INVOKESTATIC,
                type.method(
                    "jdk/internal/vm/ThreadContainers",
                    "registerContainer",
                    "(L" + base + ";)Ljava/lang/Object;"))
            .op(POP)
            .op(RETURN));
    for (String method : new String[] {"name", "toString"}) {
      type.addMethod(
          PUBLIC,
          method,
          "()" + string,
          1,
          1,
          new Code().op(ALOAD_0).op(GETFIELD, name).op(ARETURN));
    }
    type.addMethod(
        PUBLIC,
        "threads",
        "()L" + stream + ";",
        1,
        1,
        new Code()
            .op(ALOAD_0)
            .op(GETFIELD, threads)
            .invokeInterface(
                type.interfaceMethod("java/util/function/Supplier", "get", "()Ljava/lang/Object;"),
                0)
            .op(CHECKCAST, type.type(stream))
            .op(ARETURN));
    return type.toByteArray();
  }
}
