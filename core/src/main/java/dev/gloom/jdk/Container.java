package dev.gloom.jdk;

import static java.lang.classfile.ClassFile.ACC_FINAL;
import static java.lang.classfile.ClassFile.ACC_PRIVATE;
import static java.lang.classfile.ClassFile.ACC_PUBLIC;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.INIT_NAME;
import static java.lang.invoke.MethodType.methodType;

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
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
  private static final Class<?> BASE = Door.type("jdk.internal.vm.ThreadContainer");
  private static final MethodHandle NEW =
      Door.constructor(
          methodType(Object.class, String.class, Supplier.class),
          Door.define(NAME, classFile()),
          String.class,
          Supplier.class);
  private static final MethodHandle START =
      Door.method(methodType(void.class, Thread.class, Object.class), Thread.class, "start", BASE);

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

  private static byte[] classFile() {
    var self = ClassDesc.of(NAME);
    var base = ClassDesc.of("jdk.internal.vm.ThreadContainer");
    var registry = ClassDesc.of("jdk.internal.vm.ThreadContainers");
    var supplier = ClassDesc.of("java.util.function.Supplier");
    var stream = ClassDesc.of("java.util.stream.Stream");
    return ClassFile.of()
        .build(
            self,
            type ->
                type.withFlags(ACC_PUBLIC | ACC_FINAL)
                    .withSuperclass(base)
                    .withField("name", CD_String, ACC_PRIVATE | ACC_FINAL)
                    .withField("threads", supplier, ACC_PRIVATE | ACC_FINAL)
                    .withMethodBody(
                        INIT_NAME,
                        MethodTypeDesc.of(CD_void, CD_String, supplier),
                        ACC_PUBLIC,
                        code ->
                            code.aload(0)
                                .iconst_1() // shared: no thread owns it
                                .invokespecial(
                                    base, INIT_NAME, MethodTypeDesc.of(CD_void, CD_boolean))
                                .aload(0)
                                .aload(1)
                                .putfield(self, "name", CD_String)
                                .aload(0)
                                .aload(2)
                                .putfield(self, "threads", supplier)
                                .aload(0)
                                .invokestatic(
                                    registry,
                                    "registerContainer",
                                    MethodTypeDesc.of(CD_Object, base))
                                .pop()
                                .return_())
                    .withMethodBody(
                        "name",
                        MethodTypeDesc.of(CD_String),
                        ACC_PUBLIC,
                        code -> code.aload(0).getfield(self, "name", CD_String).areturn())
                    .withMethodBody(
                        "toString",
                        MethodTypeDesc.of(CD_String),
                        ACC_PUBLIC,
                        code -> code.aload(0).getfield(self, "name", CD_String).areturn())
                    .withMethodBody(
                        "threads",
                        MethodTypeDesc.of(stream),
                        ACC_PUBLIC,
                        code ->
                            code.aload(0)
                                .getfield(self, "threads", supplier)
                                .invokeinterface(supplier, "get", MethodTypeDesc.of(CD_Object))
                                .checkcast(stream)
                                .areturn()));
  }
}
