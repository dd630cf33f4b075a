package dev.gloom.cli;

import dev.gloom.Gloom;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// The `gloom` command, as far as it needs a JVM; `test` and `bench` are the launcher's.
@Command(
    name = "gloom",
    description = "Runs Java on Go's scheduler.",
    subcommands = {
      Main.RunCommand.class,
      Main.EnvCommand.class,
      Main.VersionCommand.class,
      CommandLine.HelpCommand.class
    })
public final class Main {
  private Main() {}

  /// Runs one command and exits with its status if that is not 0.
  public static void main(String... args) {
    var command = new CommandLine(new Main());
    command.setStopAtPositional(true); // What follows the program is the program's.
    int status = command.execute(args);
    if (status != 0) {
      System.exit(status);
    }
  }

  @Command(name = "run", description = "Runs a program with its main as goroutine 1.")
  static final class RunCommand implements Callable<Integer> {
    @Option(
        names = {"-cp", "-classpath", "--class-path"},
        paramLabel = "PATH",
        description = "Where its classes are.")
    private String classPath = "";

    @Parameters(paramLabel = "FILE.java|CLASS|JAR [args]", arity = "0..*")
    private String[] target = {};

    @Override
    public Integer call() throws Exception {
      List<String> entries =
          classPath.isEmpty() ? List.of() : List.of(classPath.split(File.pathSeparator));
      return Run.run(entries, target);
    }
  }

  @Command(name = "env", description = "Prints what gloom found and uses, or one value of it.")
  static final class EnvCommand implements Callable<Integer> {
    @Parameters(paramLabel = "NAME", arity = "0..*", description = "Prints only these values.")
    private List<String> names = List.of();

    @Override
    public Integer call() {
      Map<String, String> values = environment();
      if (names.isEmpty()) {
        values.forEach((name, value) -> System.out.println(name + "='" + value + "'"));
      }
      for (String name : names) {
        System.out.println(
            values.getOrDefault(name, "")); // An unknown name is an empty line in Go.
      }
      return 0;
    }
  }

  @Command(name = "version", description = "Prints the version of gloom and of the JDK.")
  static final class VersionCommand implements Callable<Integer> {
    @Override
    public Integer call() {
      System.out.printf(
          "gloom version %s %s/%s, JDK %s%n",
          version(), os(), System.getProperty("os.arch"), Runtime.version());
      return 0;
    }
  }

  private static Map<String, String> environment() {
    var values = new TreeMap<String, String>();
    values.put("ARCH", System.getProperty("os.arch"));
    values.put("GLOOM_HOME", System.getProperty("gloom.home", ""));
    values.put("GLOOM_JAR", jar());
    values.put("GLOOM_JAVA_OPTS", variable("GLOOM_JAVA_OPTS"));
    values.put("GLOOM_VERSION", version());
    values.put("GOMAXPROCS", variable("GOMAXPROCS"));
    values.put("JAVA_HOME", System.getProperty("java.home"));
    values.put("JAVA_VERSION", System.getProperty("java.version"));
    values.put("MAXPROCS", maxProcs());
    values.put("NUMCPU", String.valueOf(Runtime.getRuntime().availableProcessors()));
    values.put("OS", os());
    return values;
  }

  /// Empty if the runtime does not start here: `env` is what one asks to find out why.
  private static String maxProcs() {
    try {
      return String.valueOf(Gloom.maxProcs());
    } catch (RuntimeException | LinkageError e) {
      return "";
    }
  }

  private static String jar() {
    try {
      return Path.of(Gloom.class.getProtectionDomain().getCodeSource().getLocation().toURI())
          .toString();
    } catch (URISyntaxException e) {
      throw new AssertionError("the jar has no path", e);
    }
  }

  private static String version() {
    return Objects.requireNonNullElse(Gloom.class.getPackage().getImplementationVersion(), "devel");
  }

  private static String os() {
    return System.getProperty("os.name").toLowerCase(Locale.ROOT);
  }

  private static String variable(String name) {
    return Objects.requireNonNullElse(System.getenv(name), "");
  }
}
