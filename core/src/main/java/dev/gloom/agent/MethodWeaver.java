package dev.gloom.agent;

import java.util.Arrays;

/// Writes the code of one method anew, with checks in it: instructions move, and with them what
/// refers to them: branches, switches, exception handlers, line numbers, local variables and stack
/// maps.
///
/// A check goes before the branch that leads back, so a loop that is left passes it once more than
/// it goes round. Whoever jumps to that branch jumps to its check. Before a `goto`, which is how
/// most `for` and `while` loops end, it stands in a path of its own:
///
/// ```
///                poll         whether anybody is to stop
///                ifeq head    almost always
///                check
///                goto head
/// ```
///
/// So C2 sees two loops with one head, and no call in the inner one. A loop with a call in it, even
/// one that is never made, C2 neither unrolls nor polls for safepoints if it counts: one hog would
/// keep the collector, and with it everybody, waiting to its end. Before a branch that has a
/// condition there is no such path: what comes behind it would need a stack map that is not there.
/// Nor is there one where it would make the method too large.
///
/// Other attributes of the code are dropped: they may refer to places too, and the JVM reads none
/// of them (annotations of types in the body are for tools that read class files).
final class MethodWeaver {
  private static final int CODE = 14;
  private static final int MOST = 65_535;

  /// What the JIT compiles at most: -XX:HugeMethodLimit.
  private static final int COMPILED = 8_000;

  private static final int IFEQ_LENGTH = 3;

  private static final byte[] LINES = Pool.ascii("LineNumberTable");
  private static final byte[] VARIABLES = Pool.ascii("LocalVariableTable");
  private static final byte[] VARIABLE_TYPES = Pool.ascii("LocalVariableTypeTable");
  private static final byte[] STACK_MAP = Pool.ascii("StackMapTable");

  private final ClassBytes file;
  private final Pool pool;
  private final int attribute;
  private final int start;
  private final int length;

  /// Pairs: the place of a branch that leads back, and how far back.
  private int[] loops = {};

  private int loopCount;

  /// What goes before the instruction at a place.
  private byte[] before = {};

  private static final byte NOTHING = 0;
  private static final byte CHECK = 1;
  private static final byte POLL_AND_CHECK = 2;

  /// How long each of these is.
  private final int[] lengths = new int[3];

  /// Where each place is afterwards; a check that goes before it included.
  private int[] moved = {};

  /// The instructions of a check.
  ///
  /// @param poll leaves an int: 0 unless somebody is to stop
  /// @param check stops the caller, if it is the one
  /// @param stack how much of the stack either needs
  record Calls(byte[] poll, byte[] check, int stack) {}

  /// For the Code attribute at `attribute`.
  MethodWeaver(ClassBytes file, Pool pool, int attribute) {
    this.file = file;
    this.pool = pool;
    this.attribute = attribute;
    start = attribute + CODE;
    length = file.u4(attribute + CODE - 4);
    if (length <= 0 || length > MOST || start + length > file.bytes.length) {
      throw new IllegalArgumentException("code of " + length + " bytes");
    }
  }

  // Where checks go.

  /// Whether there is any place for a check; finds all.
  boolean wantsChecks(int thisClass, int superClass, int name, int descriptor) {
    boolean constructor = pool.is(name, Weaver.CONSTRUCTOR);
    boolean recursive = false;
    int initialised = -1;
    for (int pc = 0; pc < length; pc += Instructions.length(file, start + pc, pc)) {
      int code = file.u1(start + pc);
      if (Instructions.isBranch(code)) {
        foundTarget(pc, Instructions.distance(file, start + pc));
      } else if (Instructions.isSwitch(code)) {
        foundTarget(pc, lowestOfSwitch(pc, code));
      } else if (Instructions.isCall(code)) {
        int method = file.u2(start + pc + 1);
        int owner = pool.owner(method);
        boolean own = pool.sameClass(owner, thisClass);
        recursive |= own && pool.isMethod(method, name, descriptor);
        if (constructor
            && code == Instructions.INVOKESPECIAL
            && (own || pool.sameClass(owner, superClass))
            && pool.is(pool.name(method), Weaver.CONSTRUCTOR)) {
          initialised = pc; // or another object of the class: then a little more is left alone
        }
      }
    }
    return mark(initialised, recursive && !constructor);
  }

