package dev.gloom.dropin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.api.ChildJvm;
import java.lang.classfile.ClassFile;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The start of a program of 5,000 classes takes at most 150 ms more with the agent.
@Timeout(600)
class StartTest {
  private static final int CLASSES = 5_000;
  private static final int STARTS = 43;
  private static final long MOST_MILLIS = 150;

  /// Loads the classes that were made for it and starts one virtual thread.
  static final class LargeProgram {
    public static void main(String[] args) throws Exception {
      for (int i = 0; i < CLASSES; i++) {
        Class.forName("large.C" + i);
      }
      Thread.startVirtualThread(() -> {}).join();
    }
  }

  @Test
  @Tag("slow")
  void takesAtMost150MillisMore(@TempDir Path directory) throws Exception {
    Path jar = largeJar(directory, false);
    String classPath = jar + java.io.File.pathSeparator + ChildJvm.pathOf(LargeProgram.class);
    List<Long> differences = new ArrayList<>();
    for (int i = 0; i < STARTS; i++) {
      long without = millis(classPath, List.of());
      long with = millis(classPath, List.of(AgentJvm.agent("")));
      if (i > 0) { // the first reads the jar from the disk
        differences.add(with - without);
      }
    }
    Collections.sort(differences);
    long median = differences.get(differences.size() / 2);
    System.out.println(
        "start of %d classes: %d ms more with the agent (median of %d), %s"
            .formatted(CLASSES, median, differences.size(), differences));
    assertTrue(median <= MOST_MILLIS, () -> median + " ms more: " + differences);
  }

  /// The same as a share: what preemption adds to a start, of classes of which a third have loops.
  @Test
  @Tag("slow")
  void preemptionTakesLittleOfAStart(@TempDir Path directory) throws Exception {
    Path jar = largeJar(directory, true);
    String classPath = jar + java.io.File.pathSeparator + ChildJvm.pathOf(LargeProgram.class);
    List<Double> adaptive = new ArrayList<>();
    List<Double> eager = new ArrayList<>();
    List<String> modes = List.of("off", "adaptive", "eager");
    for (int i = 0; i < STARTS; i++) {
      Map<String, Long> taken = new HashMap<>();
      for (int j = 0; j < modes.size(); j++) { // each comes first as often as last
        String mode = modes.get((i + j) % modes.size());
        taken.put(mode, millis(classPath, List.of(AgentJvm.agent("preempt=" + mode))));
      }
      if (i > 0) {
        adaptive.add((double) taken.get("adaptive") / taken.get("off"));
        eager.add((double) taken.get("eager") / taken.get("off"));
      }
    }
    Collections.sort(adaptive);
    Collections.sort(eager);
    double lazily = adaptive.get(adaptive.size() / 2);
    double eagerly = eager.get(eager.size() / 2);
    System.out.println(
        "start of %d classes, against preempt=off: adaptive %.2f, eager %.2f (medians of %d)"
            .formatted(CLASSES, lazily, eagerly, eager.size()));
    assertTrue(lazily <= 1.05, () -> "adaptive " + adaptive);
    assertTrue(eagerly <= 1.30, () -> "eager " + eager);
  }

  private static long millis(String classPath, List<String> jvmArgs) throws Exception {
    long start = System.nanoTime();
    var child = AgentJvm.run(classPath, jvmArgs, LargeProgram.class).succeeded();
    assertEquals("", child.err());
    return (System.nanoTime() - start) / 1_000_000;
  }

  private static Path largeJar(Path directory, boolean loops) throws Exception {
    Path jar = directory.resolve("large.jar");
    try (var out = new JarOutputStream(Files.newOutputStream(jar))) {
      for (int i = 0; i < CLASSES; i++) {
        int n = i;
        out.putNextEntry(new ZipEntry("large/C" + i + ".class"));
        out.write(
            ClassFile.of()
                .build(
                    ClassDesc.of("large.C" + i),
                    type ->
                        type.withMethodBody(
                            "number",
                            MethodTypeDesc.of(ConstantDescs.CD_int),
                            ClassFile.ACC_PUBLIC | ClassFile.ACC_STATIC,
                            code -> {
                              if (loops && n % 3 == 0) {
                                Label again = code.newLabel();
                                code.loadConstant(10).istore(0).labelBinding(again);
                                code.iinc(0, -1).iload(0).ifgt(again);
                              }
                              code.loadConstant(n).ireturn();
                            })));
      }
    }
    return jar;
  }
}
