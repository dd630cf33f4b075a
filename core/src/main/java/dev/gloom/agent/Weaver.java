package dev.gloom.agent;

import dev.gloom.jdk.CheckBridge;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Puts preemption checks into a class file: before each backward branch, and at the entry of each
/// method that calls itself.
///
/// A check is `ldc` of a constant, a method handle that all checks of the class share, and
/// `invokeExact` on it; in classes older than 55, which have no such constants, `invokedynamic`. It
/// takes whether to stop, or only to say whether anybody should ({@link MethodWeaver}). It leaves
/// the operand stack and the locals as they were, so no stack map has to be computed, no class
/// hierarchy known and no class loaded: those that are there only move.
///
/// Why not `java.lang.classfile`: it would do, but this runs at the load of every class in eager
/// mode. Its warm-up costs each start more than all the weaving does, it takes a class apart where
/// here a few bytes are put between others, and its way to keep stack maps without computing them
/// loses the room for dead code. What is not touched here stays as it was, bit for bit: the
/// constant pool gets new constants at its end, the bootstrap methods one more, and the code of the
/// methods in question is written anew ({@link MethodWeaver}).
///
/// Left alone by rule are classes before 51 (their stack maps are optional, and subroutines
/// allowed), static initialisers (a yield there fails anyway), constructors up to the call of
/// another one, and methods that the checks would make too large: for the class file, for the reach
/// of a branch, or for the JIT, which compiles nothing above 8,000 bytes.
final class Weaver {
  private static final int MAGIC = 0xCAFEBABE;
  private static final int OLDEST = 51;
  private static final int NEWEST = 69;

  /// The first with constants that a bootstrap method makes.
  private static final int WITH_CONSTANTS = 55;

  /// Of the handle: whether to stop; whether anybody should.
  private static final String CHECK = "(Z)Z";

  private static final byte[] CODE = Pool.ascii("Code");
  private static final byte[] BOOTSTRAP_METHODS = Pool.ascii("BootstrapMethods");
  private static final byte[] BRIDGE = Pool.ascii(CheckBridge.NAME);
  private static final byte[] STATIC_INITIALISER = Pool.ascii("<clinit>");
  static final byte[] CONSTRUCTOR = Pool.ascii("<init>");

  private final ClassBytes file;
  private final int version;
  private final Pool pool;
  private final List<Edit> edits = new ArrayList<>();
  private final List<String> leftAlone = new ArrayList<>();
  private int thisClass;
  private int superClass;
  private MethodWeaver.@Nullable Calls calls;

  /// A part of the file that is replaced.
  private record Edit(int start, int end, Output by) {}

  private Weaver(byte[] bytes) {
    file = new ClassBytes(bytes);
    if (file.u4(0) != MAGIC) {
      throw new IllegalArgumentException("no class file");
    }
    version = file.u2(6);
    pool = new Pool(file, POOL);
  }

  private static final int POOL = 8;

  /// What became of a class.
  ///
  /// @param bytes the class with checks; null if there is no place for one
  /// @param leftAlone methods that should have some and have none, with the reason
  record Woven(byte @Nullable [] bytes, List<String> leftAlone) {}

  /// Weaves a class file. Throws {@link LeftAlone} if it is not to be woven, and some other
  /// RuntimeException if it cannot be read.
  static Woven weave(byte[] bytes) {
    var weaver = new Weaver(bytes);
    return new Woven(weaver.weave(), weaver.leftAlone);
  }

  /// The name of the class, with slashes.
  static String nameOf(byte[] bytes) {
    var file = new ClassBytes(bytes);
    var pool = new Pool(file, POOL);
    return pool.text(pool.nameOfClass(file.u2(pool.end + 2)));
  }

  private byte @Nullable [] weave() {
    if (version < OLDEST || version > NEWEST) {
      return null;
    }
    int at = pool.end;
    thisClass = file.u2(at + 2);
    superClass = file.u2(at + 4);
    at += 8 + 2 * file.u2(at + 6);
    at = endOfFields(at);
    int methods = file.u2(at);
    at += 2;
    for (int i = 0; i < methods; i++) {
      at = method(at);
    }
    if (edits.isEmpty() || pool.has(BRIDGE)) { // the latter: it has been here before
      return null;
    }
    bootstrap(at);
    return assemble();
  }

  private int endOfFields(int at) {
    int next = at + 2;
    for (int n = file.u2(at); n > 0; n--) {
      next = file.endOfAttributes(next + 6);
    }
    return next;
  }