  private int lowestOfSwitch(int pc, int code) {
    int table = Instructions.table(start + pc, pc);
    int cases = Instructions.cases(file, code, table);
    int lowest = file.u4(table);
    boolean lookup = code == Instructions.LOOKUPSWITCH;
    for (int i = 0; i < cases; i++) {
      lowest = Math.min(lowest, file.u4(lookup ? table + 12 + 8 * i : table + 12 + 4 * i));
    }
    return lowest;
  }

  private void foundTarget(int pc, int distance) {
    if (distance <= 0) {
      if (loopCount == loops.length) {
        loops = Arrays.copyOf(loops, Math.max(8, 2 * loopCount));
      }
      loops[loopCount++] = pc;
      loops[loopCount++] = distance;
    }
  }

  private boolean mark(int initialised, boolean atEntry) {
    boolean any = atEntry;
    if (!any && loopCount == 0) {
      return false;
    }
    before = new byte[length];
    before[0] = atEntry ? CHECK : NOTHING;
    for (int i = 0; i < loopCount; i += 2) {
      int pc = loops[i];
      if (pc + loops[i + 1] > initialised) {
        before[pc] = file.u1(start + pc) == Instructions.GOTO ? POLL_AND_CHECK : CHECK;
        any = true;
      }
    }
    return any;
  }

  // The new code.

  /// The Code attribute with `calls` at all places that were found. Throws {@link LeftAlone} if it
  /// would be too large.
  Output withChecks(Calls calls) {
    try {
      return write(calls);
    } catch (LeftAlone e) {
      for (int pc = 0; pc < length; pc++) {
        before[pc] = before[pc] == POLL_AND_CHECK ? CHECK : before[pc];
      }
      return write(calls);
    }
  }

  private Output write(Calls calls) {
    lengths[CHECK] = calls.check.length;
    lengths[POLL_AND_CHECK] = calls.poll.length + IFEQ_LENGTH + calls.check.length;
    move();
    var code = new Output(moved[length]);
    for (int pc = 0; pc < length; ) {
      if (before[pc] == POLL_AND_CHECK) {
        code.copy(calls.poll, 0, calls.poll.length);
        branch(code, Instructions.IFEQ, pc + Instructions.distance(file, start + pc));
      }
      if (before[pc] != NOTHING) {
        code.copy(calls.check, 0, calls.check.length);
      }
      pc = instruction(code, pc);
    }
    int handlers = start + length;
    int attributes = handlers + 2 + 8 * file.u2(handlers);
    var body = new Output(file.endOfAttribute(attribute) - attribute + code.size() - length + 16);
    body.u2(Math.min(MOST, file.u2(attribute + 6) + calls.stack)).u2(file.u2(attribute + 8));
    body.u4(code.size()).copy(code).u2(file.u2(handlers));
    for (int at = handlers + 2; at < attributes; at += 8) {
      body.u2(moved(file.u2(at))).u2(moved(file.u2(at + 2)));
      body.u2(moved(file.u2(at + 4))).u2(file.u2(at + 6));
    }
    attributes(body, attributes);
    return new Output(body.size() + 6).u2(file.u2(attribute)).u4(body.size()).copy(body);
  }

  private void move() {
    moved = new int[length + 1];
    int to = 0;
    for (int pc = 0; pc < length; ) {
      int size = Instructions.length(file, start + pc, pc);
      if (pc + size > length) {
        throw new IllegalArgumentException("an instruction goes beyond the end");
      }
      moved[pc] = to;
      to += lengths[before[pc]];
      for (int i = 1; i < size; i++) {
        moved[pc + i] = to + i; // nothing valid refers to these
      }
      if (Instructions.isSwitch(file.u1(start + pc))) {
        to += (pc & 3) - (to & 3) + size; // its table is aligned
      } else {
        to += size;
      }
      pc += size;
    }
    moved[length] = to;
    if (to > MOST) {
      throw new LeftAlone("it would have more than 65535 bytes");
    }
    if (to > COMPILED && length <= COMPILED) {
      throw new LeftAlone("it would be too large for the JIT");
    }
  }

