package dev.gloom.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.Label;
import java.lang.classfile.instruction.ConstantInstruction.LoadConstantInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Which classes get checks, what is said of the others, and when the JVM is asked at all.
@Timeout(60)
class WeavingTest {
  private static final ClassLoader APPLICATION = new ClassLoader(null) {};
  private static final Module UNNAMED = APPLICATION.getUnnamedModule();

  /// What was asked of the JVM.
  private final List<String> asked = new ArrayList<>();

  private final List<ClassFileTransformer> transformers = new ArrayList<>();
  private Throwable refusal;
  private boolean noMemory;
  private Class<?>[] loaded = {};

  /// A JVM that writes down what is asked of it.
  private final Instrumentation jvm =
      (Instrumentation)
          Proxy.newProxyInstance(
              WeavingTest.class.getClassLoader(),
              new Class<?>[] {Instrumentation.class},
              (_, method, args) -> {
                asked.add(method.getName());
                if (method.getName().equals("addTransformer")) {
                  transformers.add((ClassFileTransformer) args[0]);
                }
                switch (method.getName()) {
                  case "getAllLoadedClasses":
                    if (noMemory) {
                      throw new OutOfMemoryError();
                    }
                    return loaded;
                  case "isModifiableClass":
                    return !((Class<?>) args[0]).isHidden();
                  case "retransformClasses":
                    if (refusal != null) {
                      throw refusal;
                    }
                    return null;
                  default:
                    return null;
                }
              });

  private final Weaving weaving = new Weaving(jvm, null);

  private static byte[] loop(String name, int version) {
    return ClassFile.of(ClassFile.StackMapsOption.GENERATE_STACK_MAPS)
        .build(
            ClassDesc.of(name),
            type ->
                type.withVersion(version, 0)
                    .withMethodBody(
                        "run",
                        ConstantDescs.MTD_void,
                        ClassFile.ACC_STATIC,
                        code -> {
                          Label again = code.newLabel();
                          code.labelBinding(again).goto_(again);
                        }));
  }

  private byte[] transform(String name) {
    return transform(UNNAMED, APPLICATION, name, loop(name, 69));
  }

  private byte[] transform(Module module, ClassLoader loader, String name, byte[] bytes) {
    return all(module, loader, name.replace('.', '/'), bytes);
  }

  /// What the JVM makes of a class: one transformer after the other.
  private byte[] all(Module module, ClassLoader loader, String name, byte[] bytes) {
    byte[] last = bytes;
    for (ClassFileTransformer t : transformers) {
      try {
        byte[] next = t.transform(module, loader, name, null, null, last);
        last = next == null ? last : next;
      } catch (java.lang.instrument.IllegalClassFormatException e) {
        throw new AssertionError(e);
      }
    }
    return last == bytes ? null : last;
  }

  private static String errorsOf(Runnable body) {
    PrintStream before = System.err;
    var bytes = new ByteArrayOutputStream();
    System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      body.run();
    } finally {
      System.setErr(before);
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void whatFailedForWantOfMemoryIsTriedAgain() {
    noMemory = true;
    assertThrows(OutOfMemoryError.class, () -> weaving.weave("some.Loop"));
    assertFalse(weaving.wasCaught("some.Loop"));
    noMemory = false;
    assertTrue(weaving.weave("some.Loop"));
    assertTrue(weaving.wasCaught("some.Loop"));
    assertEquals(1, transformers.size());
  }

  @Test
  void nothingIsAskedOfTheJvmBeforeSomebodyIsCaught() {
    weaving.eager(false);
    assertEquals(List.of(), asked);
    assertNull(transform("app.Loop"));
  }

  @Test
  void eagerWeavesWhateverIsLoaded() {
    weaving.eager(true);
    weaving.eager(true);
    assertEquals(List.of("addTransformer"), asked, "once");
    assertNotNull(transform("app.Loop"));
    weaving.eager(false);
    assertNull(transform("app.Loop"));
  }

  @Test
  void whoeverIsCaughtIsWovenOnceAndWheneverItIsLoadedAgain() {
    loaded = new Class<?>[] {String.class, WeavingTest.class};
    assertTrue(weaving.weave(WeavingTest.class.getName()));
    assertFalse(weaving.weave(WeavingTest.class.getName()), "once");
    weaving.weave("app.Loop");
    assertNotNull(transform("app.Loop"), "one that is loaded later, or changed by another agent");
    assertNull(transform("app.Other"));
    assertEquals(1, asked.stream().filter("addTransformer"::equals).count());
  }

  @Test
  void aClassThatIsCaughtInEagerModeHasItsChecksOnce() {
    weaving.eager(true);
    weaving.weave("app.Loop");
    assertEquals(2, transformers.size());
    byte[] bytes = transform("app.Loop");
    assertNull(Weaver.weave(bytes).bytes());
    int checks = 0;
    for (var e : ClassFile.of().parse(bytes).methods().getFirst().code().orElseThrow()) {
      checks += e instanceof LoadConstantInstruction ? 1 : 0;
    }
    assertEquals(2, checks, "one that asks, and one that stops");
  }

  @Test
  void aClassThatIsLoadedIsRetransformed() {
    loaded = new Class<?>[] {String.class, org.junit.jupiter.api.Test.class};
    weaving.weave("org.junit.jupiter.api.Test");
    assertEquals(1, asked.stream().filter("retransformClasses"::equals).count());
    weaving.weave("java.lang.String");
    assertEquals(1, asked.stream().filter("retransformClasses"::equals).count(), "not the JDK's");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "dev.gloom.Gloom",
        "dev.gloom.runtime.Sched",
        "dev.gloom.jdk.Vthread",
        "dev.gloom.agent.Weaver",
        "dev.gloom.observe.Jmx"
      })
  void gloomsOwnClassesHaveNone(String name) {
    weaving.eager(true);
    assertNull(transform(name));
  }

