package dev.gloom.jdk;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/// Writes a class file of a few fields and methods without branches. `java.lang.classfile` does it
/// better, and takes 40 ms to warm up for a dozen instructions, which every start would pay.
final class TinyClass {
  private static final int MAGIC = 0xCAFEBABE;
  private static final int JAVA_25 = 69;

  static final int PUBLIC = 0x1;
  static final int PRIVATE = 0x2;
  static final int STATIC = 0x8;
  static final int FINAL = 0x10;
  private static final int SUPER = 0x20;

  private final Map<String, Integer> known = new HashMap<>();
  private final Bytes pool = new Bytes();
  private final Bytes fields = new Bytes();
  private final Bytes methods = new Bytes();
  private final int flags;
  private final int self;
  private final int base;
  private int constants = 1;
  private int fieldCount;
  private int methodCount;

  /// A class of these flags; names as in class files, with slashes.
  TinyClass(int flags, String name, String base) {
    this.flags = flags | SUPER;
    this.self = type(name);
    this.base = type(base);
  }

  // Constants: each answers its index, and is there once.

  int type(String name) {
    int utf8 = utf8(name);
    Integer index = known.get("type " + name);
    if (index == null) {
      pool.u1(7).u2(utf8);
      index = added("type " + name);
    }
    return index;
  }

  int field(String owner, String name, String descriptor) {
    return member(9, owner, name, descriptor);
  }

  int method(String owner, String name, String descriptor) {
    return member(10, owner, name, descriptor);
  }

  int interfaceMethod(String owner, String name, String descriptor) {
    return member(11, owner, name, descriptor);
  }

  private int member(int tag, String owner, String name, String descriptor) {
    int type = type(owner);
    int utf8Name = utf8(name);
    int utf8Descriptor = utf8(descriptor);
    String key = tag + owner + "." + name + descriptor;
    Integer index = known.get(key);
    if (index == null) {
      pool.u1(12).u2(utf8Name).u2(utf8Descriptor);
      int nameAndType = constants++;
      pool.u1(tag).u2(type).u2(nameAndType);
      index = added(key);
    }
    return index;
  }

  private int utf8(String text) {
    Integer index = known.get(text);
    if (index == null) {
      byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
      pool.u1(1).u2(bytes.length).all(bytes);
      index = added(text);
    }
    return index;
  }

  private int added(String key) {
    known.put(key, constants);
    return constants++;
  }

  // Members.

  void addField(int flags, String name, String descriptor) {
    fields.u2(flags).u2(utf8(name)).u2(utf8(descriptor)).u2(0);
    fieldCount++;
  }

  void addMethod(int flags, String name, String descriptor, int stack, int locals, Code code) {
    byte[] body = code.toByteArray();
    methods.u2(flags).u2(utf8(name)).u2(utf8(descriptor)).u2(1);
    methods.u2(utf8("Code")).u4(12 + body.length).u2(stack).u2(locals);
    methods.u4(body.length).all(body).u2(0).u2(0);
    methodCount++;
  }

  byte[] toByteArray() {
    var file = new Bytes().u4(MAGIC).u2(0).u2(JAVA_25).u2(constants).all(pool.toByteArray());
    file.u2(flags).u2(self).u2(base).u2(0);
    file.u2(fieldCount).all(fields.toByteArray());
    file.u2(methodCount).all(methods.toByteArray());
    return file.u2(0).toByteArray();
  }

  /// The instructions that are used here, with their codes.
  static final class Code {
    static final int ICONST_0 = 0x03;
    static final int ICONST_1 = 0x04;
    static final int ICONST_2 = 0x05;
    static final int ICONST_3 = 0x06;
    static final int LDC_W = 0x13;
    static final int ILOAD_1 = 0x1b;
    static final int ILOAD_2 = 0x1c;
    static final int ALOAD_0 = 0x2a;
    static final int ALOAD_1 = 0x2b;
    static final int ALOAD_2 = 0x2c;
    static final int ALOAD_3 = 0x2d;
    static final int ASTORE_2 = 0x4d;
    static final int POP = 0x57;
    static final int DUP = 0x59;
    static final int IRETURN = 0xac;
    static final int ARETURN = 0xb0;
    static final int RETURN = 0xb1;
    static final int GETSTATIC = 0xb2;
    static final int GETFIELD = 0xb4;
    static final int PUTFIELD = 0xb5;
    static final int INVOKEVIRTUAL = 0xb6;
    static final int INVOKESPECIAL = 0xb7;
    static final int INVOKESTATIC = 0xb8;
    private static final int INVOKEINTERFACE = 0xb9;
    static final int NEW = 0xbb;
    static final int CHECKCAST = 0xc0;

    private final Bytes bytes = new Bytes();

    /// An instruction, or the byte that belongs to the one before.
    Code op(int code) {
      bytes.u1(code);
      return this;
    }

    Code op(int code, int constant) {
      bytes.u1(code).u2(constant);
      return this;
    }

    /// Calls a method of an interface that takes no argument.
    Code invokeInterface(int constant) {
      return invokeInterface(constant, 0);
    }

    /// The same with this many arguments; a long or a double counts twice.
    Code invokeInterface(int constant, int arguments) {
      bytes.u1(INVOKEINTERFACE).u2(constant).u1(1 + arguments).u1(0);
      return this;
    }

    byte[] toByteArray() {
      return bytes.toByteArray();
    }
  }

  private static final class Bytes {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    Bytes u1(int value) {
      out.write(value);
      return this;
    }

    Bytes u2(int value) {
      return u1(value >>> 8).u1(value);
    }

    Bytes u4(int value) {
      return u2(value >>> 16).u2(value);
    }

    Bytes all(byte[] bytes) {
      out.writeBytes(bytes);
      return this;
    }

    byte[] toByteArray() {
      return out.toByteArray();
    }
  }
}
