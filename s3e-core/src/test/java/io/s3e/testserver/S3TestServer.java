// SPDX-License-Identifier: Apache-2.0
package io.s3e.testserver;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A real S3 protocol server in the test JVM, on a free port of 127.0.0.1, that checks signatures:
 * S3Proxy. It holds non-daemon threads until it is closed.
 *
 * <p>S3Proxy is itself built upon the AWS SDK and needs a newer one than old Hadoop brings. Where
 * the system property {@value #CLASS_PATH_FILE} names a file that holds a class path, the server
 * runs in a class loader made of that, apart from the SDK under test.
 */
public final class S3TestServer implements AutoCloseable {
  /** Names a file with the server's own class path; unset, the server shares the test's. */
  public static final String CLASS_PATH_FILE = "s3e.test.server.classpath";

  public static final String ACCESS_KEY = "test-access";
  public static final String SECRET_KEY = "test-secret";

  private final ClassLoader loader;
  private final AutoCloseable host;

  private S3TestServer(ClassLoader loader, AutoCloseable host) {
    this.loader = loader;
    this.host = host;
  }

  /** Starts a server that keeps its objects on the heap, and speaks versioning and SSE-C. */
  public static S3TestServer inMemory() throws Exception {
    return start(null, true);
  }

  /** Like {@link #inMemory}, but takes any request, signed or not. */
  public static S3TestServer inMemoryAnonymous() throws Exception {
    return start(null, false);
  }

  /** Starts a server whose buckets are the directories within {@code directory}. */
  public static S3TestServer onDisk(Path directory) throws Exception {
    return start(directory, true);
  }

  private static S3TestServer start(Path directory, boolean signed) throws Exception {
    ClassLoader loader = serverLoader();
    Constructor<?> constructor =
        Class.forName("io.s3e.testserver.S3ProxyHost", true, loader)
            .getDeclaredConstructor(Path.class, boolean.class, String.class, String.class);
    constructor.setAccessible(true);
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(loader);
    try {
      return new S3TestServer(
          loader,
          (AutoCloseable) constructor.newInstance(directory, signed, ACCESS_KEY, SECRET_KEY));
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static ClassLoader serverLoader() throws IOException {
    String file = System.getProperty(CLASS_PATH_FILE);
    if (file == null) {
      return S3TestServer.class.getClassLoader();
    }
    List<URL> urls = new ArrayList<>();
    urls.add(S3TestServer.class.getProtectionDomain().getCodeSource().getLocation());
    for (String entry : Files.readString(Path.of(file)).trim().split(File.pathSeparator)) {
      urls.add(Path.of(entry).toUri().toURL());
    }
    return new URLClassLoader(
        "s3-test-server", urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
  }

  /** Where the server listens: {@code http://127.0.0.1:port}. */
  @SuppressWarnings("unchecked") // S3ProxyHost, perhaps of another loader
  public URI endpoint() {
    return ((Supplier<URI>) host).get();
  }

  /** Creates a bucket; returns this. */
  @SuppressWarnings("unchecked") // S3ProxyHost, perhaps of another loader
  public S3TestServer withBucket(String bucket) {
    ((Consumer<String>) host).accept(bucket);
    return this;
  }

  /** Stops the server and its threads; its objects on the heap are gone. */
  @Override
  public void close() throws Exception {
    host.close();
    if (loader != S3TestServer.class.getClassLoader() && loader instanceof URLClassLoader own) {
      own.close();
    }
  }
}
