package dev.gloom.apps;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;

/// An executable jar in Spring Boot's layout, as its Maven plug-in makes it: the program's classes
/// and the jars it needs inside, and a class loader that reads them there.
final class NestedJar {
  private NestedJar() {}

  static Path of(Class<?> main, Path directory) throws IOException {
    var manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.put(
        Attributes.Name.MAIN_CLASS, "org.springframework.boot.loader.launch.JarLauncher");
    attributes.putValue("Start-Class", main.getName());
    attributes.putValue("Spring-Boot-Classes", "BOOT-INF/classes/");
    attributes.putValue("Spring-Boot-Lib", "BOOT-INF/lib/");
    Path jar = directory.resolve("nested.jar");
    try (var out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
      try (var loader = new JarFile(loaderJar().toFile())) {
        for (var entry : loader.stream().filter(e -> e.getName().startsWith("org/")).toList()) {
          try (InputStream in = loader.getInputStream(entry)) {
            store(out, entry.getName(), in.readAllBytes());
          }
        }
      }
      store(out, "BOOT-INF/classes/", new byte[0]);
      store(out, "BOOT-INF/lib/", new byte[0]);
      for (String entry : Running.classPath()) {
        Path path = Path.of(entry);
        if (Files.isDirectory(path)) {
          for (Path file : filesIn(path)) {
            store(
                out,
                "BOOT-INF/classes/" + path.relativize(file).toString().replace('\\', '/'),
                Files.readAllBytes(file));
          }
        } else if (Files.exists(path)) {
          store(out, "BOOT-INF/lib/" + path.getFileName(), Files.readAllBytes(path));
        }
      }
    }
    return jar;
  }

  private static List<Path> filesIn(Path directory) throws IOException {
    try (var files = Files.walk(directory)) {
      return new ArrayList<>(files.filter(Files::isRegularFile).toList());
    }
  }

  /// Not compressed: the loader maps the inner jars as they are.
  private static void store(JarOutputStream out, String name, byte[] bytes) throws IOException {
    var entry = new ZipEntry(name);
    var crc = new CRC32();
    crc.update(bytes);
    entry.setMethod(ZipEntry.STORED);
    entry.setSize(bytes.length);
    entry.setCrc(crc.getValue());
    out.putNextEntry(entry);
    out.write(bytes);
    out.closeEntry();
  }

  private static Path loaderJar() {
    String all =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    for (String entry : all.split(java.io.File.pathSeparator)) {
      if (entry.contains("spring-boot-loader")) {
        return Path.of(entry);
      }
    }
    throw new AssertionError("no spring-boot-loader on the class path");
  }
}
