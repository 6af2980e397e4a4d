// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.library;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.Slow;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
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
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.crt.CRT;

/**
 * The library on class paths of several kinds. Each has S3E's classes once more, in a class loader
 * of its own, so that none sees the aws-crt of this JVM's class path. Most loaders stay open: the
 * threads and the shutdown hook of class paths' CRTs belong to them.
 */
@Slow
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
        copyTree(crt.getPath("/"), jar.getPath("/", AwsCrtLoader.PREFIX));
      }
    }
  }

  @Test
  void none() throws Exception {
    Seen seen = look(classes());
    assertThat(seen.problem)
        .contains("software.amazon.awssdk.crt:aws-crt is not on the class path");
  }

  @Test
  void tooOld() throws Exception {
    for (String version : List.of("0.33.3", "0.49.0")) {
      Path old = old(version);
      assertThat(look(old, classes()).problem)
          .startsWith("aws-crt " + version + " of " + old)
          .endsWith(" is older than 0.50");
    }
  }

  @Test
  void ofTheClassPath() throws Exception {
    Path current = jarOf(CRT.class);
    Seen seen = look(current, classes());
    assertThat(seen.problem).isNull();
    assertThat(seen.description).startsWith("aws-crt 0.").endsWith(" of " + current);
  }

  /** The class that a lending version lends by comes from another jar than the rest. */
  @Test
  void oldBeforeNew() throws Exception {
    for (String version : List.of("0.38.9", "0.49.0")) {
      assertThat(look(old(version), jarOf(CRT.class), classes()).problem)
          .startsWith("aws-crt " + version + " of " + old(version))
          .endsWith(" is older than 0.50");
    }
  }

  @Test
  void aBundleKeepsItsOwn() throws Exception {
    for (List<Path> classPath :
        List.of(List.of(bundle), List.of(old("0.33.3"), bundle), List.of(bundle, old("0.38.9")))) {
      Seen seen = look(classPath.toArray(Path[]::new));
      assertThat(seen.problem).isNull();
      assertThat(seen.description)
          .contains(bundle.toString())
          .endsWith("in a class loader of S3E's own");
    }
  }

  @Test
  void nothingOfTheParentsIsSeenUnderItsNames() throws Exception {
    URLClassLoader parent = loader(old("0.33.3"), bundle);
    ClassLoader own = over(parent);
    String crt = CRT.class.getName();
    ClassLoader shared = Class.forName(crt, false, own).getClassLoader();
    assertThat(shared.getParent()).isSameAs(ClassLoader.getPlatformClassLoader());
    assertThat(Class.forName(crt, false, parent).getClassLoader()).isSameAs(parent);
    // In 0.50 only: not found in 0.33; the other way round a class that nobody has.
    assertThat(canLoad(own, "software.amazon.awssdk.crt.s3.S3BorrowedBuffer")).isTrue();
    assertThat(canLoad(parent, "software.amazon.awssdk.crt.s3.S3BorrowedBuffer")).isFalse();
    assertThat(canLoad(own, "software.amazon.awssdk.crt.NoSuchClass")).isFalse();
    String library = "linux/x86_64/glibc/libaws-crt-jni.so";
    assertThat(shared.getResource(library).toString())
        .contains("/" + AwsCrtLoader.PREFIX + library);
    assertThat(parent.getResource(library).toString()).contains("0.33.3");
    String settings = CrtSettings.class.getName();
    assertThat(own.loadClass(settings)).isSameAs(parent.loadClass(settings));
    String entry = "io.s3e.client.crt.CrtEntry";
    assertThat(own.loadClass(entry)).isNotSameAs(parent.loadClass(entry));
  }

  @Test
  void namesTheRemedyOfTheWrongLibrary() {
    String musl =
        "/tmp/AWSCRT_1libaws-crt-jni.so: Error loading shared library ld-linux-x86-64.so.2:"
            + " No such file or directory (needed by /tmp/AWSCRT_1libaws-crt-jni.so)";
    assertThat(CrtFinding.words(new IllegalStateException(new UnsatisfiedLinkError(musl))))
        .contains(musl)
        .endsWith("-Daws.crt.libc=musl takes the one for musl");
    String noexec = "libaws-crt-jni.so: failed to map segment from shared object";
    assertThat(CrtFinding.words(new UnsatisfiedLinkError(noexec)))
        .contains("-Daws.crt.lib.dir=DIR")
        .doesNotContain("musl");
  }

  @Test
  void allLoadersShareOne() throws Exception {
    URLClassLoader first = loader(bundle);
    ClassLoader shared = crtOf(first);
    first.close();
    assertThat(crtOf(loader(bundle))).isSameAs(shared);
    assertThat(look(bundle).problem).isNull();
    assertThat(canLoad(shared, "software.amazon.awssdk.crt.s3.ResumeToken$PutResumeTokenBuilder"))
        .as("a class that nobody has used, whose jar is closed")
        .isTrue();
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    assertThat(server.getMBeanInfo(bean()).getOperations()).isEmpty();
    assertThat(server.getAttribute(bean(), "Version")).isEqualTo(version());
    assertThat(server.getAttribute(bean(), "Jar")).isEqualTo(bundle.toString());
  }

  @Test
  void aLoaderThatFindsAnotherMBeanHasOneOfItsOwn() throws Exception {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    ClassLoader shared = crtOf(loader(bundle));
    server.unregisterMBean(bean());
    server.registerMBean(new Something(), bean());
    try {
      URLClassLoader parent = loader(bundle);
      ClassLoader alone = crtOf(parent);
      assertThat(alone).isNotSameAs(shared);
      assertThat(alone.getClass().getClassLoader()).isSameAs(parent);
    } finally {
      server.unregisterMBean(bean());
    }
  }

  /** What another program may register. */
  public interface SomethingMBean {}

  /** An MBean of no use. */
  public static final class Something implements SomethingMBean {}

  private static ObjectName bean() throws Exception {
    return new ObjectName("io.s3e:type=AwsCrt,version=" + version());
  }

  private static String version() throws IOException {
    return CrtFinding.version(
        new URL(
            "jar:"
                + bundle.toUri()
                + "!/s3e-crt/META-INF/maven/software.amazon.awssdk.crt/aws-crt/pom.properties"));
  }

  private static ClassLoader crtOf(ClassLoader s3e) throws Exception {
    return Class.forName(CRT.class.getName(), false, over(s3e)).getClassLoader();
  }

  private static ClassLoader over(ClassLoader s3e) throws Exception {
    var over = s3e.loadClass(CrtLoader.class.getName()).getDeclaredMethod("overBundle");
    over.setAccessible(true);
    return (ClassLoader) over.invoke(null);
  }

  private record Seen(String problem, String description) {}

  private static Seen look(Path... classPath) throws Exception {
    Class<?> library = loader(classPath).loadClass(CrtLibrary.class.getName());
    return new Seen(
        (String) library.getMethod("unusableBecause").invoke(null),
        (String) library.getMethod("description").invoke(null));
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
      if (name.startsWith("io.s3e.") || name.startsWith(CrtFinding.CRT_PREFIX)) {
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
    return Path.of(URI.create(type.getProtectionDomain().getCodeSource().getLocation().toString()));
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
