package dev.gloom;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaModifier.SYNCHRONIZED;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import dev.gloom.jdk.JdkMount;
import dev.gloom.runtime.Offender;
import dev.gloom.runtime.Parker;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.Instruction;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ExceptionCatch;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.LookupSwitchInstruction;
import java.lang.classfile.instruction.MonitorInstruction;
import java.lang.classfile.instruction.NewMultiArrayInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.NewPrimitiveArrayInstruction;
import java.lang.classfile.instruction.NewReferenceArrayInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.classfile.instruction.TableSwitchInstruction;
import java.lang.classfile.instruction.ThrowInstruction;
import java.lang.constant.ClassDesc;
import java.lang.invoke.MethodHandles;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What is deliberately absent. Every rule is also run on a class that breaks it, {@link Offender}.
@Timeout(60)
class ArchitectureTest {
  private static final Path MAIN = placeOf(Gloom.class);

  /// What is defined into the nests of the JDK's classes when gloom starts: not gloom's packages.
  private static final Path NESTMATES = MAIN.resolve("META-INF/gloom");

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(location -> !location.contains("/META-INF/gloom/"))
          .importPath(MAIN);
  private static final JavaClasses OFFENDER = new ClassFileImporter().importClasses(Offender.class);

  private static final String RUNTIME = "dev.gloom.runtime..";
  private static final String JDK = "dev.gloom.jdk..";
  private static final String AGENT = "dev.gloom.agent..";

  private static void holdsAndCanFail(ArchRule rule) {
    rule.check(CLASSES);
    assertThrows(AssertionError.class, () -> rule.check(OFFENDER), "cannot fail");
  }

  // Direction: api -> runtime -> jdk.

