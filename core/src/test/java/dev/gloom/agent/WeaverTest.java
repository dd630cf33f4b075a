package dev.gloom.agent;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.INIT_NAME;
import static java.lang.constant.ConstantDescs.MTD_void;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.jdk.CheckBridge;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.Instruction;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.LookupSwitchInstruction;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.classfile.instruction.TableSwitchInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.DynamicConstantDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Where the weaver puts checks, that what it leaves is what was there, and that the JVM's verifier
/// takes it. Woven classes are defined in a class loader that sees nothing of gloom, and run.
@Timeout(120)
class WeaverTest {
  private static final ClassDesc TYPE = ClassDesc.of("woven.Woven");
  private static final MethodTypeDesc INT_TO_LONG = MethodTypeDesc.of(CD_long, CD_int);
  private static final int STATIC = ClassFile.ACC_PUBLIC | ClassFile.ACC_STATIC;

  /// How often a check was passed: the tests' own linker counts instead of doing nothing.
  private static int passed;

  /// How often a loop asked first.
  private static int polled;

  /// What it is told.
  private static boolean raised = true;

  private static boolean pass(boolean stop) {
    if (stop) {
      passed++;
    } else {
      polled++;
    }
    return raised;
  }

  @BeforeAll
  static void countChecks() throws Exception {
    MethodHandle pass =
        MethodHandles.lookup()
            .findStatic(
                WeaverTest.class, "pass", MethodType.methodType(boolean.class, boolean.class));
    CheckBridge.open(
        (_, kind) ->
            kind instanceof MethodType ? new java.lang.invoke.ConstantCallSite(pass) : pass);
  }

  // Making classes.

  private static byte[] type(int version, Consumer<ClassBuilder> members) {
    return ClassFile.of().build(TYPE, b -> members.accept(b.withVersion(version, 0)));
  }

  private static byte[] method(int version, Consumer<CodeBuilder> body) {
    return type(version, b -> b.withMethodBody("run", INT_TO_LONG, STATIC, body::accept));
  }

  /// The sum of 1 to n, by a loop whose condition is at its end.
  private static void sum(CodeBuilder code) {
    Label again = code.newLabel();
    code.lconst_0().lstore(1);
    code.labelBinding(again);
    code.lload(1).iload(0).i2l().ladd().lstore(1);
    code.iinc(0, -1).iload(0).ifgt(again);
    code.lload(1).lreturn();
  }

  private static byte[] woven(byte[] original) {
    Weaver.Woven woven = Weaver.weave(original);
    assertEquals(List.of(), woven.leftAlone());
    byte[] bytes = woven.bytes();
    assertNotNull(bytes, "no check");
    verify(bytes);
    return bytes;
  }

  private static void verify(byte[] bytes) {
    List<VerifyError> errors = ClassFile.of().verify(bytes);
    assertTrue(errors.isEmpty(), errors::toString);
  }

  private static final class Loader extends ClassLoader {
    Loader() {
      super(null); // sees the JDK, and nothing of gloom
    }

    Class<?> define(byte[] bytes) {
      return defineClass(null, bytes, 0, bytes.length);
    }
  }

  private static long run(byte[] bytes, int argument) throws Exception {
    passed = 0;
    polled = 0;
    return (long) new Loader().define(bytes).getMethod("run", int.class).invoke(null, argument);
  }

  /// How many checks the methods of this name have.
  private static int checks(byte[] bytes, String method) {
    int n = 0;
    for (MethodModel m : ClassFile.of().parse(bytes).methods()) {
      if (m.methodName().equalsString(method)) {
        boolean asked = false;
        for (CodeElement e : m.code().orElseThrow()) {
          if (asked && e instanceof ConstantInstruction c && c.opcode() == Opcode.ICONST_1) {
            n++; // the other one only asks
          }
          asked = isCheck(e);
        }
      }
    }
    return n;
  }

