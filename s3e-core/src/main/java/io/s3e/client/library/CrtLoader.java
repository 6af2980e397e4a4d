package io.s3e.client.library;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import org.jspecify.annotations.Nullable;

/**
 * A class loader for the aws-crt that S3E's bundle jar brings, so that it and the application's
 * never meet: two versions of aws-crt can live in one JVM, each with its own copy of the native
 * library, because JNI finds classes and functions by the loader of the class that asks.
 *
 * <p>The bundle keeps aws-crt under {@value #PREFIX}, where no other loader looks for it. This
 * loader defines
 *
 * <ul>
 *   <li>{@code software.amazon.awssdk.crt.*} from there, never from the parent;
 *   <li>{@code io.s3e.client.crt.*}, which links against it, again from S3E's own class files;
 *   <li>nothing else: all other classes are the parent's, S3E's loader.
 * </ul>
 *
 * So a type of {@code io.s3e.client.crt} in this loader is not the type of that name in the
 * parent's, and only the types of {@code io.s3e.client}, {@code io.s3e.client.library} and {@code
 * io.s3e.block} pass from one to the other. The loader lives as long as S3E's classes do: the
 * native library's threads and its shutdown hook are never done with it.
 */
final class CrtLoader extends ClassLoader {
  static {
    registerAsParallelCapable();
  }

  /** Where the bundle jar keeps aws-crt; pom.xml of s3e-hadoop writes it. */
  static final String PREFIX = "s3e-crt/";

  /** From this class's own file up to the root of the jar or directory that holds it. */
  private static final String TO_ROOT = "../".repeat(4);

  private final URL own;

  private CrtLoader(URL own) {
    super("s3e-crt", CrtLoader.class.getClassLoader());
    this.own = own;
  }

  /** A loader over what lies beside S3E's classes; null if that does not include aws-crt. */
  static @Nullable CrtLoader overBundle() {
    URL own = CrtLoader.class.getResource("CrtLoader.class");
    if (own == null) {
      return null;
    }
    CrtLoader loader = new CrtLoader(own);
    return loader.exists(PREFIX + fileOf(CrtLibrary.CRT_CLASS)) ? loader : null;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(CrtNeeds.CRT_PREFIX) && !name.startsWith(CrtNeeds.CLIENT_PREFIX)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded != null ? loaded : findClass(name);
    }
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    String file = name.startsWith(CrtNeeds.CRT_PREFIX) ? PREFIX + fileOf(name) : fileOf(name);
    try (InputStream in = at(file).openStream()) {
      byte[] bytes = in.readAllBytes();
      return defineClass(name, bytes, 0, bytes.length, CrtLoader.class.getProtectionDomain());
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  /** The CRT asks its class for the native library, by a path that the application's has too. */
  @Override
  public @Nullable URL getResource(String name) {
    String inside = PREFIX + name;
    try {
      return exists(inside) ? at(inside) : super.getResource(name);
    } catch (MalformedURLException e) {
      return super.getResource(name);
    }
  }

  /**
   * Not found, by a path where nothing is: the CRT then unpacks its own library. A file of that
   * name in {@code java.library.path} belongs to another version.
   */
  @Override
  protected String findLibrary(String name) {
    return new File("not-from-java.library.path", name).getAbsolutePath();
  }

  private boolean exists(String file) {
    try (InputStream in = at(file).openStream()) {
      return in.read() >= 0;
    } catch (IOException e) {
      return false;
    }
  }

  private URL at(String file) throws MalformedURLException {
    return new URL(own, TO_ROOT + file);
  }

  private static String fileOf(String className) {
    return className.replace('.', '/') + ".class";
  }
}