  @Test
  void runtimeKnowsNothingOfThoseThatUseIt() {
    holdsAndCanFail(
        noClasses()
            .that()
            .resideInAPackage(RUNTIME)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.gloom", "dev.gloom.agent..", "dev.gloom.observe.."));
  }

  @Test
  void doorToTheJdkKnowsNothingElseOfGloom(@TempDir Path directory) throws Exception {
    ArchRule rule =
        noClasses()
            .that()
            .resideInAPackage(JDK)
            .should()
            .dependOnClassesThat(
                resideInAnyPackage("dev.gloom..")
                    .and(DescribedPredicate.not(resideInAnyPackage(JDK))));
    rule.check(CLASSES);
    failsOn(rule, "dev.gloom.jdk.Offender", "dev.gloom.runtime.Sched", directory);
  }

  /// Checks `rule` on a class made here, which javac would not make, or not there.
  private static void failsOn(ArchRule rule, String name, String uses, Path directory)
      throws IOException {
    byte[] offender =
        ClassFile.of()
            .build(ClassDesc.of(name), type -> type.withField("used", ClassDesc.of(uses), 0));
    Files.write(directory.resolve("Offender.class"), offender);
    JavaClasses offending = new ClassFileImporter().importPath(directory);
    assertThrows(AssertionError.class, () -> rule.check(offending), "cannot fail");
  }

  @Test
  void nobodyKnowsTheAgent(@TempDir Path directory) throws Exception {
    ArchRule rule =
        noClasses()
            .that()
            .resideOutsideOfPackage(AGENT)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(AGENT);
    rule.check(CLASSES);
    failsOn(rule, "dev.gloom.Offender", "dev.gloom.agent.Agent", directory);
  }

  /// The program uses the API, or does not; the agent's business is the scheduler.
  @Test
  void theAgentKnowsNothingOfTheApi(@TempDir Path directory) throws Exception {
    ArchRule rule =
        noClasses()
            .that()
            .resideInAPackage(AGENT)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.gloom");
    rule.check(CLASSES);
    failsOn(rule, "dev.gloom.agent.Offender", "dev.gloom.Gloom", directory);
  }

  /// An older JVM must be able to load the first class of the agent, to be told what is wrong.
  @Test
  void theAgentsEntryIsForAnyJava() throws Exception {
    int javaEight = 52;
    assertEquals(
        javaEight,
        ClassFile.of().parse(MAIN.resolve("dev/gloom/agent/Entry.class")).majorVersion());
  }

  @Test
  void everyPackageIsOneThatTheDesignNames() {
    var packages = new HashSet<String>();
    CLASSES.forEach(c -> packages.add(c.getPackageName()));
    packages.remove(""); // module-info
    packages.removeAll(
        List.of(
            "dev.gloom",
            "dev.gloom.runtime",
            "dev.gloom.jdk",
            "dev.gloom.trace",
            "dev.gloom.observe",
            "dev.gloom.agent"));
    assertEquals(new HashSet<>(), packages);
  }

  @Test
  void onlyTheMountAndTheSocketsCallsAreDefinedIntoJavaBase() throws IOException {
    try (Stream<Path> files = Files.walk(NESTMATES)) {
      assertEquals(
          Set.of(
              "java/lang/VirtualThread$Lean.class",
              "jdk/internal/vm/Continuation$Lean.class",
              "sun/nio/ch/GloomDispatchers.class",
              "sun/nio/ch/GloomDispatchers$OfChannels.class",
              "sun/nio/ch/GloomDispatchers$OfConnections.class",
              "sun/nio/ch/GloomDispatchers$OfDatagrams.class",
              "sun/nio/ch/GloomDispatchers$OfSockets.class"),
          files
              .filter(Files::isRegularFile)
              .map(file -> NESTMATES.relativize(file).toString())
              .collect(toSet()));
    }
  }

  // One door.

  @Test
  void onlyTheDoorReflects() {
    holdsAndCanFail(
        noClasses()
            .that()
            .resideOutsideOfPackage(JDK)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("java.lang.reflect.."));
  }

  @Test
  void onlyTheDoorLooksUpClassesByName() {
    holdsAndCanFail(
        noClasses()
            .that()
            .resideOutsideOfPackage(JDK)
            .should()
            .callMethod(Class.class, "forName", String.class)
            .orShould()
            .callMethod(Class.class, "forName", String.class, boolean.class, ClassLoader.class)
            .orShould()
            .callMethod(Class.class, "forName", Module.class, String.class));
  }

  @Test
  void onlyTheDoorLooksIntoOthersPrivateParts() {
    holdsAndCanFail(
        noClasses()
            .that()
            .resideOutsideOfPackage(JDK)
            .should()
            .callMethod(
                MethodHandles.class, "privateLookupIn", Class.class, MethodHandles.Lookup.class));
  }

  @Test
  void nobodyUsesJdkInternalsByName(@TempDir Path directory) throws Exception {
    ArchRule rule =
        noClasses().should().dependOnClassesThat().resideInAnyPackage("sun..", "jdk.internal..");
    rule.check(CLASSES);
    failsOn(rule, "dev.gloom.runtime.Offender", "sun.misc.Unsafe", directory);
  }

  // The ready path never blocks.

  @Test
  void schedulerHasNoSynchronizedMethod() {
    holdsAndCanFail(
        noMethods()
            .that()
            .areDeclaredInClassesThat()
            .resideInAnyPackage(RUNTIME, JDK)
            .should()
            .haveModifier(SYNCHRONIZED));
  }

  @Test
  void schedulerHasNoSynchronizedBlock() throws Exception {
    assertEquals(List.of(), inScheduler(ArchitectureTest::monitors));
    assertEquals(1, monitors(parse(Offender.class)).size(), "cannot fail");
  }

  private static List<String> monitors(ClassModel type) {
    return where(type, i -> i instanceof MonitorInstruction m && m.opcode() == Opcode.MONITORENTER);
  }

  // With a goroutine mounted, LockSupport would park the goroutine and eat its permit. A Waiter and
  // Resize mean to: they wait on their caller's behalf.
  @Test
  void onlyTheSeamsParkAThread() {
    holdsAndCanFail(
        noClasses()
            .that()
            .resideInAnyPackage(RUNTIME, JDK)
            .and(
                DescribedPredicate.not(
                    belongToAnyOf(
                        Parker.class,
                        JdkMount.class,
                        hidden("Starter"),
                        hidden("Resize"),
                        hidden("Waiter"))))
            .should()
            .callMethodWhere(parks()));
  }

  private static DescribedPredicate<JavaAccess<?>> parks() {
    return DescribedPredicate.describe(
        "LockSupport.park*",
        access -> {
          AccessTarget target = access.getTarget();
          return target.getOwner().isEquivalentTo(LockSupport.class)
              && target.getName().startsWith("park");
        });
  }

  private static Class<?> hidden(String name) {
    try {
      return Class.forName("dev.gloom.runtime." + name, false, Gloom.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new AssertionError(e);
    }
  }

  // SpinLock's rule: with no call inside there is nothing that can throw, and the lock is always
  // released. A call is allowed only in a try whose handler releases it.
  @Test
  void noCallWhileASpinLockIsHeldExceptWhereAHandlerReleasesIt() throws Exception {
    assertEquals(List.of(), inScheduler(ArchitectureTest::callsInsideSpinLock));
    assertEquals(
        List.of(
            "dev.gloom.runtime.Offender.insideSpinLock: INVOKESTATIC System.nanoTime",
            "dev.gloom.runtime.Offender.insideSpinLock: LRETURN",
            "dev.gloom.runtime.Offender.insideTryOfTheWrongSort: INVOKESTATIC System.nanoTime",
            "dev.gloom.runtime.Offender.insideTryOfTheWrongSort: INVOKEVIRTUAL SpinLock.release",
            "dev.gloom.runtime.Offender.insideTryOfTheWrongSort: LRETURN"),
        callsInsideSpinLock(parse(Offender.class)),
        "cannot fail");
  }

  // A program's output is its own. The flush is Panic's, before the program ends.
  @Test
  void schedulerDoesNotPrintToStandardOutput() throws Exception {
    assertEquals(List.of(), inScheduler(ArchitectureTest::prints));
    assertEquals(1, prints(parse(Offender.class)).size(), "cannot fail");
  }

  private static List<String> prints(ClassModel type) {
    var found = new ArrayList<String>();
    for (MethodModel method : type.methods()) {
      List<Instruction> code = instructions(method);
      for (int i = 0; i < code.size(); i++) {
        if (code.get(i) instanceof FieldInstruction f
            && f.owner().asInternalName().equals("java/lang/System")
            && f.name().equalsString("out")
            && !(code.get(i + 1) instanceof InvokeInstruction call
                && call.name().equalsString("flush"))) {
          found.add(name(type, method) + ": System.out");
        }
      }
    }
    return found;
  }

  // Scanning class files.

  private interface Scan {
    List<String> in(ClassModel type);
  }

  private interface Found {
    boolean is(Instruction instruction);
  }

  /// Everything that `scan` finds in the scheduler's packages.
  private static List<String> inScheduler(Scan scan) throws IOException {
    var found = new ArrayList<String>();
    int scanned = 0;
    for (JavaClass type : CLASSES) {
      if (type.getPackageName().matches("dev\\.gloom\\.(runtime|jdk)")) {
        Path file = MAIN.resolve(type.getName().replace('.', '/') + ".class");
        found.addAll(scan.in(ClassFile.of().parse(file)));
        scanned++;
      }
    }
    assertTrue(scanned > 20, "scanned only " + scanned);
    return found;
  }

  private static List<String> where(ClassModel type, Found what) {
    var found = new ArrayList<String>();
    for (MethodModel method : type.methods()) {
      for (Instruction i : instructions(method)) {
        if (what.is(i)) {
          found.add(name(type, method) + ": " + i.opcode());
        }
      }
    }
    return found;
  }

  private static List<Instruction> instructions(MethodModel method) {
    var all = new ArrayList<Instruction>();
    method
        .code()
        .ifPresent(
            code -> {
              for (CodeElement e : code) {
                if (e instanceof Instruction i) {
                  all.add(i);
                }
              }
            });
    return all;
  }

  /// The lock itself; the heap, whose callers all have stack to spare (its header); and select,
  /// which holds several, in a chain that loops without calls let go.
  private static final Set<String> OWN_RULE =
      Set.of(
          "dev/gloom/runtime/SpinLock",
          "dev/gloom/runtime/TimerHeap",
          "dev/gloom/runtime/Selector");

  /// Idle's helpers, which only an M near the bottom of its own stack calls.
  private static final Set<String> ON_SHALLOW_STACK = Set.of("push", "unlink", "takeIdleP");

  /// Follows every path from `acquire` to `held = 0`.
  private static List<String> callsInsideSpinLock(ClassModel type) {
    var found = new ArrayList<String>();
    for (MethodModel method : type.methods()) {
      CodeModel code = method.code().orElse(null);
      if (code == null || OWN_RULE.contains(type.thisClass().name().stringValue())) {
        continue;
      }
      List<CodeElement> elements = code.elementList();
      var places = new HashMap<Label, Integer>();
      for (int i = 0; i < elements.size(); i++) {
        if (elements.get(i) instanceof LabelTarget target) {
          places.put(target.label(), i);
        }
      }
      var open = new ArrayDeque<Integer>();
      for (int i = 0; i < elements.size(); i++) {
        if (isOfSpinLock(elements.get(i), "acquire")) {
          open.add(i + 1);
        }
      }
      var seen = new HashSet<Integer>();
      while (!open.isEmpty()) {
        int i = open.poll();
        if (!seen.add(i) || isOfSpinLock(elements.get(i), "held")) {
          continue;
        }
        CodeElement e = elements.get(i);
        if (isOfSpinLock(e, "release") && isGuarded(code, places, i)) {
          continue;
        }
        if (isForbidden(e) && !(e instanceof InvokeInstruction && isGuarded(code, places, i))) {
          found.add(name(type, method) + ": " + text((Instruction) e));
        }
        switch (e) {
          case BranchInstruction b -> {
            open.add(places.get(b.target()));
            if (b.opcode() != Opcode.GOTO && b.opcode() != Opcode.GOTO_W) {
              open.add(i + 1);
            }
          }
          case TableSwitchInstruction s -> {
            open.add(places.get(s.defaultTarget()));
            s.cases().forEach(c -> open.add(places.get(c.target())));
          }
          case LookupSwitchInstruction s -> {
            open.add(places.get(s.defaultTarget()));
            s.cases().forEach(c -> open.add(places.get(c.target())));
          }
          case ReturnInstruction _ -> {}
          case ThrowInstruction _ -> {}
          default -> open.add(i + 1);
        }
      }
    }
    return found;
  }

  /// Whether what the instruction at `i` throws leads to `held = 0`, with nothing before it that
  /// could throw again.
  private static boolean isGuarded(CodeModel code, Map<Label, Integer> places, int i) {
    List<CodeElement> elements = code.elementList();
    for (ExceptionCatch handler : code.exceptionHandlers()) {
      boolean any =
          handler.catchType().isEmpty()
              || handler.catchType().get().asInternalName().equals("java/lang/Throwable");
      if (any && places.get(handler.tryStart()) <= i && i < places.get(handler.tryEnd())) {
        int at = places.get(handler.handler());
        while (!isOfSpinLock(elements.get(at), "held") && !isForbidden(elements.get(at))) {
          at++;
        }
        return isOfSpinLock(elements.get(at), "held");
      }
    }
    return false;
  }

  private static boolean isOfSpinLock(CodeElement e, String member) {
    return switch (e) {
      case InvokeInstruction call ->
          isSpinLock(call.owner().asInternalName()) && call.name().equalsString(member);
      case FieldInstruction field ->
          field.opcode() == Opcode.PUTFIELD
              && isSpinLock(field.owner().asInternalName())
              && field.name().equalsString(member);
      default -> false;
    };
  }

  /// A channel is its own lock.
  private static boolean isSpinLock(String type) {
    return type.endsWith("/SpinLock") || type.endsWith("/Channel");
  }

  private static boolean isForbidden(CodeElement e) {
    return switch (e) {
      // Idle says why this one is an exception.
      case InvokeInstruction call -> !ON_SHALLOW_STACK.contains(call.name().stringValue());
      case InvokeDynamicInstruction _,
          NewObjectInstruction _,
          NewPrimitiveArrayInstruction _,
          NewReferenceArrayInstruction _,
          NewMultiArrayInstruction _,
          ReturnInstruction _,
          ThrowInstruction _ ->
          true;
      default -> false;
    };
  }

  private static String text(Instruction i) {
    if (i instanceof InvokeInstruction call) {
      String owner = call.owner().asInternalName();
      return i.opcode()
          + " "
          + owner.substring(owner.lastIndexOf('/') + 1)
          + "."
          + call.name().stringValue();
    }
    return i.opcode().toString();
  }

  private static String name(ClassModel type, MethodModel method) {
    return type.thisClass().asInternalName().replace('/', '.')
        + "."
        + method.methodName().stringValue();
  }

  private static ClassModel parse(Class<?> type) throws IOException {
    return ClassFile.of().parse(placeOf(type).resolve(type.getName().replace('.', '/') + ".class"));
  }

  private static Path placeOf(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void classesAreThere() {
    assertFalse(CLASSES.isEmpty());
    assertTrue(CLASSES.contain("dev.gloom.runtime.Sched"));
    assertFalse(CLASSES.contain(Offender.class), "tests are not looked at");
  }
}
