package io.s3e.client.library;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.crt.CRT;

/**
 * The library on class paths of several kinds. Each has S3E's classes once more, in a class loader
 * of its own, so that none sees the aws-crt of this JVM's class path. The loaders stay open: the
 * CRT's threads and shutdown hook belong to them.
 */
class CrtLibraryTest {
  private static final Path OLD_CRTS = Path.of(System.getProperty("s3e.test.old.crts"));

  /** Built from the classes of this module and this JVM's aws-crt, as the build does it. */
  @TempDir static Path scratch;

  private static Path bundle;

  @BeforeAll
  static void buildBundle() throws IOException {
    bundle = scratch.resolve("bundle.jar");
    try (FileSystem jar =
        FileSystems.newFileSystem(URI.create("jar:" + bundle.toUri()), Map.of("create", "true"))) {
      copyTree(classes(), jar.getPath("/"));
      try (FileSystem crt = FileSystems.newFileSystem(jarOf(CRT.class))) {
        copyTree(crt.getPath("/"), jar.getPath("/", CrtLoader.PREFIX));
      }
    }
  }

  @Test
  void none() throws Exception {
    Seen seen = look(classes());
    assertThat(seen.capability).isEqualTo("UNUSABLE");
    assertThat(seen.problem)
        .contains("software.amazon.awssdk.crt:aws-crt is not on the class path");
    assertThat(seen.sdkProblem).contains("aws-crt is not on the class path");
  }

  @Test
  void tooOld() throws Exception {
    Path old = old("0.33.3");
    Seen seen = look(old, classes());
    assertThat(seen.capability).isEqualTo("UNUSABLE");
    assertThat(seen.problem)
        .startsWith("aws-crt 0.33.3 of " + old)
        .contains(" lacks software.amazon.awssdk.crt.s3.S3RequestMetrics");
  }

  @Test
  void beforeLending() throws Exception {
    Seen seen = look(old("0.49.0"), classes());
    assertThat(seen.problem).isNull();
    assertThat(seen.capability).isEqualTo("COPIES");
    assertThat(seen.description).isEqualTo("aws-crt 0.49.0 of " + old("0.49.0"));
    assertThat(seen.sdkProblem).isNull();
  }

  /** The trap: the class that tells a lending version comes from another jar than the rest. */
  @Test
  void oldBeforeNew() throws Exception {
    Path current = jarOf(CRT.class);
    assertThat(look(old("0.49.0"), current, classes()).capability).isEqualTo("COPIES");
    Seen mixed = look(old("0.38.9"), current, classes());
    assertThat(mixed.capability).isEqualTo("UNUSABLE");
    assertThat(mixed.problem)
        .startsWith("aws-crt 0.38.9 of " + old("0.38.9"))
        .contains("S3RequestMetrics, which comes from file:" + current);
  }

  @Test
  void aBundleKeepsItsOwn() throws Exception {
    for (List<Path> classPath :
        List.of(List.of(bundle), List.of(old("0.33.3"), bundle), List.of(bundle, old("0.38.9")))) {
      Seen seen = look(classPath.toArray(Path[]::new));
      assertThat(seen.problem).isNull();
      assertThat(seen.capability).isEqualTo("LENDS");
      assertThat(seen.description)
          .contains(bundle.toString())
          .endsWith("in a class loader of S3E's own");
      assertThat(seen.sdkProblem == null).isEqualTo(classPath.size() > 1);
    }
  }

  @Test
  void nothingOfTheParentsIsSeenUnderItsNames() throws Exception {
    URLClassLoader parent = loader(old("0.33.3"), bundle);
    var over = parent.loadClass(CrtLoader.class.getName()).getDeclaredMethod("overBundle");
    over.setAccessible(true);
    ClassLoader own = (ClassLoader) over.invoke(null);
    String crt = CRT.class.getName();
    assertThat(Class.forName(crt, false, own).getClassLoader()).isSameAs(own);
    assertThat(Class.forName(crt, false, parent).getClassLoader()).isSameAs(parent);
    // In 0.50 only: not found in 0.33; the other way round a class that nobody has.
    assertThat(canLoad(own, "software.amazon.awssdk.crt.s3.S3BorrowedBuffer")).isTrue();
    assertThat(canLoad(parent, "software.amazon.awssdk.crt.s3.S3BorrowedBuffer")).isFalse();
    assertThat(canLoad(own, "software.amazon.awssdk.crt.NoSuchClass")).isFalse();
    String library = "linux/x86_64/glibc/libaws-crt-jni.so";
    assertThat(own.getResource(library).toString()).contains("/" + CrtLoader.PREFIX + library);
    assertThat(parent.getResource(library).toString()).contains("0.33.3");
    String settings = CrtSettings.class.getName();
    assertThat(own.loadClass(settings)).isSameAs(parent.loadClass(settings));
    String entry = "io.s3e.client.crt.CrtEntry";
    assertThat(own.loadClass(entry)).isNotSameAs(parent.loadClass(entry));
  }

  private record Seen(String problem, String capability, String description, String sdkProblem) {}

  private static Seen look(Path... classPath) throws Exception {
    Class<?> library = loader(classPath).loadClass(CrtLibrary.class.getName());
    return new Seen(
        (String) library.getMethod("unusableBecause").invoke(null),
        library.getMethod("capability").invoke(null).toString(),
        (String) library.getMethod("description").invoke(null),
        (String) library.getMethod("sdkUnusableBecause").invoke(null));
  }

  private static URLClassLoader loader(Path... classPath) throws IOException {
    List<URL> urls = new ArrayList<>();
    for (Path entry : classPath) {
      urls.add(entry.toUri().toURL());
    }
    return new URLClassLoader(urls.toArray(URL[]::new), new WithoutS3eAndCrt());
  }

  /** This JVM's class path, without S3E and aws-crt. */
  private static final class WithoutS3eAndCrt extends ClassLoader {
    WithoutS3eAndCrt() {
      super(CrtLibraryTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.startsWith("io.s3e.") || name.startsWith(CrtNeeds.CRT_PREFIX)) {
        throw new ClassNotFoundException(name);
      }
      return super.loadClass(name, resolve);
    }

    @Override
    public URL getResource(String name) {
      boolean hidden =
          name.startsWith("io/s3e/")
              || name.startsWith("software/amazon/awssdk/crt/")
              || name.startsWith("linux/")
              || name.startsWith("osx/");
      return hidden ? null : super.getResource(name);
    }
  }

  private static boolean canLoad(ClassLoader loader, String name) {
    try {
      loader.loadClass(name);
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  private static Path old(String version) {
    return OLD_CRTS.resolve("aws-crt-" + version + ".jar");
  }

  private static Path classes() {
    return jarOf(CrtLibrary.class);
  }

  private static Path jarOf(Class<?> type) {
    return Path.of(URI.create(LinkCheck.jarOf(type).toString()));
  }

  private static void copyTree(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        Path target = to.resolve(from.relativize(file).toString());
        if (target.getParent() != null) {
          Files.createDirectories(target.getParent());
        }
        try (InputStream in = Files.newInputStream(file);
            OutputStream out = Files.newOutputStream(target)) {
          in.transferTo(out);
        }
      }
    }
  }
}
