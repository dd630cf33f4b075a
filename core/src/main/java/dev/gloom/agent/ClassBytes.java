package dev.gloom.agent;

/// The bytes of a class file, to be read at any place.
final class ClassBytes {
  final byte[] bytes;

  ClassBytes(byte[] bytes) {
    this.bytes = bytes;
  }

  int u1(int at) {
    return bytes[at] & 0xff;
  }

  int u2(int at) {
    return u1(at) << 8 | u1(at + 1);
  }

  int s2(int at) {
    return (short) u2(at);
  }

  int u4(int at) {
    return u2(at) << 16 | u2(at + 2);
  }

  /// Where the attribute ends that begins at `at`.
  int endOfAttribute(int at) {
    int length = u4(at + 2);
    if (length < 0 || length > bytes.length - at - 6) {
      throw new IllegalArgumentException("attribute of " + length + " bytes at " + at);
    }
    return at + 6 + length;
  }

  /// Where a table of attributes ends, whose count is at `at`.
  int endOfAttributes(int at) {
    int next = at + 2;
    for (int n = u2(at); n > 0; n--) {
      next = endOfAttribute(next);
    }
    return next;
  }
}
