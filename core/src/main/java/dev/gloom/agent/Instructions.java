package dev.gloom.agent;

/// The instructions of the JVM, as far as a weaver has to know them: how long they are, and where
/// they go.
final class Instructions {
  static final int ICONST_0 = 0x03;
  static final int ICONST_1 = 0x04;
  static final int LDC_W = 0x13;
  static final int POP = 0x57;
  static final int IFEQ = 0x99;
  static final int GOTO = 0xa7;
  static final int JSR = 0xa8;
  static final int RET = 0xa9;
  static final int TABLESWITCH = 0xaa;
  static final int LOOKUPSWITCH = 0xab;
  static final int INVOKEVIRTUAL = 0xb6;
  static final int INVOKESPECIAL = 0xb7;
  static final int INVOKEINTERFACE = 0xb9;
  static final int INVOKEDYNAMIC = 0xba;
  static final int WIDE = 0xc4;
  static final int IFNULL = 0xc6;
  static final int IFNONNULL = 0xc7;
  static final int GOTO_W = 0xc8;
  static final int JSR_W = 0xc9;
  private static final int IINC = 0x84;

  /// One digit for each code from 0: its length; 0 for those that vary or do not exist.
  private static final String LENGTHS =
      "1111111111111111" // 00: constants
          + "2323322222111111" // 10: bipush, sipush, ldc, loads
          + "1111111111111111" // 20
          + "1111112222211111" // 30: 36 to 3a are stores with an index
          + "1111111111111111" // 40
          + "1111111111111111" // 50
          + "1111111111111111" // 60
          + "1111111111111111" // 70
          + "1111311111111111" // 80: iinc
          + "1111111113333333" // 90: branches
          + "3333333332001111" // a0: ret, switches, returns
          + "1133333335532311" // b0: members, calls, new, arrays
          + "3311043355000000"; // c0: checkcast, instanceof, monitors, wide, multianewarray,

  // branches

  private Instructions() {}

  static boolean isBranch(int code) {
    return code >= IFEQ && code < JSR || code == IFNULL || code == IFNONNULL || code == GOTO_W;
  }

  static boolean isSwitch(int code) {
    return code == TABLESWITCH || code == LOOKUPSWITCH;
  }

  /// Calls that name a method.
  static boolean isCall(int code) {
    return code >= INVOKEVIRTUAL && code <= INVOKEINTERFACE;
  }

  /// Where a branch goes, in bytes from its own place.
  static int distance(ClassBytes file, int at) {
    return file.u1(at) == GOTO_W ? file.u4(at + 1) : file.s2(at + 1);
  }

  /// Where the table of a switch begins whose code is at `at`; `pc` is its place in the method.
  static int table(int at, int pc) {
    return at + 1 + (3 - (pc & 3));
  }

  /// How many places a switch has to go to, the default not counted.
  static int cases(ClassBytes file, int code, int table) {
    long n =
        code == LOOKUPSWITCH
            ? file.u4(table + 4)
            : (long) file.u4(table + 8) - file.u4(table + 4) + 1;
    if (n < 0 || n > file.bytes.length) {
      throw new IllegalArgumentException("switch with " + n + " cases");
    }
    return (int) n;
  }

  /// The length of the instruction at `at`; `pc` is its place in the method.
  static int length(ClassBytes file, int at, int pc) {
    int code = file.u1(at);
    if (isSwitch(code)) {
      int table = table(at, pc);
      int cases = cases(file, code, table);
      return table - at + (code == LOOKUPSWITCH ? 8 + 8 * cases : 12 + 4 * cases);
    }
    if (code == WIDE) {
      return file.u1(at + 1) == IINC ? 6 : 4;
    }
    int length = code < LENGTHS.length() ? LENGTHS.charAt(code) - '0' : 0;
    if (length == 0 || code == JSR || code == RET || code == JSR_W) {
      throw new IllegalArgumentException("instruction " + code + " at " + pc);
    }
    return length;
  }
}
