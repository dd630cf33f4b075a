package dev.gloom.cli;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What `gloom run` runs, and what it does with everything around it.
@Timeout(90)
class RunTest {
  @TempDir Path dir;

  @Test
  void passesArgumentsInputAndExitStatusThrough() throws Exception {
    source(
        "P.java",
        """
        void main(String[] args) {
          IO.println(String.join("|", args));
          IO.println(IO.readln());
          System.exit(7);
        }
        """);
    var child = Child.java(dir, ".", Run.class, "from stdin\n", "P.java", "-cp", "a b", "", "*");
    assertEquals(new Child(7, "-cp|a b||*\nfrom stdin\n", ""), child);
  }

  @Test
  void mainRunsOnAGoroutine() throws Exception {
    source("P.java", "void main() { IO.println(Thread.currentThread().isVirtual()); }");
    assertEquals(new Child(0, "true\n", ""), Child.run(dir, ".", "P.java"));
  }

  @Test
  void endOfMainEndsTheProgramWithGoroutinesWaiting() throws Exception {
    source(
        "P.java",
        """
        import static dev.gloom.Gloom.*;

        void main() {
          go(() -> sleep(Duration.ofHours(1)));
          gosched();
          IO.println("done");
        }
        """);
    assertEquals(new Child(0, "done\n", ""), Child.run(dir, ".", "P.java"));
  }

