package dev.gloom.agent;

import java.util.Arrays;

/// Bytes of a class file that is being written; grows as needed.
final class Output {
  private byte[] bytes;
  private int size;

  Output(int capacity) {
    bytes = new byte[capacity];
  }

  int size() {
    return size;
  }

  Output u1(int value) {
    room(1);
    bytes[size++] = (byte) value;
    return this;
  }

  Output u2(int value) {
    room(2);
    bytes[size++] = (byte) (value >>> 8);
    bytes[size++] = (byte) value;
    return this;
  }

  Output u4(int value) {
    return u2(value >>> 16).u2(value);
  }

  /// Copies a part of `from`.
  Output copy(byte[] from, int start, int end) {
    room(end - start);
    System.arraycopy(from, start, bytes, size, end - start);
    size += end - start;
    return this;
  }

  Output copy(Output from) {
    return copy(from.bytes, 0, from.size);
  }

  byte[] toByteArray() {
    return Arrays.copyOf(bytes, size);
  }

  private void room(int more) {
    if (size + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + more));
    }
  }
}