  private static boolean isCheck(CodeElement e) {
    return e instanceof InvokeDynamicInstruction i
            && i.bootstrapMethod().owner().descriptorString().contains("GloomCheck")
        || e instanceof ConstantInstruction c
            && c.constantValue() instanceof DynamicConstantDesc<?> d
            && d.bootstrapMethod().owner().descriptorString().contains("GloomCheck");
  }

  // Where.

  @ParameterizedTest
  @ValueSource(ints = {51, 52, 53, 54, 55, 61, 65, 69})
  void aLoopPassesACheckEachTimeRound(int version) throws Exception {
    byte[] bytes = woven(method(version, WeaverTest::sum));
    assertEquals(5050, run(bytes, 100));
    assertEquals(100, passed);
    assertEquals(version, ClassFile.of().parse(bytes).majorVersion());
  }

  @Test
  void aConstantFromVersion55OnAndACallSiteBefore() {
    for (int version = 51; version <= 69; version++) {
      byte[] bytes = woven(method(version, WeaverTest::sum));
      boolean constant = false;
      for (CodeElement e : ClassFile.of().parse(bytes).methods().getFirst().code().orElseThrow()) {
        constant |= e instanceof ConstantInstruction && isCheck(e);
      }
      assertEquals(version >= 55, constant, "version " + version);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {45, 50})
  void olderClassesAreLeftAlone(int version) {
    byte[] old =
        ClassFile.of(ClassFile.StackMapsOption.DROP_STACK_MAPS)
            .build(
                TYPE,
                b ->
                    b.withVersion(version, 0)
                        .withMethodBody("run", INT_TO_LONG, STATIC, WeaverTest::sum));
    assertNull(Weaver.weave(old).bytes());
  }

  @Test
  void noLoopNoRecursionNoCheck() {
    assertNull(Weaver.weave(method(69, code -> code.lconst_1().lreturn())).bytes());
    byte[] forward =
        method(
            69,
            code -> {
              Label end = code.newLabel();
              code.iload(0).ifeq(end).iinc(0, 1).labelBinding(end).iload(0).i2l().lreturn();
            });
    assertNull(Weaver.weave(forward).bytes());
  }

  @Test
  void aMethodThatCallsItselfHasOneAtItsEntry() throws Exception {
    byte[] fib =
        woven(
            method(
                69,
                code -> {
                  Label more = code.newLabel();
                  code.iload(0).iconst_2().if_icmpge(more).iload(0).i2l().lreturn();
                  code.labelBinding(more);
                  code.iload(0).iconst_1().isub().invokestatic(TYPE, "run", INT_TO_LONG);
                  code.iload(0).iconst_2().isub().invokestatic(TYPE, "run", INT_TO_LONG);
                  code.ladd().lreturn();
                }));
    assertEquals(1, checks(fib, "run"));
    assertEquals(55, run(fib, 10));
    assertEquals(177, passed, "calls of fib for 10");
  }

  @Test
  void aCallOfAnotherMethodOfTheSameNameIsNoRecursion() {
    byte[] bytes =
        method(
            69,
            code ->
                code.iload(0)
                    .invokestatic(ClassDesc.of("woven.Other"), "run", INT_TO_LONG)
                    .invokestatic(TYPE, "run", MethodTypeDesc.of(CD_long, CD_long))
                    .lreturn());
    assertNull(Weaver.weave(bytes).bytes());
  }

  @Test
  void staticInitialisersAreLeftAlone() {
    byte[] bytes =
        type(
            69,
            b ->
                b.withMethodBody(
                    "<clinit>",
                    MTD_void,
                    ClassFile.ACC_STATIC,
                    code -> {
                      Label again = code.newLabel();
                      code.iconst_3().istore(0).labelBinding(again).iinc(0, -1);
                      code.iload(0).ifgt(again).return_();
                    }));
    assertNull(Weaver.weave(bytes).bytes());
  }

  /// JEP 513: a loop before super(…) runs on an object that is none yet.
  @Test
  void codeBeforeTheOtherConstructorIsLeftAlone() {
    byte[] bytes =
        type(
            69,
            b ->
                b.withMethodBody(
                    INIT_NAME,
                    MTD_void,
                    ClassFile.ACC_PUBLIC,
                    code -> {
                      loop(code, 1);
                      code.aload(0).invokespecial(CD_Object, INIT_NAME, MTD_void);
                      loop(code, 2);
                      loop(code, 3);
                      code.return_();
                    }));
    byte[] woven = woven(bytes);
    assertEquals(2, checks(woven, INIT_NAME));
    assertEquals(Set.of(2, 3), loopsWithChecks(woven));
  }

  private static void loop(CodeBuilder code, int local) {
    Label again = code.newLabel();
    code.iconst_3().istore(local).labelBinding(again).iinc(local, -1);
    code.iload(local).ifgt(again);
  }

  /// The locals that are loaded just before a check.
  private static Set<Integer> loopsWithChecks(byte[] bytes) {
    var found = new HashSet<Integer>();
    int local = -1;
    for (CodeElement e : ClassFile.of().parse(bytes).methods().getFirst().code().orElseThrow()) {
      if (e instanceof java.lang.classfile.instruction.LoadInstruction l) {
        local = l.slot();
      } else if (isCheck(e)) {
        found.add(local);
      }
    }
    return found;
  }

  @Test
  void allBranchesThatLeadBackHaveOne() throws Exception {
    // while (n > 0) { if (n is odd) { n--; continue; } n -= 2; }, with both jumps back
    byte[] bytes =
        woven(
            method(
                69,
                code -> {
                  Label top = code.newLabel();
                  Label even = code.newLabel();
                  Label end = code.newLabel();
                  code.lconst_0().lstore(1);
                  code.labelBinding(top).iload(0).ifle(end);
                  code.lload(1).lconst_1().ladd().lstore(1);
                  code.iload(0).iconst_1().iand().ifeq(even);
                  code.iinc(0, -1).goto_(top);
                  code.labelBinding(even).iinc(0, -2).goto_w(top);
                  code.labelBinding(end).lload(1).lreturn();
                }));
    assertEquals(2, checks(bytes, "run"));
    assertEquals(5, run(bytes, 9));
    assertEquals(5, passed);
  }

  @ParameterizedTest
  @ValueSource(ints = {51, 54, 55, 69})
  void aLoopThatEndsWithAGotoPassesItsCheckOnlyIfSomebodyIsToStop(int version) throws Exception {
    byte[] bytes =
        woven(
            method(
                version,
                code -> {
                  Label top = code.newLabel();
                  Label end = code.newLabel();
                  code.lconst_0().lstore(1);
                  code.labelBinding(top).iload(0).ifle(end);
                  code.lload(1).iload(0).i2l().ladd().lstore(1).iinc(0, -1).goto_(top);
                  code.labelBinding(end).lload(1).lreturn();
                }));
    assertEquals(55, run(bytes, 10));
    assertEquals(10, passed);
    assertEquals(10, polled);
    raised = false;
    try {
      assertEquals(55, run(bytes, 10));
      assertEquals(0, passed);
      assertEquals(10, polled);
    } finally {
      raised = true;
    }
  }

  @Test
  void aSwitchThatLeadsBackHasOne() throws Exception {
    for (boolean table : new boolean[] {true, false}) {
      byte[] bytes =
          woven(
              method(
                  69,
                  code -> {
                    Label top = code.newLabel();
                    Label one = code.newLabel();
                    Label end = code.newLabel();
                    code.nop().lconst_0().lstore(1);
                    code.labelBinding(top).iinc(0, -1);
                    code.lload(1).lconst_1().ladd().lstore(1).iload(0);
                    List<SwitchCase> cases = List.of(SwitchCase.of(0, end), SwitchCase.of(1, one));
                    if (table) {
                      code.tableswitch(0, 1, top, cases);
                    } else {
                      code.lookupswitch(top, cases);
                    }
                    code.labelBinding(one).goto_(top);
                    code.labelBinding(end).lload(1).lreturn();
                  }));
      assertEquals(2, checks(bytes, "run"));
      assertEquals(7, run(bytes, 7));
      assertEquals(8, passed);
    }
  }

  // What moves.

  @Test
  void anObjectThatIsNotInitialisedYetMayLieOnTheStack() throws Exception {
    ClassDesc builder = ClassDesc.of("java.lang.StringBuilder");
    byte[] bytes =
        woven(
            method(
                69,
                code -> {
                  // new StringBuilder(a number found by a loop).capacity()
                  Label again = code.newLabel();
                  code.new_(builder).dup().labelBinding(again);
                  code.iinc(0, -1).iload(0).bipush(16).if_icmpgt(again).iload(0);
                  code.invokespecial(builder, INIT_NAME, MethodTypeDesc.of(CD_void, CD_int));
                  code.invokevirtual(builder, "capacity", MethodTypeDesc.of(CD_int));
                  code.i2l().lreturn();
                }));
    assertEquals(16, run(bytes, 100));
    assertEquals(84, passed);
  }

  @Test
  void aRecursiveMethodMayBeginWithNewAndWithALoop() throws Exception {
    byte[] bytes =
        woven(
            method(
                69,
                code -> {
                  Label top = code.newLabel();
                  Label end = code.newLabel();
                  code.labelBinding(top).new_(CD_Object).dup();
                  code.iinc(0, -1).iload(0).ifle(end);
                  code.invokespecial(CD_Object, INIT_NAME, MTD_void).pop();
                  code.iload(0).iconst_1().iand().ifeq(top);
                  code.iconst_0().invokestatic(TYPE, "run", INT_TO_LONG).pop2().goto_(top);
                  code.labelBinding(end);
                  code.invokespecial(CD_Object, INIT_NAME, MTD_void).pop();
                  code.lconst_1().lreturn();
                }));
    assertEquals(3, checks(bytes, "run"));
    assertEquals(1, run(bytes, 10));
  }

  /// The check is inside the range of a handler that leads back to it.
  @Test
  void aHandlerAroundItsOwnBackEdge() throws Exception {
    ClassDesc arithmetic = ClassDesc.of("java.lang.ArithmeticException");
    byte[] bytes =
        woven(
            method(
                69,
                code -> {
                  Label top = code.newLabel();
                  Label divide = code.newLabel();
                  Label end = code.newLabel();
                  Label handler = code.newLabel();
                  code.lconst_0().lstore(1);
                  code.labelBinding(top).iload(0).ifge(divide).lload(1).lreturn();
                  code.labelBinding(divide).lload(1).lconst_1().ladd().lstore(1);
                  code.bipush(100).iload(0).iinc(0, -1).idiv().pop().goto_(top);
                  code.labelBinding(handler).pop().goto_(top);
                  code.labelBinding(end);
                  code.exceptionCatch(top, end, handler, arithmetic);
                }));
    assertEquals(2, checks(bytes, "run"));
    assertEquals(11, run(bytes, 10));
    assertEquals(11, passed);
  }

  @Test
  void linesVariablesAndHandlersBelongToTheSameInstructions() throws Exception {
    byte[] original;
    try (var in = Sample.class.getResourceAsStream("WeaverTest$Sample.class")) {
      original = in.readAllBytes();
    }
    byte[] bytes = woven(original);
    ClassModel before = ClassFile.of().parse(original);
    ClassModel after = ClassFile.of().parse(bytes);
    assertEquals(before.methods().size(), after.methods().size());
    for (int i = 0; i < before.methods().size(); i++) {
      CodeModel from = before.methods().get(i).code().orElseThrow();
      CodeModel to = after.methods().get(i).code().orElseThrow();
      assertEquals(shape(from), shape(to));
      assertEquals(
          from.findAttribute(Attributes.localVariableTable()).orElseThrow().localVariables().size(),
          to.findAttribute(Attributes.localVariableTable()).orElseThrow().localVariables().size());
    }
    assertEquals(before.attributes().size() + 1, after.attributes().size(), "bootstrap methods");
  }

  /// The code without its checks, in words; labels by the instruction they stand before.
  private static List<String> shape(CodeModel code) {
    var all = new ArrayList<String>();
    var labels = new java.util.HashMap<Label, Integer>();
    var kept = new ArrayList<CodeElement>();
    int skip = 0;
    for (CodeElement e : code) {
      if (isCheck(e)) {
        skip = 3; // whether to stop, invokeExact, and ifeq or pop
      } else if (skip > 0 && e instanceof Instruction) {
        skip--;
      } else {
        kept.add(e);
      }
    }
    int n = 0;
    for (CodeElement e : kept) {
      if (e instanceof LabelTarget l) {
        labels.put(l.label(), n);
      } else if (e instanceof Instruction) {
        n++;
      }
    }
    for (CodeElement e : kept) {
      switch (e) {
        case LabelTarget _ -> {}
        case BranchInstruction b -> all.add(b.opcode() + " " + labels.get(b.target()));
        case TableSwitchInstruction s ->
            all.add(
                "table "
                    + labels.get(s.defaultTarget())
                    + s.cases().stream().map(c -> labels.get(c.target())).toList());
        case LookupSwitchInstruction s ->
            all.add(
                "lookup "
                    + labels.get(s.defaultTarget())
                    + s.cases().stream().map(c -> labels.get(c.target())).toList());
        case java.lang.classfile.instruction.ExceptionCatch c ->
            all.add(
                "catch "
                    + labels.get(c.tryStart())
                    + " "
                    + labels.get(c.tryEnd())
                    + " "
                    + labels.get(c.handler()));
        case java.lang.classfile.instruction.LocalVariable v ->
            all.add(
                v.name().stringValue()
                    + " "
                    + labels.get(v.startScope())
                    + " "
                    + labels.get(v.endScope()));
        case java.lang.classfile.instruction.LocalVariableType v ->
            all.add(v.name().stringValue() + " of " + v.signature().stringValue());
        case java.lang.classfile.instruction.LineNumber l -> all.add("line " + l.line());
        case Instruction i -> all.add(i.opcode() + " " + i.sizeInBytes());
        default -> {}
      }
    }
    return all;
  }

  /// Loops of all sorts, compiled by javac.
  @SuppressWarnings("unused")
  static final class Sample {
    static int loops(int[][] numbers, List<String> words) {
      int sum = 0;
      outer:
      for (int[] row : numbers) {
        for (int n : row) {
          if (n < 0) {
            continue outer;
          }
          switch (n % 5) {
            case 0 -> sum += 2;
            case 1, 2 -> sum--;
            default -> {
              if (n == 1_000_000) {
                break outer;
              }
            }
          }
        }
      }
      for (String word : words) {
        try {
          sum += Integer.parseInt(word);
        } catch (NumberFormatException e) {
          sum++;
        } finally {
          sum += 3;
        }
        switch (word) {
          case "a" -> sum++;
          case "bb" -> sum += 2;
          default -> sum += word.length();
        }
      }
      do {
        synchronized (words) {
          sum -= 7;
        }
      } while (sum > 100);
      return sum;
    }

    static boolean isEven(int n) {
      return n == 0 || !isEven(n - 1);
    }
  }

  // What is too large.

  private static byte[] padded(int bytes) {
    return method(
        69,
        code -> {
          Label again = code.newLabel();
          code.labelBinding(again);
          for (int i = 0; i < bytes; i++) {
            code.nop();
          }
          code.iinc(0, -1).iload(0).ifgt(again).lconst_0().lreturn();
        });
  }

  @Test
  void aLargeMethodThatStaysBelowTheJitsLimitHasChecks() throws Exception {
    int around = 9; // the instructions that are no padding
    assertEquals(0, run(woven(padded(8_000 - around - 8)), 3));
    assertEquals(3, passed);
    assertLeftAlone("run: it would be too large for the JIT", padded(8_000 - around - 7));
    assertLeftAlone("run: it would be too large for the JIT", padded(8_000 - around));
    assertEquals(0, run(woven(padded(8_001 - around)), 3)); // the JIT has never looked at it
  }

  @Test
  void aBranchThatWouldNotReachIsLeftAlone() throws Exception {
    int most = 32_768 - 4 - 8; // iinc, iload, and the check lie between
    assertEquals(0, run(woven(padded(most)), 3));
    assertLeftAlone("run: a branch would not reach its target", padded(most + 1));
  }

  @Test
  void whereAskingFirstWouldMakeItTooLargeTheCheckIsPassedEachTime() throws Exception {
    int around = 12; // the instructions that are no padding
    assertEquals(0, run(woven(forever(8_000 - around - 18)), 3));
    assertEquals(2, polled);
    assertEquals(0, run(woven(forever(8_000 - around - 17)), 3));
    assertEquals(0, polled);
    assertEquals(2, passed);
    assertEquals(0, run(woven(forever(8_000 - around - 8)), 3));
    assertLeftAlone("run: it would be too large for the JIT", forever(8_000 - around - 7));
  }

  @Test
  void aGotoThatWouldNotReachIsLeftAlone() throws Exception {
    int most = 32_768 - 7 - 8; // iinc, iload, ifle, and the check lie between
    assertEquals(0, run(woven(forever(most)), 3));
    assertEquals(0, polled, "asking first would be too far");
    assertEquals(0, run(woven(forever(most - 10)), 3));
    assertEquals(2, polled);
    assertLeftAlone("run: a branch would not reach its target", forever(most + 1));
  }

  /// A loop that is left in its middle, with this many bytes of padding.
  private static byte[] forever(int bytes) {
    return method(
        69,
        code -> {
          Label again = code.newLabel();
          Label end = code.newLabel();
          code.labelBinding(again);
          for (int i = 0; i < bytes; i++) {
            code.nop();
          }
          code.iinc(0, -1).iload(0).ifle(end).goto_(again);
          code.labelBinding(end).lconst_0().lreturn();
        });
  }

  @Test
  void aGotoToItself() throws Exception {
    byte[] bytes =
        woven(
            method(
                69,
                code -> {
                  Label self = code.newLabel();
                  code.labelBinding(self).goto_(self);
                }));
    assertEquals(1, checks(bytes, "run"));
    assertThrownFromTheCheck(bytes);
  }

  @Test
  void aMethodNearTheLimitOfTheClassFileIsLeftAlone() throws Exception {
    assertEquals(0, run(woven(wide(65_535 - 8)), 3));
    assertLeftAlone("run: it would have more than 65535 bytes", wide(65_535 - 7));
    assertLeftAlone("run: it would have more than 65535 bytes", wide(65_535));
  }

  /// A method of this many bytes that goes back by a wide branch.
  private static byte[] wide(int bytes) {
    return method(
        69,
        code -> {
          Label again = code.newLabel();
          Label end = code.newLabel();
          code.labelBinding(again).iinc(0, -1).iload(0).ifle(end);
          code.goto_w(again).labelBinding(end);
          for (int i = 0; i < bytes - 14; i++) {
            code.nop();
          }
          code.lconst_0().lreturn();
        });
  }

  private static void assertLeftAlone(String why, byte[] bytes) {
    Weaver.Woven woven = Weaver.weave(bytes);
    assertEquals(List.of(why), woven.leftAlone());
    assertNull(woven.bytes());
  }

  @Test
  void theOtherMethodsOfTheClassHaveTheirs() {
    byte[] bytes =
        type(
            69,
            b ->
                b.withMethodBody(
                        "large",
                        INT_TO_LONG,
                        STATIC,
                        code -> {
                          Label again = code.newLabel();
                          code.labelBinding(again);
                          for (int i = 0; i < 7_990; i++) {
                            code.nop();
                          }
                          code.iinc(0, -1).iload(0).ifgt(again).lconst_0().lreturn();
                        })
                    .withMethodBody("run", INT_TO_LONG, STATIC, WeaverTest::sum));
    Weaver.Woven woven = Weaver.weave(bytes);
    assertEquals(List.of("large: it would be too large for the JIT"), woven.leftAlone());
    assertEquals(1, checks(woven.bytes(), "run"));
    verify(woven.bytes());
  }

  @Test
  void aFullConstantPoolIsLeftAlone() {
    byte[] bytes =
        type(
            69,
            b -> {
              b.withMethodBody("run", INT_TO_LONG, STATIC, WeaverTest::sum);
              for (int i = b.constantPool().size(); i < 65_530; i++) {
                b.constantPool().utf8Entry("u" + i);
              }
            });
    assertNull(weaveOrNull(bytes));
  }

  private static byte[] weaveOrNull(byte[] bytes) {
    try {
      return Weaver.weave(bytes).bytes();
    } catch (LeftAlone e) {
      assertEquals("its constant pool is full", e.getMessage());
      return null;
    }
  }

  // Twice, and not at all.

  @Test
  void aWovenClassIsNotWovenAgain() {
    assertNull(Weaver.weave(woven(method(69, WeaverTest::sum))).bytes());
  }

  @Test
  void aClassWithBootstrapMethodsOfItsOwnKeepsThem() throws Exception {
    byte[] original;
    try (var in = WeaverTest.class.getResourceAsStream("WeaverTest.class")) {
      original = in.readAllBytes();
    }
    byte[] bytes = woven(original);
    var before = ClassFile.of().parse(original).findAttribute(Attributes.bootstrapMethods());
    var after = ClassFile.of().parse(bytes).findAttribute(Attributes.bootstrapMethods());
    assertEquals(
        before.orElseThrow().bootstrapMethodsSize() + 1,
        after.orElseThrow().bootstrapMethodsSize());
  }

  @Test
  void garbageIsRefusedAndNotChanged() {
    byte[] good = method(69, WeaverTest::sum);
    byte[] kept = good.clone();
    int refused = 0;
    for (int length = 0; length < good.length; length++) {
      byte[] cut = Arrays.copyOf(good, length);
      try {
        if (Weaver.weave(cut).bytes() == null) {
          refused++;
        }
      } catch (RuntimeException e) {
        refused++;
      }
    }
    assertTrue(refused > good.length / 2, "refused " + refused + " of " + good.length);
    assertThrows(RuntimeException.class, () -> Weaver.weave(new byte[100]));
    assertThrows(RuntimeException.class, () -> Weaver.weave(new byte[0]));
    assertArrayEquals(kept, good);
  }

  private static void assertThrownFromTheCheck(byte[] bytes) throws Exception {
    MethodHandle thrower =
        MethodHandles.dropArguments(
            MethodHandles.throwException(boolean.class, ArithmeticException.class)
                .bindTo(new ArithmeticException("from the check")),
            0,
            boolean.class);
    CheckBridge.open((_, _) -> thrower);
    try {
      var e = assertThrows(InvocationTargetException.class, () -> run(bytes, 3));
      assertEquals("from the check", e.getCause().getMessage());
    } finally {
      countChecks();
    }
  }

  @Test
  void whatTheCheckThrowsWouldComeOutOfTheLoop() throws Exception {
    // Why Check lets nothing escape: there is no handler around a check but the application's own.
    byte[] bytes = woven(method(69, WeaverTest::sum));
    assertThrownFromTheCheck(bytes);
  }
}
