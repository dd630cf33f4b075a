package dev.gloom.jdk;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.MTD_void;
import static java.lang.invoke.MethodType.methodType;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.lang.invoke.MethodHandle;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Calls of the JDK that may hold their thread, made to say so. Under the agent only, which can
/// change the JDK's classes.
///
/// The JDK brackets some of its blocking calls with `Blocker.begin` and `end` (names, direct and
/// synchronous file channels, locks, process streams), for its own carriers. On ours that does
/// nothing; here `Blocker` is told of us. Opening files, and reading and writing them through
/// streams, has no brackets: each call of such a native method gets a pair of its own. What has
/// none and blocks all the same is noticed by the monitor, only later.
///
/// It is done by a thread of its own after the start, which would otherwise wait for it: nothing is
/// wrong before. What the classes become is made ready beforehand, and then each is changed in an
/// instant: see {@link Retransformation}.
public final class Announcements {
  private static final String BRIDGE = "java.lang.GloomCalls";
  private static final ClassDesc BRIDGE_TYPE = ClassDesc.of(BRIDGE);
  private static final MethodTypeDesc BEGIN = MethodTypeDesc.of(CD_boolean);
  private static final MethodTypeDesc END = MethodTypeDesc.of(CD_void, CD_boolean);

  private static final String BLOCKER = "jdk/internal/misc/Blocker";

  /// The native methods whose calls get brackets, by class. Only those that wait for a device or
  /// for somebody else: a `stat` is not worth it.
  private static final Map<String, Set<String>> NATIVES =
      Map.of(
          "java/io/FileInputStream",
          Set.of("open0", "read0", "readBytes"),
          "java/io/FileOutputStream",
          Set.of("open0", "write", "writeBytes"),
          "java/io/RandomAccessFile",
          Set.of("open0", "read0", "readBytes0", "write0", "writeBytes0"),
          "sun/nio/ch/UnixFileDispatcherImpl",
          Set.of("read0", "pread0", "readv0", "write0", "pwrite0", "writev0"),
          "sun/nio/fs/UnixNativeDispatcher",
          Set.of("open0", "openat0"),
          "java/lang/ProcessImpl",
          Set.of("forkAndExec"));

  /// While there is no memory to change a class, it is tried again, so often.
  private static final int TRIES = 1200;

  private Announcements() {}

