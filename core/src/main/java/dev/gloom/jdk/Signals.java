package dev.gloom.jdk;

import static java.lang.classfile.ClassFile.ACC_FINAL;
import static java.lang.classfile.ClassFile.ACC_PRIVATE;
import static java.lang.classfile.ClassFile.ACC_PUBLIC;
import static java.lang.classfile.ClassFile.ACC_STATIC;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.INIT_NAME;
import static java.lang.constant.ConstantDescs.MTD_void;
import static java.lang.invoke.MethodType.methodType;

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;

/// Signals of the operating system.
///
/// `sun.misc.Signal` is in a module that an application need not have, and a handler for it that is
/// found by name costs 50 ms at each start. What is behind it, `jdk.internal.misc.Signal`, is in
/// java.base: the handler is written here, a dozen instructions, and defined into `java.lang`, as
/// {@link Container} does.
public final class Signals {
  private static final String NAME = "java.lang.GloomSignal";
  private static final MethodHandle HANDLE =
      Door.method(
          methodType(void.class, String.class, Runnable.class),
          Door.define(NAME, classFile()),
          "handle",
          String.class,
          Runnable.class);

  private Signals() {}

  /// Has `action` called, on a thread of the JVM's, each time this process gets the signal `name`,
  /// such as `USR1`. Throws IllegalArgumentException, saying why, if there is no such signal or the
  /// JVM keeps it for itself.
  public static void handle(String name, Runnable action) {
    try {
      HANDLE.invokeExact(name, action);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// ```java
  /// public final class GloomSignal implements Signal.Handler {
  ///   private final Runnable action;
  ///
  ///   public static void handle(String name, Runnable action) {
  ///     Signal.handle(new Signal(name), new GloomSignal(action));
  ///   }
  ///
  ///   public void handle(Signal signal) {
  ///     action.run();
  ///   }
  /// }
  /// ```
  private static byte[] classFile() {
    var self = ClassDesc.of(NAME);
    var signal = ClassDesc.of("jdk.internal.misc.Signal");
    var handler = ClassDesc.of("jdk.internal.misc.Signal$Handler");
    var runnable = ClassDesc.of("java.lang.Runnable");
    var withAction = MethodTypeDesc.of(CD_void, runnable);
    return ClassFile.of()
        .build(
            self,
            type ->
                type.withFlags(ACC_PUBLIC | ACC_FINAL)
                    .withInterfaceSymbols(handler)
                    .withField("action", runnable, ACC_PRIVATE | ACC_FINAL)
                    .withMethodBody(
                        INIT_NAME,
                        withAction,
                        ACC_PRIVATE,
                        code ->
                            code.aload(0)
                                .invokespecial(CD_Object, INIT_NAME, MTD_void)
                                .aload(0)
                                .aload(1)
                                .putfield(self, "action", runnable)
                                .return_())
                    .withMethodBody(
                        "handle",
                        MethodTypeDesc.of(CD_void, CD_String, runnable),
                        ACC_PUBLIC | ACC_STATIC,
                        code ->
                            code.new_(signal)
                                .dup()
                                .aload(0)
                                .invokespecial(
                                    signal, INIT_NAME, MethodTypeDesc.of(CD_void, CD_String))
                                .new_(self)
                                .dup()
                                .aload(1)
                                .invokespecial(self, INIT_NAME, withAction)
                                .invokestatic(
                                    signal, "handle", MethodTypeDesc.of(handler, signal, handler))
                                .pop()
                                .return_())
                    .withMethodBody(
                        "handle",
                        MethodTypeDesc.of(CD_void, signal),
                        ACC_PUBLIC,
                        code ->
                            code.aload(0)
                                .getfield(self, "action", runnable)
                                .invokeinterface(runnable, "run", MTD_void)
                                .return_()));
  }
}
