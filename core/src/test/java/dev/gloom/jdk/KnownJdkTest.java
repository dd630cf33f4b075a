package dev.gloom.jdk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeElement;
import java.lang.classfile.Instruction;
import java.lang.classfile.MethodModel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// {@link LeanMount} does what some methods of the JDK do, in code of its own. These are the
/// methods as they were when it was written. If one is another now, read what has changed, see
/// whether `src/main/nestmates` and the header of LeanMount still hold, and only then put the new
/// figure here.
class KnownJdkTest {
  private static final String THREAD = "java/lang/VirtualThread";
  private static final String CONTINUATION = "jdk/internal/vm/Continuation";
  private static final String CONTAINER = "jdk/internal/vm/ThreadContainer";

  @ParameterizedTest
  @CsvSource({
    THREAD + ", <init>, 2eea8b58",
    THREAD + "$VThreadContinuation, <init>, 9bc3d781",
    "java/lang/BaseVirtualThread, <init>, 4fccc2f1",
    "java/lang/Thread, <init>, 6a7f1cf9",
    "java/lang/Thread$ThreadIdentifiers, next, 82651303",
    THREAD + ", start, 57f8eaec",
    "java/lang/Thread, inheritScopedValueBindings, 995c74bf",
    CONTAINER + ", add, 5a893547",
    CONTAINER + ", onStart, fc8399fc",
    THREAD + ", runContinuation, 41286c56",
    THREAD + ", mount, 4495799f",
    THREAD + ", unmount, 1c0a1891",
    THREAD + ", yieldContinuation, 868dad95",
    THREAD + ", afterYield, e6861a59",
    THREAD + ", afterDone, 59b07f53",
    THREAD + ", cancelTimeoutTask, 99e5141b",
    THREAD + ", park, 9cd2dc67",
    THREAD + ", tryYield, f71c92d5",
    THREAD + ", unpark, 1ffdf29b",
    THREAD + ", interrupt, 834c36e2",
    THREAD + ", getAndClearInterrupt, 402afaee",
    THREAD + ", tryGetStackTrace, 4a010ba1",
    CONTINUATION + ", run, a862ff68",
    CONTINUATION + ", mount, 9865a4ad",
    CONTINUATION + ", unmount, 748bf18",
    CONTINUATION + ", postYieldCleanup, c332c4da",
    CONTINUATION + ", yield, 6c82ce0b",
    CONTINUATION + ", yield0, a0a8ff8",
  })
  void theJdksMethodIsTheOneThatWasRead(String owner, String method, String fingerprint)
      throws IOException {
    assertEquals(fingerprint, fingerprint(owner, method), owner + "." + method + " has changed");
  }

  @ParameterizedTest
  @CsvSource({
    "25+36, true",
    "25.0.1+8, true",
    "25.0.3+9-LTS, true",
    "25.0.4+1, false",
    "25.1+1, false",
    "24.0.2+12, false",
    "26+35, false"
  })
  void onlyUpdatesThatWereReadAreKnown(String version, boolean known) {
    assertEquals(known, LeanMount.isKnown(Runtime.Version.parse(version)));
  }

  @Test
  void anotherMethodHasAnotherFingerprint() throws IOException {
    var mount = fingerprint(THREAD, "mount");
    assertEquals(mount, fingerprint(THREAD, "mount"));
    assertNotEquals(mount, fingerprint(THREAD, "unmount"));
  }

  /// Of the instructions of all methods of this name, with what they refer to, but neither lines
  /// nor positions in the constant pool.
  private static String fingerprint(String owner, String method) throws IOException {
    List<MethodModel> methods;
    try (var in = Object.class.getResourceAsStream("/" + owner + ".class")) {
      assertNotNull(in, owner);
      methods =
          ClassFile.of().parse(in.readAllBytes()).methods().stream()
              .filter(m -> m.methodName().equalsString(method))
              .toList();
    }
    assertEquals(false, methods.isEmpty(), owner + " has no " + method);
    var crc = new CRC32();
    for (MethodModel m : methods) {
      add(crc, m.methodType().stringValue());
      for (CodeElement element : m.code().orElseThrow()) {
        if (element instanceof Instruction instruction) {
          add(crc, instruction.toString());
        }
      }
    }
    return Long.toHexString(crc.getValue());
  }

  private static void add(CRC32 crc, String text) {
    crc.update(text.getBytes(StandardCharsets.UTF_8));
  }
}