  @Test
  void whatIsOnlyBelowGloomInNameHasThem() {
    weaving.eager(true);
    assertNotNull(transform("dev.gloom.dropin.Loop"));
    assertNotNull(transform("dev.gloomy.Loop"));
  }

  @Test
  void theJdksClassesHaveNone() {
    weaving.eager(true);
    byte[] bytes = loop("a.Loop", 69);
    assertNull(transform(Object.class.getModule(), null, "java.util.Loop", bytes), "boot loader");
    assertNull(
        transform(UNNAMED, ClassLoader.getPlatformClassLoader(), "a.Loop", bytes),
        "platform loader");
    Module inAppLoader = ModuleLayer.boot().findModule("jdk.compiler").orElseThrow();
    assertNull(
        transform(inAppLoader, ClassLoader.getSystemClassLoader(), "a.Loop", bytes),
        "a tool of the JDK in the application's loader");
  }

  @Test
  void theOptionsLeavePackagesOut() {
    var some =
        new Weaving(jvm, Packages.of(Options.parse("include=app:lib,exclude=app.generated")));
    some.eager(true);
    assertNotNull(
        some.transform(UNNAMED, APPLICATION, "app/Loop", null, null, loop("app.Loop", 69)));
    assertNull(
        some.transform(
            UNNAMED,
            APPLICATION,
            "app/generated/Loop",
            null,
            null,
            loop("app.generated.Loop", 69)));
    assertNull(some.transform(UNNAMED, APPLICATION, "x/Loop", null, null, loop("x.Loop", 69)));
    assertFalse(some.mayHaveChecks(new StackTraceElement("x.Loop", "run", null, 1)));
    assertTrue(some.mayHaveChecks(new StackTraceElement("lib.Loop", "run", null, 1)));
  }

  @Test
  void aClassThatIsDefinedWithoutANameHasThem() {
    weaving.eager(true);
    byte[] bytes = loop("app.Loop", 69);
    assertNotNull(all(UNNAMED, APPLICATION, null, bytes));
    assertNull(
        weaving.transform(UNNAMED, APPLICATION, null, null, null, loop("dev.gloom.runtime.X", 69)));
  }

  @ParameterizedTest
  @CsvSource({
    "java.lang.String, java.base, false",
    "java.sql.Driver, java.sql, false",
    "app.Loop, , true",
    "app.Loop, app, true",
    "app.Loop$$Lambda/0x0123, , false",
    "dev.gloom.runtime.Sched, , false"
  })
  void framesOfTheApplicationCount(String name, String module, boolean counts) {
    var frame = new StackTraceElement("app", module, "1", name, "run", null, 1);
    assertEquals(counts, weaving.mayHaveChecks(frame));
  }

  // What is said.

  @Test
  void aClassThatCannotBeReadIsSaidOnce() {
    weaving.eager(true);
    byte[] broken = loop("app.Broken", 69);
    broken[10] = 99; // the tag of the first constant
    String said =
        errorsOf(
            () -> {
              for (int i = 0; i < 3; i++) {
                assertNull(transform(UNNAMED, APPLICATION, "app.Broken", broken));
              }
            });
    assertEquals(1, said.lines().count(), said);
    assertTrue(said.startsWith("gloom: no preemption checks in app.Broken: "), said);
    assertEquals("", errorsOf(() -> assertNotNull(transform("app.Loop"))), "others are");
  }

  @Test
  void anOldClassIsLeftAloneWithoutAWord() {
    weaving.eager(true);
    weaving.weave("app.Old");
    byte[] old = loop("app.Old", 50);
    assertEquals("", errorsOf(() -> assertNull(transform(UNNAMED, APPLICATION, "app.Old", old))));
  }

  @Test
  void aMethodThatIsTooLargeIsSaidOnlyIfItsClassHogs() {
    weaving.eager(true);
    byte[] large = large("app.Large");
    assertEquals(
        "", errorsOf(() -> assertNull(transform(UNNAMED, APPLICATION, "app.Large", large))));
    weaving.weave("app.Large");
    assertEquals(
        "gloom: no preemption checks in app.Large: run: it would be too large for the JIT\n",
        errorsOf(() -> assertNull(transform(UNNAMED, APPLICATION, "app.Large", large))));
  }

  private static byte[] large(String name) {
    return ClassFile.of()
        .build(
            ClassDesc.of(name),
            type ->
                type.withMethodBody(
                    "run",
                    ConstantDescs.MTD_void,
                    ClassFile.ACC_STATIC,
                    code -> {
                      Label again = code.newLabel();
                      code.labelBinding(again);
                      for (int i = 0; i < 7_995; i++) {
                        code.nop();
                      }
                      code.goto_(again);
                    }));
  }

  @Test
  void aClassThatTheJvmOrAnotherAgentHoldsOnToIsLeftAsItIs() {
    loaded = new Class<?>[] {org.junit.jupiter.api.Test.class, Timeout.class, Proxy.class};
    refusal = new UnmodifiableClassException("no");
    assertEquals(
        "gloom: no preemption checks in org.junit.jupiter.api.Test:"
            + " java.lang.instrument.UnmodifiableClassException: no\n",
        errorsOf(() -> weaving.weave("org.junit.jupiter.api.Test")));
    refusal = new VerifyError("another agent's");
    assertEquals(
        "gloom: no preemption checks in org.junit.jupiter.api.Timeout:"
            + " java.lang.VerifyError: another agent's\n",
        errorsOf(() -> weaving.weave("org.junit.jupiter.api.Timeout")));
  }
}
