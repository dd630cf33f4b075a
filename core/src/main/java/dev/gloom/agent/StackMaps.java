package dev.gloom.agent;

/// Writes the stack maps of a method whose instructions have moved. What a map says stays true; it
/// only belongs to another place, and an object that is not initialised yet was made at another
/// one.
final class StackMaps {
  private static final int LAST_SAME = 63;
  private static final int LAST_SAME_ONE_ITEM = 127;
  private static final int SAME_ONE_ITEM_EXTENDED = 247;
  private static final int FIRST_CHOP = 248;
  private static final int SAME_EXTENDED = 251;
  private static final int FULL = 255;

  private static final int OBJECT = 7;
  private static final int UNINITIALISED = 8;

  private final ClassBytes file;
  private final MethodWeaver method;
  private int at;
  private Output out = new Output(0);

  StackMaps(ClassBytes file, MethodWeaver method) {
    this.file = file;
    this.method = method;
  }

  /// The contents of the attribute, which begin at `start`.
  Output moved(int start) {
    int n = file.u2(start);
    at = start + 2;
    out = new Output(64 + 8 * n).u2(n);
    int pc = -1;
    int last = -1;
    for (; n > 0; n--) {
      int kind = file.u1(at++);
      int delta = kind <= LAST_SAME ? kind : kind <= LAST_SAME_ONE_ITEM ? kind - 64 : delta(kind);
      pc += delta + 1;
      int moved = method.movedFrame(pc);
      frame(kind, moved - last - 1);
      last = moved;
    }
    return out;
  }

  private int delta(int kind) {
    if (kind < SAME_ONE_ITEM_EXTENDED) {
      throw new IllegalArgumentException("stack map of kind " + kind);
    }
    at += 2;
    return file.u2(at - 2);
  }

  private void frame(int kind, int delta) {
    if (kind <= LAST_SAME || kind == SAME_EXTENDED) {
      if (delta <= LAST_SAME) {
        out.u1(delta);
      } else {
        out.u1(SAME_EXTENDED).u2(delta);
      }
    } else if (kind <= SAME_ONE_ITEM_EXTENDED) {
      if (delta <= LAST_SAME) {
        out.u1(64 + delta);
      } else {
        out.u1(SAME_ONE_ITEM_EXTENDED).u2(delta);
      }
      types(1);
    } else {
      out.u1(kind).u2(delta);
      if (kind == FULL) {
        countedTypes();
        countedTypes();
      } else if (kind >= FIRST_CHOP + 4) {
        types(kind - SAME_EXTENDED); // append; chop has none
      }
    }
  }

  private void countedTypes() {
    int n = file.u2(at);
    at += 2;
    out.u2(n);
    types(n);
  }

  private void types(int n) {
    for (; n > 0; n--) {
      int tag = file.u1(at++);
      out.u1(tag);
      if (tag == OBJECT) {
        out.u2(file.u2(at));
        at += 2;
      } else if (tag == UNINITIALISED) {
        out.u2(method.movedInstruction(file.u2(at)));
        at += 2;
      } else if (tag > UNINITIALISED) {
        throw new IllegalArgumentException("stack map with a type " + tag);
      }
    }
  }
}
