package dev.gloom.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gloom.Gloom;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The Java of docs/FROM-GO.md compiles, as the body of a method with gloom imported.
@Timeout(90)
class FromGoTest {
  private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

  private static final String BEFORE =
      "import static dev.gloom.Gloom.*;\nimport dev.gloom.*;\nvoid main() throws Exception {\n";

  @TempDir Path dir;

  @Test
  void itsSnippetsCompile() throws Exception {
    Matcher block = BLOCK.matcher(Files.readString(Path.of("..", "docs", "FROM-GO.md")));
    List<JavaFileObject> sources = new ArrayList<>();
    while (block.find()) {
      sources.add(new Source("Snippet" + sources.size(), BEFORE + block.group(1) + "}\n"));
    }
    assertTrue(sources.size() >= 4, "only " + sources.size() + " snippets");
    assertEquals("", complaints(sources));
  }

  @Test
  void aWrongSnippetWouldBeFound() throws Exception {
    var wrong = new Source("Wrong", BEFORE + "Chan<Integer> c = new Object();}\n");
    assertTrue(complaints(List.of(wrong)).contains("incompatible types"));
  }

  private String complaints(List<JavaFileObject> sources) throws Exception {
    JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
    var said = new StringWriter();
    String gloom =
        Path.of(Gloom.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    List<String> options = List.of("-cp", gloom, "-d", dir.toString(), "-proc:none");
    javac.getTask(said, null, null, options, null, sources).call();
    return said.toString();
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String name, String text) {
      super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }
}