  /// Where `pc` is now, with its check.
  private int moved(int pc) {
    if (pc < 0 || pc > length) {
      throw new IllegalArgumentException("no place in the method: " + pc);
    }
    return moved[pc];
  }

  /// Where the instruction at `pc` itself is now.
  int movedInstruction(int pc) {
    int from = moved(pc);
    return pc < length ? from + lengths[before[pc]] : from;
  }

  /// Writes the one at `pc` and answers where the next is.
  private int instruction(Output code, int pc) {
    int at = start + pc;
    int next = pc + Instructions.length(file, at, pc);
    int op = file.u1(at);
    if (Instructions.isBranch(op)) {
      branch(code, op, pc + Instructions.distance(file, at));
    } else if (Instructions.isSwitch(op)) {
      switchTo(code, pc, op);
    } else {
      code.copy(file.bytes, at, start + next);
    }
    return next;
  }

  /// Writes one to what was at `target`.
  private void branch(Output code, int op, int target) {
    int distance = moved(target) - code.size();
    if (op == Instructions.GOTO_W) {
      code.u1(op).u4(distance);
    } else if (distance == (short) distance) {
      code.u1(op).u2(distance);
    } else {
      throw new LeftAlone("a branch would not reach its target");
    }
  }

  private void switchTo(Output code, int pc, int op) {
    int table = Instructions.table(start + pc, pc);
    int cases = Instructions.cases(file, op, table);
    int from = code.size();
    code.u1(op);
    while ((code.size() & 3) != 0) {
      code.u1(0);
    }
    code.u4(moved(pc + file.u4(table)) - from).u4(file.u4(table + 4));
    boolean lookup = op == Instructions.LOOKUPSWITCH;
    if (!lookup) {
      code.u4(file.u4(table + 8));
    }
    for (int i = 0; i < cases; i++) {
      int at = lookup ? table + 8 + 8 * i : table + 12 + 4 * i;
      if (lookup) {
        code.u4(file.u4(at));
        at += 4;
      }
      code.u4(moved(pc + file.u4(at)) - from);
    }
  }

  // What refers to places.

  private void attributes(Output body, int table) {
    var kept = new Output(file.endOfAttribute(attribute) - table + 64);
    int count = 0;
    int at = table + 2;
    for (int n = file.u2(table); n > 0; n--) {
      int name = file.u2(at);
      int end = file.endOfAttribute(at);
      Output moved = null;
      if (pool.is(name, LINES)) {
        moved = lines(at + 6);
      } else if (pool.is(name, VARIABLES) || pool.is(name, VARIABLE_TYPES)) {
        moved = variables(at + 6);
      } else if (pool.is(name, STACK_MAP)) {
        moved = new StackMaps(file, this).moved(at + 6);
      }
      if (moved != null) {
        kept.u2(name).u4(moved.size()).copy(moved);
        count++;
      }
      at = end;
    }
    body.u2(count).copy(kept);
  }

  private Output lines(int at) {
    int n = file.u2(at);
    var out = new Output(2 + 4 * n).u2(n);
    for (int i = at + 2; n > 0; n--, i += 4) {
      out.u2(moved(file.u2(i))).u2(file.u2(i + 2));
    }
    return out;
  }

  private Output variables(int at) {
    int n = file.u2(at);
    var out = new Output(2 + 10 * n).u2(n);
    for (int i = at + 2; n > 0; n--, i += 10) {
      int from = moved(file.u2(i));
      int to = moved(file.u2(i) + file.u2(i + 2));
      out.u2(from).u2(to - from).copy(file.bytes, i + 4, i + 10);
    }
    return out;
  }

  /// Where a stack map of `pc` belongs now.
  int movedFrame(int pc) {
    return moved(pc);
  }
}
