package dev.gloom.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.jdk.CheckBridge;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.constant.ClassDesc;
import java.lang.invoke.ConstantCallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Real class files: all that the build and its tests depend on, the servers of the applications
/// included, in the repository where these tests' own dependencies are. Tens of thousands of
/// classes, of javac, Kotlin, Scala and bytecode generators, are woven; what the JVM's verifier
/// took before it must take after.
@Timeout(1_200)
class CorpusTest {
  private static final int ENOUGH = 20_000;

  /// What is read of the repository in the normal run: one in so many woven classes is verified.
  private static final int VERIFY_EVERY = 20;

  private static int classes;
  private static int woven;
  private static int verified;
  private static final Map<String, Integer> LEFT_ALONE = new TreeMap<>();
  private static final Map<Integer, Integer> VERSIONS = new TreeMap<>();
  private static final List<String> BROKEN = new ArrayList<>();

  @Test
  void isWovenAndASampleVerified() throws Exception {
    weaveAll(VERIFY_EVERY);
  }

  @Test
  @Tag("slow")
  void isWovenAndVerified() throws Exception {
    weaveAll(1);
  }

  private static void weaveAll(int verifyEvery) throws IOException {
    classes = 0;
    woven = 0;
    verified = 0;
    LEFT_ALONE.clear();
    VERSIONS.clear();
    BROKEN.clear();
    for (Path jar : jars()) {
      weave(jar, verifyEvery);
    }
    System.out.println(
        "corpus: %d classes, %d woven, %d verified, versions %s, left alone %s"
            .formatted(classes, woven, verified, VERSIONS, LEFT_ALONE));
    assertEquals(List.of(), BROKEN);
    assertTrue(classes > ENOUGH, () -> "only " + classes + " classes");
    assertTrue(woven > classes / 10, () -> woven + " of " + classes);
    assertTrue(verified > 100, () -> verified + " verified");
  }

  /// The newest of each artifact in the local repository.
  private static List<Path> jars() throws IOException {
    Path repository = repository();
    Map<Path, Path> newest = new TreeMap<>();
    try (Stream<Path> files = Files.walk(repository)) {
      files
          .filter(f -> f.toString().endsWith(".jar"))
          .sorted()
          .forEach(f -> newest.put(f.getParent().getParent(), f));
    }
    return List.copyOf(newest.values());
  }

  /// The one that the class path of these tests leads into.
  private static Path repository() {
    for (String entry : System.getProperty("java.class.path").split(java.io.File.pathSeparator)) {
      for (Path at = Path.of(entry).toAbsolutePath(); at != null; at = at.getParent()) {
        if (at.endsWith("repository") && Files.isDirectory(at.resolve("org"))) {
          return at;
        }
      }
    }
    throw new AssertionError("no local repository on the class path: Maven has one");
  }

  private static void weave(Path jar, int verifyEvery) throws IOException {
    try (var file = new JarFile(jar.toFile(), false)) {
      var verifier =
          ClassFile.of(
              ClassFile.ClassHierarchyResolverOption.of(
                  ClassHierarchyResolver.ofResourceParsing(type -> resource(file, type))
                      .orElse(ClassHierarchyResolver.defaultResolver())
                      .cached()));
      for (JarEntry entry : Collections.list(file.entries())) {
        if (!entry.getName().endsWith(".class") || entry.getName().contains("module-info")) {
          continue;
        }
        byte[] bytes;
        try (InputStream in = file.getInputStream(entry)) {
          bytes = in.readAllBytes();
        }
        classes++;
        VERSIONS.merge((bytes[6] & 0xff) << 8 | bytes[7] & 0xff, 1, Integer::sum);
        byte[] after = weave(jar.getFileName() + "!" + entry.getName(), bytes);
        if (after != null && ++woven % verifyEvery == 0) {
          verified++;
          verify(verifier, entry.getName(), bytes, after);
        }
      }
    }
  }

