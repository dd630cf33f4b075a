package dev.gloom.cli;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TaskEvent;
import com.sun.source.util.TaskListener;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Path;
import java.security.CodeSigner;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.ForwardingJavaFileObject;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/// One source file, compiled in memory as `java FILE.java` does it.
///
/// @param topLevel the names of its top-level classes, in the order of the file
/// @param loader where they, and the classes inside them, can be loaded from
record SourceFile(List<String> topLevel, ClassLoader loader) {

  /// Compiles `file`; what the compiler has to say goes to standard error in its own form.
  static SourceFile compile(Path file, String classPath, ClassLoader parent)
      throws CompileException, IOException, UsageException {
    JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
    if (javac == null) {
      throw new UsageException(
          System.getProperty("java.home")
              + " has no compiler: point JAVA_HOME at a JDK 25, not a JRE");
    }
    try (var disk = javac.getStandardFileManager(null, null, null);
        var memory = new MemoryFiles(disk)) {
      var source = new AnyName(disk.getJavaFileObjects(file).iterator().next());
      var options = List.of("-proc:none", "-Xlint:deprecation", "-classpath", classPath);
      var messages = new PrintWriter(System.err, true);
      var task = (JavacTask) javac.getTask(messages, memory, null, options, null, List.of(source));
      var names = new TopLevelNames();
      task.addTaskListener(names);
      if (!task.call()) {
        throw new CompileException();
      }
      return new SourceFile(names.found, new MemoryLoader(file, memory.classes(), parent));
    }
  }

  /// Collects the classes in the order of the source, which class files do not tell.
  private static final class TopLevelNames implements TaskListener {
    final List<String> found = new ArrayList<>();

    @Override
    public void finished(TaskEvent event) {
      if (event.getKind() == TaskEvent.Kind.PARSE) {
        CompilationUnitTree unit = event.getCompilationUnit();
        String prefix = unit.getPackageName() == null ? "" : unit.getPackageName() + ".";
        for (Tree declaration : unit.getTypeDecls()) {
          if (declaration instanceof ClassTree type) {
            found.add(prefix + type.getSimpleName());
          }
        }
      }
    }
  }

  /// A source file whose public class may have any name, since nobody looks it up by its name.
  private static final class AnyName extends ForwardingJavaFileObject<JavaFileObject> {
    AnyName(JavaFileObject file) {
      super(file);
    }

    @Override
    public boolean isNameCompatible(String simpleName, Kind kind) {
      return kind == Kind.SOURCE;
    }
  }

  /// Reads from disk, writes class files to memory.
  private static final class MemoryFiles extends ForwardingJavaFileManager<JavaFileManager> {
    private final Map<String, ByteArrayOutputStream> written = new HashMap<>();

    MemoryFiles(JavaFileManager disk) {
      super(disk);
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
        Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
      return new SimpleJavaFileObject(URI.create("memory:///" + className), kind) {
        @Override
        public OutputStream openOutputStream() {
          var bytes = new ByteArrayOutputStream();
          written.put(className, bytes);
          return bytes;
        }
      };
    }

    Map<String, byte[]> classes() {
      Map<String, byte[]> classes = new HashMap<>();
      written.forEach((name, bytes) -> classes.put(name, bytes.toByteArray()));
      return classes;
    }
  }

  /// Looks in memory first: an old class file on the class path must not hide what the source says.
  private static final class MemoryLoader extends ClassLoader {
    private final Map<String, byte[]> classes;
    private final ProtectionDomain domain;

    MemoryLoader(Path file, Map<String, byte[]> classes, ClassLoader parent) throws IOException {
      super("gloom-source", parent);
      this.classes = classes;
      var code = new CodeSource(file.toUri().toURL(), (CodeSigner[]) null);
      this.domain = new ProtectionDomain(code, null, this, null);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      byte[] bytes = classes.get(name);
      if (bytes == null) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded != null ? loaded : defineClass(name, bytes, 0, bytes.length, domain);
      }
    }
  }
}
