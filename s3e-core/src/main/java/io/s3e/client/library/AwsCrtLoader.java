// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.library;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.security.cert.Certificate;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.jspecify.annotations.Nullable;

/**
 * The class loader of the aws-crt that S3E's bundle jar brings. aws-crt stays in the JVM for good:
 * its native library holds its classes, its threads and its shutdown hook never end. So that they
 * keep nothing else, this loader refers to no other class of S3E's but {@link AwsCrt}, and to no
 * other loader but the JDK's. {@link SharedCrt} shares the one object of it, and has a loader of
 * the JDK's define this class, unless the application's does.
 *
 * <p>The bundle keeps aws-crt under {@value #PREFIX}, where no other loader looks for it. Its class
 * files are read at once and kept until they are defined: the jar may be replaced, or its other
 * readers closed, while the JVM goes on. The native library is read from the jar as aws-crt begins.
 *
 * <p>No nested class is used here either: the loader that has defined this one is closed once
 * aws-crt has begun.
 */
final class AwsCrtLoader extends ClassLoader implements Supplier<Object> {
  static {
    registerAsParallelCapable();
  }

  /** Where the bundle jar keeps aws-crt; pom.xml of s3e-hadoop writes it. */
  static final String PREFIX = "s3e-crt/";

  private static final String CRT = "software.amazon.awssdk.crt.CRT";

  /** Starts a thread when a buffer is lent for the first time. */
  private static final String THREAD_OF_BUFFERS =
      "software.amazon.awssdk.crt.s3.S3BorrowedBuffer$GcFallback";

  /** By the loader of its class other loaders find this one. With its interface. */
  private static final String BEAN = "io.s3e.client.library.AwsCrt";

  private final URL root;
  private final String version;
  private final ProtectionDomain domain;

  /** By the path in the jar; one that has been defined is not needed again. */
  private final Map<String, byte[]> classFiles = new ConcurrentHashMap<>();

  /**
   * Called by other class loaders, by reflection.
   *
   * @param root of the bundle jar, or of a directory with the same files
   */
  AwsCrtLoader(URL root, String version) throws IOException {
    super("aws-crt of S3E", getPlatformClassLoader());
    this.root = root;
    this.version = version;
    URL jar = root;
    URLConnection connection = root.openConnection();
    if (connection instanceof JarURLConnection inJar) {
      inJar.setUseCaches(false);
      jar = inJar.getJarFileURL();
      try (JarFile file = inJar.getJarFile()) {
        readAll(file);
      }
    }
    // Names no class loader: the threads that aws-crt starts keep it.
    domain = new ProtectionDomain(new CodeSource(jar, (Certificate[]) null), null);
  }

  private void readAll(JarFile jar) throws IOException {
    for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
      String name = entry.getName();
      if (name.startsWith(PREFIX) && name.endsWith(".class")) {
        try (InputStream in = jar.getInputStream(entry)) {
          classFiles.put(name, in.readAllBytes());
        }
      }
    }
  }

  /**
   * Has aws-crt begin, whether its native library loads or not, and answers an {@link AwsCrt} whose
   * class loader is this one. Its threads and its shutdown hook inherit the class loader, thread
   * group, values and protection domains of the thread that this is called on, and keep them for
   * good.
   */
  @Override
  public Object get() {
    initialize();
    try {
      // Another package than this class's, since another loader defines it.
      Constructor<?> constructor =
          Class.forName(BEAN, true, this).getDeclaredConstructor(String.class, String.class);
      constructor.setAccessible(true);
      return constructor.newInstance(version, domain.getCodeSource().getLocation().getPath());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private void initialize() {
    for (String name : List.of(CRT, THREAD_OF_BUFFERS)) {
      try {
        Class.forName(name, true, this);
      } catch (ClassNotFoundException | LinkageError e) {
        // Whoever asks for the CRT next meets the same, and tells it.
        return;
      }
    }
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    String file = name.replace('.', '/') + ".class";
    byte[] bytes = classFiles.remove(PREFIX + file);
    if (bytes == null) {
      try (InputStream in = open(new URL(root, name.startsWith(BEAN) ? file : PREFIX + file))) {
        bytes = in.readAllBytes();
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
    return defineClass(name, bytes, 0, bytes.length, domain);
  }

  /** Leaves no jar open behind it. */
  static InputStream open(URL url) throws IOException {
    URLConnection connection = url.openConnection();
    connection.setUseCaches(false);
    return connection.getInputStream();
  }

  @Override
  protected @Nullable URL findResource(String name) {
    try {
      URL url = new URL(root, PREFIX + name);
      try (InputStream in = open(url)) {
        return in.read() >= 0 ? url : null;
      }
    } catch (IOException e) {
      return null;
    }
  }

  /** aws-crt reads its native library by it. */
  @Override
  public @Nullable InputStream getResourceAsStream(String name) {
    try {
      return open(new URL(root, PREFIX + name));
    } catch (IOException e) {
      return null;
    }
  }

  /**
   * Not found, by a path where nothing is: aws-crt then unpacks its own library. A file of that
   * name in {@code java.library.path} belongs to another version.
   */
  @Override
  protected String findLibrary(String name) {
    return new File("not-from-java.library.path", name).getAbsolutePath();
  }
}
