package dev.gloom.jdk;

import static java.lang.classfile.ClassFile.ACC_FINAL;
import static java.lang.classfile.ClassFile.ACC_PUBLIC;
import static java.lang.classfile.ClassFile.ACC_STATIC;
import static java.lang.constant.ConstantDescs.CD_List;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.invoke.MethodType.methodType;

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.util.List;

/// How many virtual threads of this process, on whichever scheduler, wait for a socket.
///
/// `sun.nio.ch.Poller` tells, but only to java.base. So the calls are written here, one instruction
/// each, and defined into `java.lang`, as {@link Container} does.
public final class Pollers {
  private static final String NAME = "java.lang.GloomPollers";
  private static final Class<?> TYPE = Door.define(NAME, classFile());

  private static final MethodHandle READERS = Door.method(methodType(List.class), TYPE, "readers");
  private static final MethodHandle WRITERS = Door.method(methodType(List.class), TYPE, "writers");
  private static final MethodHandle MASTER = Door.method(methodType(Object.class), TYPE, "master");
  private static final MethodHandle REGISTERED =
      Door.method(methodType(int.class, Object.class), TYPE, "registered", Object.class);

  private Pollers() {}

  /// How many wait; a great many if this JDK does not tell. Starts the JDK's pollers if there are
  /// none, so ask only when there are: a thread `MasterPoller` or `Read-Poller` lives.
  public static int registered() {
    try {
      var readers = (List<?>) READERS.invokeExact();
      var writers = (List<?>) WRITERS.invokeExact();
      Object master = (Object) MASTER.invokeExact();
      int n = 0;
      for (Object poller : readers) {
        n += (int) REGISTERED.invokeExact(poller);
      }
      for (Object poller : writers) {
        n += (int) REGISTERED.invokeExact(poller);
      }
      if (master != null) {
        // The others wait there too, each once; the rest are selectors.
        n += Math.max(0, (int) REGISTERED.invokeExact(master) - readers.size() - writers.size());
      }
      return n;
    } catch (LinkageError _) {
      return Integer.MAX_VALUE;
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  private static byte[] classFile() {
    ClassDesc poller = ClassDesc.of("sun.nio.ch.Poller");
    MethodTypeDesc list = MethodTypeDesc.of(CD_List);
    int flags = ACC_PUBLIC | ACC_STATIC;
    return ClassFile.of()
        .build(
            ClassDesc.of(NAME),
            type ->
                type.withFlags(ACC_PUBLIC | ACC_FINAL)
                    .withMethodBody(
                        "readers",
                        list,
                        flags,
                        code -> code.invokestatic(poller, "readPollers", list).areturn())
                    .withMethodBody(
                        "writers",
                        list,
                        flags,
                        code -> code.invokestatic(poller, "writePollers", list).areturn())
                    .withMethodBody(
                        "master",
                        MethodTypeDesc.of(CD_Object),
                        flags,
                        code ->
                            code.invokestatic(poller, "masterPoller", MethodTypeDesc.of(poller))
                                .areturn())
                    .withMethodBody(
                        "registered",
                        MethodTypeDesc.of(CD_int, CD_Object),
                        flags,
                        code ->
                            code.aload(0)
                                .checkcast(poller)
                                .invokevirtual(poller, "registered", MethodTypeDesc.of(CD_int))
                                .ireturn()));
  }
}
