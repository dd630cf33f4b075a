package dev.gloom.agent;

import java.nio.charset.StandardCharsets;

/// The constant pool of a class file: reads what a weaver must know, and adds at its end, so that
/// no index that the class has changes.
final class Pool {
  private static final int UTF8 = 1;
  private static final int INTEGER = 3;
  private static final int FLOAT = 4;
  private static final int LONG = 5;
  private static final int DOUBLE = 6;
  private static final int CLASS = 7;
  private static final int STRING = 8;
  private static final int METHOD = 10;
  private static final int NAME_AND_TYPE = 12;
  private static final int METHOD_HANDLE = 15;
  private static final int METHOD_TYPE = 16;
  private static final int DYNAMIC = 17;
  private static final int INVOKE_DYNAMIC = 18;
  private static final int MODULE = 19;
  private static final int PACKAGE = 20;

  private static final int INVOKE_STATIC = 6;
  private static final int MOST = 65_535;

  private final ClassBytes file;

  /// Where each constant begins, its tag.
  private final int[] at;

  /// The first byte behind the pool.
  final int end;

  private final Output added = new Output(512);
  private int count;

  Pool(ClassBytes file, int start) {
    this.file = file;
    count = file.u2(start);
    at = new int[count];
    int next = start + 2;
    for (int i = 1; i < at.length; i++) {
      at[i] = next;
      int tag = file.u1(next);
      next +=
          switch (tag) {
            case UTF8 -> 3 + file.u2(next + 1);
            case LONG, DOUBLE -> 9;
            case CLASS, STRING, METHOD_TYPE, MODULE, PACKAGE -> 3;
            case METHOD_HANDLE -> 4;
            case INTEGER, FLOAT, 9, METHOD, 11, NAME_AND_TYPE, DYNAMIC, INVOKE_DYNAMIC -> 5;
            default -> throw new IllegalArgumentException("constant " + i + " has tag " + tag);
          };
      if (tag == LONG || tag == DOUBLE) {
        i++;
      }
    }
    end = next;
  }

  // Reading.

  /// Whether constant `index` is this text.
  boolean is(int index, byte[] text) {
    int start = at[index];
    int length = file.u2(start + 1);
    if (file.u1(start) != UTF8 || length != text.length) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (file.bytes[start + 3 + i] != text[i]) {
        return false;
      }
    }
    return true;
  }

  /// The text of a constant, for messages.
  String text(int index) {
    int start = at[index];
    return new String(file.bytes, start + 3, file.u2(start + 1), StandardCharsets.UTF_8);
  }

  /// Whether two constants are the same text.
  private boolean same(int a, int b) {
    if (a == b) {
      return true;
    }
    int length = file.u2(at[a] + 1);
    if (length != file.u2(at[b] + 1)) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (file.bytes[at[a] + 3 + i] != file.bytes[at[b] + 3 + i]) {
        return false;
      }
    }
    return true;
  }

  /// Whether the class has a constant that is this text.
  boolean has(byte[] text) {
    for (int i = 1; i < at.length; i++) {
      if (at[i] != 0 && file.u1(at[i]) == UTF8 && is(i, text)) {
        return true;
      }
    }
    return false;
  }

  /// Whether two class constants name the same class.
  boolean sameClass(int a, int b) {
    return a == b || a != 0 && b != 0 && same(file.u2(at[a] + 1), file.u2(at[b] + 1));
  }

  /// The text constant with the name of a class constant.
  int nameOfClass(int type) {
    return file.u2(at[type] + 1);
  }

  /// The class constant of a method constant.
  int owner(int method) {
    return file.u2(at[method] + 1);
  }

  /// The text constant with the name of a method constant.
  int name(int method) {
    return file.u2(at[file.u2(at[method] + 3)] + 1);
  }

  /// Whether a method constant has this name and descriptor.
  boolean isMethod(int method, int name, int descriptor) {
    int nameAndType = at[file.u2(at[method] + 3)];
    return same(file.u2(nameAndType + 1), name) && same(file.u2(nameAndType + 3), descriptor);
  }

  // Adding: each answers its index.

  int utf8(String text) {
    byte[] bytes = ascii(text);
    added.u1(UTF8).u2(bytes.length).copy(bytes, 0, bytes.length);
    return next();
  }

  int type(String name) {
    int text = utf8(name);
    added.u1(CLASS).u2(text);
    return next();
  }

  int method(String owner, String name, String descriptor) {
    int type = type(owner);
    int nameAndType = nameAndType(name, descriptor);
    added.u1(METHOD).u2(type).u2(nameAndType);
    return next();
  }

  int staticHandle(String owner, String name, String descriptor) {
    int method = method(owner, name, descriptor);
    added.u1(METHOD_HANDLE).u1(INVOKE_STATIC).u2(method);
    return next();
  }

  int constant(int bootstrap, String name, String descriptor) {
    int nameAndType = nameAndType(name, descriptor);
    added.u1(DYNAMIC).u2(bootstrap).u2(nameAndType);
    return next();
  }

  int callSite(int bootstrap, String name, String descriptor) {
    int nameAndType = nameAndType(name, descriptor);
    added.u1(INVOKE_DYNAMIC).u2(bootstrap).u2(nameAndType);
    return next();
  }

  private int nameAndType(String name, String descriptor) {
    int first = utf8(name);
    int second = utf8(descriptor);
    added.u1(NAME_AND_TYPE).u2(first).u2(second);
    return next();
  }

  private int next() {
    if (count == MOST) {
      throw new LeftAlone("its constant pool is full");
    }
    return count++;
  }

  /// The whole pool with its count.
  void writeTo(Output out, int start) {
    out.u2(count).copy(file.bytes, start + 2, end).copy(added);
  }

  static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
