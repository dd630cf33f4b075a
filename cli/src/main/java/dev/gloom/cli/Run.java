package dev.gloom.cli;

import dev.gloom.DeadlockException;
import dev.gloom.Gloom;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

/// `gloom run`: a program whose `main` is the first goroutine.
///
/// The launcher calls this class and not [Main]: the option parser would cost a tenth of a second
/// at every start, and would lie on the program's class path. For the same reason the launcher puts
/// the program's class path on the JVM's own, where the system class loader finds it.
public final class Run {
  /// Go's status of a program that fails by itself.
  private static final int DEADLOCK_STATUS = 2;

  private final List<String> added;
  private final ClassLoader loader;

  private Run(List<String> added) {
    this.added = added;
    var system = ClassLoader.getSystemClassLoader();
    this.loader = added.isEmpty() ? system : new URLClassLoader(urls(added), system);
  }

  /// Runs the program named first with the arguments that follow; returns when its `main` has.
  public static void main(String... args) throws Exception {
    int status = run(List.of(), args);
    if (status != 0) {
      System.exit(status);
    }
  }

  /// Runs `args`, with `classPath` added to what the JVM already has; the result is an exit status.
  static int run(List<String> classPath, String... args) throws Exception {
    try {
      if (args.length == 0) {
        throw new UsageException("nothing to run: name a FILE.java, a CLASS or a JAR");
      }
      MainMethod main = find(args[0], classPath);
      main.check();
      start(main, Arrays.copyOfRange(args, 1, args.length));
      return 0;
    } catch (UsageException e) {
      System.err.println("gloom: " + e.getMessage());
      return 2;
    } catch (CompileException e) {
      return 1;
    }
  }

  private static void start(MainMethod main, String[] args) throws Exception {
    // A program, unlike a library, ends when a goroutine panics: set before the runtime reads it.
    setByDefault("gloom.panic", "exit");
    setByDefault("gloom.dumpsignal", "USR1");
    Thread.currentThread().setContextClassLoader(main.loader());
    // Not Gloom.run, which would hand main's exception to this thread: nobody here recovers from
    // it.
    var program = Gloom.go("main", () -> main.call(args));
    try {
      program.join();
    } catch (DeadlockException e) {
      System.out.flush();
      System.err.print("fatal error: " + e.getMessage() + "exit status " + DEADLOCK_STATUS + "\n");
      System.err.flush();
      System.exit(DEADLOCK_STATUS);
    }
  }

  private static void setByDefault(String name, String value) {
    if (System.getProperty(name) == null) {
      System.setProperty(name, value);
    }
  }

  static MainMethod find(String target, List<String> classPath)
      throws UsageException, CompileException {
    try {
      if (target.endsWith(".java")) {
        return new Run(classPath).fromSource(target);
      }
      if (target.endsWith(".jar")) {
        return fromJar(target, classPath);
      }
      return new Run(classPath).fromClass(target);
    } catch (IOException | InvalidPathException e) {
      throw new UsageException("cannot read " + target + ": " + e.getMessage());
    }
  }

  private MainMethod fromSource(String name) throws UsageException, CompileException, IOException {
    Path file = existing(name);
    var source = SourceFile.compile(file, compileClassPath(), loader);
    for (String type : source.topLevel()) {
      Optional<MainMethod> main = MainMethod.of(load(type, source.loader()));
      if (main.isPresent()) {
        return main.get();
      }
    }
    throw new UsageException("no class in " + name + " has a main method: add void main() { … }");
  }

  private static MainMethod fromJar(String name, List<String> classPath)
      throws UsageException, IOException {
    existing(name);
    String type = mainClassOf(name);
    List<String> added = new ArrayList<>(classPath);
    if (!systemClassPath().contains(name)) {
      added.add(name);
    }
    return new Run(added).mainOf(type);
  }

  private MainMethod fromClass(String name) throws UsageException {
    if (name.endsWith(".class")
        || name.indexOf('/') >= 0
        || name.indexOf(File.separatorChar) >= 0) {
      throw new UsageException(
          name
              + " is neither a .java nor a .jar file: for a compiled class give its name, as in"
              + " ./gloom run -cp DIR com.example.App");
    }
    return mainOf(name);
  }

  private MainMethod mainOf(String type) throws UsageException {
    return MainMethod.of(load(type, loader))
        .orElseThrow(
            () -> new UsageException(type + " has no main method: add void main() { … } to it"));
  }

  private Class<?> load(String type, ClassLoader from) throws UsageException {
    try {
      return Class.forName(type, false, from); // The goroutine initialises it, not this thread.
    } catch (ClassNotFoundException e) {
      throw new UsageException(
          "there is no class "
              + type
              + " on the class path "
              + String.join(File.pathSeparator, programClassPath())
              + ": say where it is with -cp");
    } catch (LinkageError e) {
      throw new UsageException("cannot load class " + type + ": " + e);
    }
  }

  private static Path existing(String name) throws UsageException {
    Path file = Path.of(name);
    if (!Files.isRegularFile(file)) {
      throw new UsageException(
          name
              + (Files.exists(file) ? " is not a file" : " does not exist")
              + ": name a FILE.java, a CLASS or a JAR to run");
    }
    return file;
  }

  private static String mainClassOf(String jarName) throws UsageException, IOException {
    try (var jar = new JarFile(jarName)) {
      Manifest manifest = jar.getManifest();
      String type =
          manifest == null
              ? null
              : manifest.getMainAttributes().getValue(Attributes.Name.MAIN_CLASS);
      if (type == null) {
        throw new UsageException(
            jarName
                + " has no Main-Class in its manifest: name the class, as in ./gloom run -cp "
                + jarName
                + " com.example.App");
      }
      return type.strip();
    }
  }

  private static List<String> systemClassPath() {
    return List.of(System.getProperty("java.class.path", "").split(File.pathSeparator));
  }

  private String compileClassPath() {
    List<String> entries = new ArrayList<>(systemClassPath());
    entries.addAll(added);
    return String.join(File.pathSeparator, entries);
  }

  /// Without gloom's own two entries, which come first and would only confuse in a message.
  private List<String> programClassPath() {
    List<String> system = systemClassPath();
    List<String> entries =
        new ArrayList<>(system.subList(Math.min(2, system.size()), system.size()));
    entries.addAll(added);
    return entries;
  }

  private static URL[] urls(List<String> entries) {
    var urls = new URL[entries.size()];
    for (int i = 0; i < urls.length; i++) {
      try {
        urls[i] = Path.of(entries.get(i)).toUri().toURL();
      } catch (MalformedURLException e) {
        throw new AssertionError("a file has no URL: " + entries.get(i), e);
      }
    }
    return urls;
  }
}
