package dev.gloom.jdk;

import static java.lang.classfile.ClassFile.ACC_FINAL;
import static java.lang.classfile.ClassFile.ACC_PUBLIC;
import static java.lang.classfile.ClassFile.ACC_STATIC;
import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.invoke.MethodType.methodType;

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;

/// What this JVM was told at its start.
///
/// The public way to know, RuntimeMXBean, costs a start-up 20 ms. The method behind it is in a
/// package that only java.base can see, so a class of one method is defined into `java.lang`, as
/// {@link Container} does; nothing has to be opened or exported for it.
public final class Vm {
  private static final String NAME = "java.lang.GloomVm";
  private static final MethodHandle ARGUMENTS =
      Door.method(methodType(String[].class), Door.define(NAME, classFile()), "arguments");

  private Vm() {}

  static void init() {}

  /// The JVM's options, wherever they came from: command line, argument file, environment.
  public static String[] arguments() {
    try {
      var arguments = (String[]) ARGUMENTS.invokeExact();
      return arguments == null ? new String[0] : arguments; // null if there are none at all
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  private static byte[] classFile() {
    var vm = ClassDesc.of("jdk.internal.misc.VM");
    var answer = MethodTypeDesc.of(CD_String.arrayType());
    return ClassFile.of()
        .build(
            ClassDesc.of(NAME),
            type ->
                type.withFlags(ACC_PUBLIC | ACC_FINAL)
                    .withMethodBody(
                        "arguments",
                        answer,
                        ACC_PUBLIC | ACC_STATIC,
                        code -> code.invokestatic(vm, "getRuntimeArguments", answer).areturn()));
  }
}
