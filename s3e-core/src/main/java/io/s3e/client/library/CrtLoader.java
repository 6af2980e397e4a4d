// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.library;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import org.jspecify.annotations.Nullable;

/**
 * A class loader in which S3E's client over the CRT meets the aws-crt that S3E's bundle jar brings,
 * so that it and the application's never meet: two versions of aws-crt can live in one JVM, each
 * with its own copy of the native library, because JNI finds classes and functions by the loader of
 * the class that asks.
 *
 * <p>This loader
 *
 * <ul>
 *   <li>asks the loader of aws-crt, and never the parent, for {@code software.amazon.awssdk.crt.*};
 *   <li>defines {@code io.s3e.client.crt.*}, which links against it, from S3E's own class files;
 *   <li>defines nothing else: all other classes are the parent's, S3E's loader.
 * </ul>
 *
 * So a type of {@code io.s3e.client.crt} in this loader is not the type of that name in the
 * parent's. The loader lives as long as S3E's classes do; aws-crt, which cannot be taken out of a
 * JVM, knows nothing of it: {@link SharedCrt}.
 */
final class CrtLoader extends ClassLoader {
  static {
    registerAsParallelCapable();
  }

  private final ClassLoader crt;

  private CrtLoader(ClassLoader crt) {
    super("s3e-crt", CrtLoader.class.getClassLoader());
    this.crt = crt;
  }

  /**
   * A loader over what lies beside S3E's classes; null if that does not include aws-crt.
   *
   * @throws IOException if aws-crt is there and cannot begin
   */
  static @Nullable CrtLoader overBundle() throws IOException, ReflectiveOperationException {
    URL own = CrtLoader.class.getResource("CrtLoader.class");
    if (own == null) {
      return null;
    }
    String version;
    URL root;
    try {
      root = new URL(own, CrtFinding.TO_ROOT);
      version = CrtFinding.version(new URL(root, AwsCrtLoader.PREFIX + CrtFinding.POM));
    } catch (IOException e) {
      return null;
    }
    return new CrtLoader(SharedCrt.loader(root, version));
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (name.startsWith(CrtFinding.CRT_PREFIX)) {
      return crt.loadClass(name);
    }
    if (!name.startsWith(CrtFinding.CLIENT_PREFIX)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded != null ? loaded : findClass(name);
    }
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    String file = name.replace('.', '/') + ".class";
    try (InputStream in = getParent().getResourceAsStream(file)) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      byte[] bytes = in.readAllBytes();
      return defineClass(name, bytes, 0, bytes.length, CrtLoader.class.getProtectionDomain());
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }
}