  @Test
  void aPlatformThreadHoldsTheProgramUp() throws Exception {
    source(
        "P.java",
        """
        void main() {
          var main = Thread.currentThread();
          Thread.ofPlatform().daemon(false).start(() -> {
            while (main.isAlive()) Thread.onSpinWait();
            IO.println("last");
          });
        }
        """);
    assertEquals(new Child(0, "last\n", ""), Child.run(dir, ".", "P.java"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "void main() { throw new Error(); }",
        "static void main() { throw new Error(); }",
        "void main() {} void main(String[] args) { throw new Error(); }",
        "class A { static protected void main(String... args) { throw new Error(); } }",
        "class A { A() {} protected void main() { throw new Error(); } }",
        "class A extends B {} class B { void main() { throw new Error(); } }",
        "class A implements B {} interface B { default void main() { throw new Error(); } }",
        "interface A { static void main(String[] args) { throw new Error(); } }",
        "record A() { void main() { throw new Error(); } }",
        "enum A { X; static void main() { throw new Error(); } }",
        "class Helper {} public class A { public static void main(String[] a) { throw new Error(); } }",
        "class A { private static void main() {} } class B { void main() { throw new Error(); } }",
      })
  void findsTheMainThatJavaFinds(String text) throws Exception {
    source("P.java", text);
    MainMethod main = Run.find(dir.resolve("P.java").toString(), List.of());
    main.check();
    var thrown = assertThrows(Error.class, () -> main.call(new String[0]));
    assertEquals("main", thrown.getStackTrace()[thrown.getStackTrace().length - 1].getMethodName());
  }

  @Test
  void contextLoaderSeesTheProgramInEveryGoroutine() throws Exception {
    source(
        "P.java",
        """
        import static dev.gloom.Gloom.*;

        class Main {
          static void look() throws Exception {
            var loader = Thread.currentThread().getContextClassLoader();
            IO.println(Class.forName("Other", true, loader) == Other.class);
          }

          static void main() throws Exception {
            look();
            go(Main::look).join();
          }
        }

        class Other {}
        """);
    assertEquals(new Child(0, "true\ntrue\n", ""), Child.run(dir, ".", "P.java"));
  }

  @Test
  void sourceWinsOverAnOldClassFile() throws Exception {
    compile("P.java", "class P { static void main() { IO.println(\"old\"); } }");
    source("P.java", "class P { static void main() { IO.println(\"new\"); } }");
    assertEquals(new Child(0, "new\n", ""), Child.run(dir, ".", "P.java"));
  }

  @Test
  void runsAClassAndAJar() throws Exception {
    compile("Lib.java", "package lib; public class Lib { public static String name = \"lib\"; }");
    Path lib = jar("lib.jar", null, null, "lib/Lib.class");
    Files.delete(dir.resolve("lib/Lib.class"));
    compile(
        "App.java",
        lib,
        """
        package app;

        class App {
          public static void main(String[] args) {
            IO.println(lib.Lib.name + args.length + App.class.getResource("/app/App.class").getProtocol());
          }
        }
        """);
    jar("app.jar", "app.App", "lib.jar", "app/App.class");
    assertAll(
        () ->
            assertEquals(
                new Child(0, "lib1file\n", ""), Child.run(dir, ".:lib.jar", "app.App", "x")),
        () ->
            assertEquals(new Child(0, "lib1jar\n", ""), Child.run(dir, "app.jar", "app.jar", "x")),
        () -> assertEquals(new Child(0, "lib0jar\n", ""), Child.run(dir, "none", "app.jar")),
        () ->
            assertEquals(
                new Child(0, "lib0file\n", ""),
                Child.main(dir, "run", "-cp", ".:lib.jar", "app.App")),
        () ->
            assertEquals(
                new Child(0, "lib2jar\n", ""), Child.main(dir, "run", "app.jar", "-cp", "y")));
  }

  @Test
  void compilesAgainstTheClassPath() throws Exception {
    compile("Lib.java", "package lib; public class Lib { public static String name = \"lib\"; }");
    source("P.java", "void main() { IO.println(lib.Lib.name); }");
    assertEquals(new Child(0, "lib\n", ""), Child.run(dir, ".", "P.java"));
  }

  @Test
  void compileErrorsAreJavacsAndEndWithStatusOne() throws Exception {
    source("Bad.java", "void main() {\n  int x = \"\";\n}\n");
    var child = Child.run(dir, ".", "Bad.java");
    assertEquals(1, child.status());
    assertEquals(
        """
        Bad.java:2: error: incompatible types: String cannot be converted to int
          int x = "";
                  ^
        1 error
        """,
        child.err());
  }

  @Test
  void warningsAreShownAndTheProgramRuns() throws Exception {
    source("P.java", "void main() { IO.println(new Integer(3)); }");
    var child = Child.run(dir, ".", "P.java");
    assertEquals("3\n", child.out());
    assertTrue(child.err().contains("P.java:1: warning: [deprecation]"), child.err());
  }

  @ParameterizedTest
  @CsvSource({"main, 1", "go, 2"})
  void anEscapingExceptionIsAPanicWithStatusTwo(String where, int id) throws Exception {
    source(
        "P.java",
        """
        import static dev.gloom.Gloom.*;

        void boom() {
          throw new IllegalStateException("boom");
        }

        void main(String[] args) throws Exception {
          if (args[0].equals("main")) boom();
          go(this::boom).join();
          sleep(Duration.ofHours(1));
        }
        """);
    var child = Child.run(dir, ".", "P.java", where);
    String err = child.err();
    assertEquals(2, child.status(), err);
    assertTrue(err.startsWith("panic: java.lang.IllegalStateException: boom\n\ngoroutine "), err);
    assertTrue(err.contains("[running]:"), err);
    assertTrue(err.contains("P.boom(...)\n\tP.java:4\n"), err);
    assertFalse(err.contains("reflect"), err);
    assertEquals(id == 1, err.contains("goroutine 1 [running]:"), err);
  }

  // Item 96.
  @Test
  @EnabledOnOs(OS.LINUX)
  void deadlockEndsTheProgramWithGosTextAndStatusTwo() throws Exception {
    source(
        "P.java",
        """
        import static dev.gloom.Gloom.*;
        import java.util.concurrent.locks.*;

        void main() throws Exception {
          IO.println("before");
          go(this::waits).join();
        }

        void waits() {
          LockSupport.park();
        }
        """);
    Child child = Child.run(dir, ".", "P.java");
    assertEquals(2, child.status(), child.err());
    assertEquals("before\n", child.out());
    assertEquals(
        """
        fatal error: all goroutines are asleep - deadlock!

        goroutine 1 [join]:
        P.main(...)
        	P.java:6

        goroutine N [park]:
        java.util.concurrent.locks.LockSupport.park(...)
        	LockSupport.java:N
        P.waits(...)
        	P.java:10
        created by P.main in goroutine 1
        	P.java:6
        exit status 2
        """,
        child
            .err()
            .replaceAll("goroutine \\d+ \\[park", "goroutine N [park")
            .replaceAll("LockSupport.java:\\d+", "LockSupport.java:N"));
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void endOfMainIsNoDeadlock() throws Exception {
    source(
        "P.java",
        """
        import static dev.gloom.Gloom.*;
        import java.util.concurrent.locks.*;

        void main() throws Exception {
          go(LockSupport::park);
          Thread.ofPlatform().start(() -> LockSupport.parkNanos(1_000_000_000L));
        }
        """);
    assertEquals(new Child(0, "", ""), Child.run(dir, ".", "P.java"));
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void signalPrintsAllGoroutines() throws Exception {
    source(
        "P.java",
        """
        import static dev.gloom.Gloom.*;
        import java.io.PrintStream;
        import java.util.concurrent.locks.*;

        void main() throws Exception {
          var printed = new java.util.concurrent.CountDownLatch(1);
          System.setErr(new PrintStream(System.err) {
            public void flush() {
              super.flush();
              printed.countDown();
            }
          });
          go(LockSupport::park);
          gosched();
          var pid = String.valueOf(ProcessHandle.current().pid());
          new ProcessBuilder("kill", "-USR1", pid).start().waitFor();
          printed.await();
        }
        """);
    Child child = Child.run(dir, ".", "P.java");
    assertEquals(0, child.status(), child.err());
    assertTrue(child.err().startsWith("goroutine 1 ["), child.err());
    assertTrue(child.err().contains("\n\ngoroutine "), child.err());
    assertTrue(child.err().contains("\nP.main(...)\n\tP.java:"), child.err());
    assertTrue(child.err().contains("[park]:\n"), child.err());
  }

  @Test
  void badInputIsOneSentenceAndStatusTwo() throws Exception {
    source("NoMain.java", "class NoMain { private static void main() {} }");
    source("Abstract.java", "abstract class Abstract { void main() {} }");
    source("NoInit.java", "class NoInit { NoInit(int x) {} void main() {} }");
    source("broken.jar", "this is no zip file");
    jar("nomain.jar", null, null);
    compile("Lib.java", "package lib; class Lib {}");
    Files.move(dir.resolve("lib/Lib.class"), dir.resolve("Lib.class"));
    Files.createDirectory(dir.resolve("Folder.java"));
    assertAll(
        () -> misused("nothing to run"),
        () -> misused("Missing.java does not exist", "Missing.java"),
        () -> misused("missing.jar does not exist", "missing.jar"),
        () -> misused("Folder.java is not a file", "Folder.java"),
        () -> misused("no class in NoMain.java has a main method", "NoMain.java"),
        () -> misused("Abstract is abstract", "Abstract.java"),
        () -> misused("NoInit has no constructor without parameters", "NoInit.java"),
        () ->
            misused(
                "there is no class com.example.Missing on the class path .", "com.example.Missing"),
        () -> misused("cannot load class Lib", "Lib"),
        () -> misused("java.lang.Object has no main method", "java.lang.Object"),
        () -> misused("a/App.class is neither a .java nor a .jar file", "a/App.class"),
        () -> misused("cannot read broken.jar", "broken.jar"),
        () -> misused("nomain.jar has no Main-Class in its manifest", "nomain.jar"));
  }

  private void misused(String message, String... args) throws Exception {
    var child = Child.run(dir, ".", args);
    assertEquals(2, child.status(), child.err());
    assertTrue(child.err().startsWith("gloom: " + message), child.err());
    assertEquals(1, child.err().lines().count(), child.err());
    assertEquals("", child.out());
  }

  private void source(String name, String text) throws Exception {
    Files.writeString(dir.resolve(name), text);
  }

  private void compile(String name, String text) throws Exception {
    compile(name, dir, text);
  }

  private void compile(String name, Path classPath, String text) throws Exception {
    source(name, text);
    String out = dir.toString();
    String file = dir.resolve(name).toString();
    String path = classPath.toString();
    int errors =
        ToolProvider.getSystemJavaCompiler().run(null, null, null, "-d", out, "-cp", path, file);
    assertEquals(0, errors);
  }

  private Path jar(String name, String mainClass, String classPath, String... files)
      throws Exception {
    var manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    if (mainClass != null) {
      attributes.put(Attributes.Name.MAIN_CLASS, mainClass);
    }
    if (classPath != null) {
      attributes.put(Attributes.Name.CLASS_PATH, classPath);
    }
    Path jar = dir.resolve(name);
    try (OutputStream out = Files.newOutputStream(jar);
        var entries = new JarOutputStream(out, manifest)) {
      for (String file : files) {
        entries.putNextEntry(new JarEntry(file));
        Files.copy(dir.resolve(file), entries);
      }
    }
    return jar;
  }
}