  private int method(int at) {
    int name = file.u2(at + 2);
    int descriptor = file.u2(at + 4);
    int attribute = at + 8;
    for (int n = file.u2(at + 6); n > 0; n--) {
      if (pool.is(file.u2(attribute), CODE) && !pool.is(name, STATIC_INITIALISER)) {
        code(attribute, name, descriptor);
      }
      attribute = file.endOfAttribute(attribute);
    }
    return attribute;
  }

  private void code(int attribute, int name, int descriptor) {
    var method = new MethodWeaver(file, pool, attribute);
    if (!method.wantsChecks(thisClass, superClass, name, descriptor)) {
      return;
    }
    try {
      Output by = method.withChecks(calls());
      edits.add(new Edit(attribute, file.endOfAttribute(attribute), by));
    } catch (LeftAlone e) {
      leftAlone.add(pool.text(name) + ": " + e.getMessage());
    }
  }

  private MethodWeaver.Calls calls() {
    MethodWeaver.Calls made = calls;
    if (made == null) {
      made = version >= WITH_CONSTANTS ? callsOfConstant() : callsOfSite();
      calls = made;
    }
    return made;
  }

  private MethodWeaver.Calls callsOfConstant() {
    int constant = pool.constant(bootstrapCount(), "check", "Ljava/lang/invoke/MethodHandle;");
    int invoke = pool.method("java/lang/invoke/MethodHandle", "invokeExact", CHECK);
    var poll = new Output(8).u1(Instructions.LDC_W).u2(constant).u1(Instructions.ICONST_0);
    var check = new Output(8).u1(Instructions.LDC_W).u2(constant).u1(Instructions.ICONST_1);
    poll.u1(Instructions.INVOKEVIRTUAL).u2(invoke);
    check.u1(Instructions.INVOKEVIRTUAL).u2(invoke).u1(Instructions.POP);
    return new MethodWeaver.Calls(poll.toByteArray(), check.toByteArray(), 2);
  }

  private MethodWeaver.Calls callsOfSite() {
    int site = pool.callSite(bootstrapCount(), "check", CHECK);
    var poll = new Output(8).u1(Instructions.ICONST_0).u1(Instructions.INVOKEDYNAMIC).u2(site);
    var check = new Output(8).u1(Instructions.ICONST_1).u1(Instructions.INVOKEDYNAMIC).u2(site);
    check.u2(0).u1(Instructions.POP);
    return new MethodWeaver.Calls(poll.u2(0).toByteArray(), check.toByteArray(), 1);
  }

  // Bootstrap methods: ours is the last one.

  private int bootstrapCount() {
    int attribute = bootstrapMethods(afterMethods());
    return attribute < 0 ? 0 : file.u2(attribute + 6);
  }

  private int afterMethods() {
    int at = pool.end;
    at += 8 + 2 * file.u2(at + 6);
    at = endOfFields(at);
    int next = at + 2;
    for (int n = file.u2(at); n > 0; n--) {
      next = file.endOfAttributes(next + 6);
    }
    return next;
  }

  private int bootstrapMethods(int attributes) {
    int attribute = attributes + 2;
    for (int n = file.u2(attributes); n > 0; n--) {
      if (pool.is(file.u2(attribute), BOOTSTRAP_METHODS)) {
        return attribute;
      }
      attribute = file.endOfAttribute(attribute);
    }
    return -1;
  }

  private void bootstrap(int attributes) {
    int handle = pool.staticHandle(CheckBridge.NAME, CheckBridge.METHOD, CheckBridge.DESCRIPTOR);
    int old = bootstrapMethods(attributes);
    if (old < 0) {
      int name = pool.utf8("BootstrapMethods");
      var one = new Output(16).u2(name).u4(6).u2(1).u2(handle).u2(0);
      edits.add(new Edit(attributes, attributes + 2, new Output(2).u2(file.u2(attributes) + 1)));
      edits.add(new Edit(file.bytes.length, file.bytes.length, one));
    } else {
      int end = file.endOfAttribute(old);
      var more = new Output(end - old + 4);
      more.copy(file.bytes, old, old + 2).u4(file.u4(old + 2) + 4);
      more.u2(file.u2(old + 6) + 1).copy(file.bytes, old + 8, end).u2(handle).u2(0);
      edits.add(new Edit(old, end, more));
    }
  }

  private byte[] assemble() {
    var out = new Output(file.bytes.length + 1024);
    out.copy(file.bytes, 0, POOL);
    pool.writeTo(out, POOL);
    int from = pool.end;
    for (Edit e : edits) { // in the order of the file
      out.copy(file.bytes, from, e.start).copy(e.by);
      from = e.end;
    }
    return out.copy(file.bytes, from, file.bytes.length).toByteArray();
  }
}