  /// From now on those calls ask `begin` before and, if it said yes, call `end` after. Answers the
  /// classes of the JDK that are as gloom knows them, and have been changed. While there is no
  /// memory for it, `pause` is called again and again.
  public static List<String> install(
      Instrumentation instrumentation, BooleanSupplier begin, Runnable end, Runnable pause) {
    Class<?> bridge = Door.define(BRIDGE, bridge());
    try {
      MethodHandle set =
          Door.method(
              methodType(void.class, Object.class, Object.class),
              bridge,
              "set",
              Object.class,
              Object.class);
      set.invokeExact((Object) begin, (Object) end);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
    var brackets = new Brackets();
    for (Class<?> type : types()) {
      awaitRoom(pause);
      brackets.prepare(type);
      change(instrumentation, brackets, type, pause);
    }
    return List.copyOf(brackets.changed);
  }

  private static void awaitRoom(Runnable pause) {
    for (int i = 0; i < TRIES && !Retransformation.hasRoom(); i++) {
      pause.run();
    }
  }

  /// A transformer that stays is asked at every load of a class, and the JVM does not survive that
  /// at all times when the heap is full. So it goes again; if another agent transforms these
  /// classes later, the brackets go too, and the monitor notices.
  private static void change(
      Instrumentation instrumentation, Brackets brackets, Class<?> type, Runnable pause) {
    instrumentation.addTransformer(brackets, true);
    try {
      for (int i = 0; i < TRIES && !Retransformation.of(instrumentation, type); i++) {
        instrumentation.removeTransformer(brackets);
        awaitRoom(pause);
        instrumentation.addTransformer(brackets, true);
      }
    } catch (UnmodifiableClassException e) {
      throw new IllegalStateException("gloom: the JDK's file calls cannot be changed: " + e, e);
    } finally {
      instrumentation.removeTransformer(brackets);
    }
  }

  private static Class<?>[] types() {
    var types = new ArrayList<Class<?>>();
    types.add(Door.type(BLOCKER.replace('/', '.')));
    for (String name : NATIVES.keySet()) {
      types.add(Door.type(name.replace('/', '.')));
    }
    return types.toArray(Class<?>[]::new);
  }

  private static final class Brackets implements ClassFileTransformer {
    final List<String> changed = new ArrayList<>();

    private byte[] before = {};
    private byte @Nullable [] after;

    /// Makes ready what `type` becomes, if nobody else has changed it.
    void prepare(Class<?> type) {
      before = new byte[0];
      after = null;
      try (InputStream in = type.getResourceAsStream(type.getSimpleName() + ".class")) {
        if (in != null) {
          before = in.readAllBytes();
          after = changed(type.getName().replace('.', '/'), before);
        }
      } catch (IOException | RuntimeException | LinkageError _) {
        before = new byte[0]; // it is tried once more, on what the JVM has
      }
    }

    @Override
    public byte @Nullable [] transform(
        @Nullable ClassLoader loader,
        String name,
        @Nullable Class<?> type,
        @Nullable ProtectionDomain domain,
        byte[] classFile) {
      if (loader != null || type == null) {
        return null;
      }
      try {
        byte[] result = Arrays.equals(before, classFile) ? after : changed(name, classFile);
        if (result != null) {
          changed.add(name);
        }
        return result;
      } catch (RuntimeException | LinkageError e) {
        return null; // another JDK: then the monitor has to notice
      }
    }
  }

  private static byte @Nullable [] changed(String name, byte[] classFile) {
    return name.equals(BLOCKER)
        ? blocker(classFile)
        : NATIVES.containsKey(name) ? bracketed(name, classFile) : null;
  }

  /// `begin` asks us first; `end` tells us, if the carrier is ours: then `begin` said yes.
  private static byte[] blocker(byte[] classFile) {
    CodeTransform begin =
        prefix(
            code -> {
              Label theirs = code.newLabel();
              code.invokestatic(BRIDGE_TYPE, "begin", BEGIN)
                  .ifeq(theirs)
                  .loadConstant(1)
                  .ireturn()
                  .labelBinding(theirs);
            });
    CodeTransform end =
        prefix(
            code -> {
              Label theirs = code.newLabel();
              code.iload(0)
                  .invokestatic(BRIDGE_TYPE, "ended", MethodTypeDesc.of(CD_boolean, CD_boolean))
                  .ifeq(theirs)
                  .return_()
                  .labelBinding(theirs);
            });
    ClassModel model = ClassFile.of().parse(classFile);
    return ClassFile.of()
        .transformClass(
            model,
            (type, element) -> {
              if (element instanceof MethodModel m && is(m, "begin", BEGIN)) {
                type.transformMethod(m, MethodTransform.transformingCode(begin));
              } else if (element instanceof MethodModel m && is(m, "end", END)) {
                type.transformMethod(m, MethodTransform.transformingCode(end));
              } else {
                type.with(element);
              }
            });
  }

  private static boolean is(MethodModel method, String name, MethodTypeDesc type) {
    return method.methodName().equalsString(name) && method.methodTypeSymbol().equals(type);
  }

  private static CodeTransform prefix(java.util.function.Consumer<CodeBuilder> prefix) {
    return new CodeTransform() {
      @Override
      public void atStart(CodeBuilder code) {
        prefix.accept(code);
      }

      @Override
      public void accept(CodeBuilder code, CodeElement element) {
        code.with(element);
      }
    };
  }

  private static byte[] bracketed(String name, byte[] classFile) {
    Set<String> natives = NATIVES.getOrDefault(name, Set.of());
    ClassModel model = ClassFile.of().parse(classFile);
    CodeTransform brackets =
        (code, element) -> {
          if (element instanceof InvokeInstruction call
              && call.owner().asInternalName().equals(name)
              && natives.contains(call.name().stringValue())
              && isNative(model, call)) {
            bracket(code, call);
          } else {
            code.with(element);
          }
        };
    return ClassFile.of().transformClass(model, ClassTransform.transformingMethodBodies(brackets));
  }

  private static boolean isNative(ClassModel model, InvokeInstruction call) {
    return model.methods().stream()
        .anyMatch(
            m ->
                m.flags().has(java.lang.reflect.AccessFlag.NATIVE)
                    && m.methodName().equalsString(call.name().stringValue())
                    && m.methodTypeSymbol().equals(call.typeSymbol()));
  }

  /// The arguments are on the stack already, and stay there.
  private static void bracket(CodeBuilder code, InvokeInstruction call) {
    int begun = code.allocateLocal(TypeKind.INT);
    int thrown = code.allocateLocal(TypeKind.REFERENCE);
    code.invokestatic(BRIDGE_TYPE, "begin", BEGIN).istore(begun);
    code.trying(
        body -> body.with(call),
        handlers ->
            handlers.catchingAll(
                handler ->
                    handler
                        .astore(thrown)
                        .iload(begun)
                        .invokestatic(BRIDGE_TYPE, "end", END)
                        .aload(thrown)
                        .athrow()));
    code.iload(begun).invokestatic(BRIDGE_TYPE, "end", END);
  }

  /// What the JDK's classes call, in a package that all of them see. It knows two functions that
  /// are set once, and does nothing before.
  private static byte[] bridge() {
    ClassDesc supplier = ClassDesc.of("java.util.function.BooleanSupplier");
    ClassDesc runnable = ClassDesc.of("java.lang.Runnable");
    int field = ClassFile.ACC_PRIVATE | ClassFile.ACC_STATIC;
    int open = ClassFile.ACC_PUBLIC | ClassFile.ACC_STATIC;
    return ClassFile.of()
        .build(
            BRIDGE_TYPE,
            type ->
                type.withFlags(ClassFile.ACC_PUBLIC | ClassFile.ACC_FINAL)
                    .withField("begin", supplier, field)
                    .withField("end", runnable, field)
                    .withMethodBody(
                        "set",
                        MethodTypeDesc.of(CD_void, CD_Object, CD_Object),
                        ClassFile.ACC_STATIC,
                        code ->
                            code.aload(1)
                                .checkcast(runnable)
                                .putstatic(BRIDGE_TYPE, "end", runnable)
                                .aload(0)
                                .checkcast(supplier)
                                .putstatic(BRIDGE_TYPE, "begin", supplier)
                                .return_())
                    .withMethodBody(
                        "begin",
                        BEGIN,
                        open,
                        code ->
                            code.getstatic(BRIDGE_TYPE, "begin", supplier)
                                .invokeinterface(
                                    supplier, "getAsBoolean", MethodTypeDesc.of(CD_boolean))
                                .ireturn())
                    .withMethodBody(
                        "end",
                        END,
                        open,
                        code -> {
                          Label nothing = code.newLabel();
                          code.iload(0)
                              .ifeq(nothing)
                              .getstatic(BRIDGE_TYPE, "end", runnable)
                              .invokeinterface(runnable, "run", MTD_void)
                              .labelBinding(nothing)
                              .return_();
                        })
                    .withMethodBody(
                        "ended",
                        MethodTypeDesc.of(CD_boolean, CD_boolean),
                        open,
                        code -> {
                          Label theirs = code.newLabel();
                          code.iload(0)
                              .ifeq(theirs)
                              .invokestatic(
                                  ClassDesc.of("java.lang.Thread"),
                                  "currentCarrierThread",
                                  MethodTypeDesc.of(ClassDesc.of("java.lang.Thread")))
                              .instanceOf(ClassDesc.of("jdk.internal.misc.CarrierThread"))
                              .ifne(theirs)
                              .getstatic(BRIDGE_TYPE, "end", runnable)
                              .invokeinterface(runnable, "run", MTD_void)
                              .loadConstant(1)
                              .ireturn()
                              .labelBinding(theirs)
                              .loadConstant(0)
                              .ireturn();
                        }));
  }
}