  private static byte[] weave(String name, byte[] bytes) {
    try {
      Weaver.Woven w = Weaver.weave(bytes);
      for (String why : w.leftAlone()) {
        LEFT_ALONE.merge("a method: " + why.substring(why.lastIndexOf(": ") + 2), 1, Integer::sum);
      }
      return w.bytes();
    } catch (LeftAlone e) {
      LEFT_ALONE.merge(e.getMessage(), 1, Integer::sum);
    } catch (RuntimeException e) {
      BROKEN.add(name + ": " + e);
    }
    return null;
  }

  private static void verify(ClassFile verifier, String name, byte[] before, byte[] after) {
    List<VerifyError> errors = verifier.verify(after);
    if (!errors.isEmpty() && verifier.verify(before).size() != errors.size()) {
      BROKEN.add(name + ": " + errors.getFirst().getMessage());
    }
  }

  private static InputStream resource(JarFile file, ClassDesc type) {
    String d = type.descriptorString();
    var entry = file.getJarEntry(d.substring(1, d.length() - 1) + ".class");
    try {
      return entry == null ? null : file.getInputStream(entry);
    } catch (IOException e) {
      return null;
    }
  }

  // By the JVM itself.

  /// Loads a jar's classes woven, and has the JVM link them, which verifies them.
  @Test
  void aSampleIsTakenByTheJvm() throws Exception {
    MethodHandle nothing = MethodHandles.empty(MethodType.methodType(boolean.class, boolean.class));
    CheckBridge.open(
        (_, kind) -> kind instanceof MethodType ? new ConstantCallSite(nothing) : nothing);
    var sample = new TreeSet<String>();
    int linked = 0;
    int checked = 0;
    for (Path jar : jars()) {
      String name = jar.getFileName().toString();
      if (name.matches(
          "(kotlin-stdlib|scala-library|scala3-library_3|guava|jackson-databind|archunit|h2|byte-buddy|tomcat-embed-core|spring-core|kotlinx-coroutines-core-jvm|postgresql)-[0-9.]+(Final|-jre)?\\.jar")) {
        sample.add(name.replaceFirst("-[0-9].*", ""));
        var loader = new Weaving(jar);
        linked += loader.linkAll();
        checked += loader.woven;
      }
    }
    int all = linked;
    int with = checked;
    System.out.println(
        "corpus: %d classes linked, %d of them woven: %s".formatted(all, with, sample));
    assertTrue(
        sample.containsAll(Set.of("kotlin-stdlib", "scala-library", "scala3-library_3")),
        sample::toString);
    assertTrue(with > 100, () -> with + " woven of " + all + " linked");
  }

  private static final class Weaving extends ClassLoader {
    private final Map<String, byte[]> files = new HashMap<>();
    private final Set<String> missing = new HashSet<>();
    int woven;

    Weaving(Path jar) throws IOException {
      super(ClassLoader.getPlatformClassLoader());
      try (var file = new JarFile(jar.toFile(), false)) {
        for (JarEntry e : Collections.list(file.entries())) {
          String name = e.getName();
          if (name.endsWith(".class")
              && !name.contains("module-info")
              && !name.startsWith("META-INF")) {
            try (InputStream in = file.getInputStream(e)) {
              files.put(name.substring(0, name.length() - 6).replace('/', '.'), in.readAllBytes());
            }
          }
        }
      }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
      byte[] bytes = files.get(name);
      if (bytes == null) {
        missing.add(name);
        throw new ClassNotFoundException(name);
      }
      byte[] after = weave(name, bytes);
      if (after != null) {
        woven++;
      }
      byte[] define = after == null ? bytes : after;
      return defineClass(name, define, 0, define.length);
    }

    /// Asking for its methods has a class linked. A class that needs another jar cannot be.
    int linkAll() throws ClassNotFoundException {
      int n = 0;
      for (String name : files.keySet()) {
        try {
          if (loadClass(name).getDeclaredMethods() != null) {
            n++;
          }
        } catch (VerifyError e) {
          throw new AssertionError(name, e);
        } catch (LinkageError e) {
          assertTrue(!missing.isEmpty() || e instanceof ClassFormatError, e::toString);
        }
      }
      return n;
    }
  }
}
