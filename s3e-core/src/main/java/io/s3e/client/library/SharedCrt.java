// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.library;

import io.s3e.jvm.OwnLoader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the one aws-crt of a version that the copies of S3E in all class loaders of this JVM share,
 * and begins it if there is none. It is found in the platform's MBean server, the one place that
 * all class loaders see: the class of its MBean is defined by the loader of aws-crt, and the server
 * tells that to callers inside the process alone.
 *
 * <p>States of a version: absent, then registered for good, since aws-crt cannot be taken out of a
 * JVM. One whose native library does not load is not registered: the reason may pass.
 */
final class SharedCrt {
  private static final Logger LOG = LoggerFactory.getLogger(SharedCrt.class);

  /** Held while one is looked for: a string constant is one object in all class loaders. */
  private static final String NAME = "io.s3e:type=AwsCrt,version=";

  private static final String THREAD = "s3e-aws-crt";

  private SharedCrt() {}

  /**
   * The class loader of aws-crt, which the bundle jar at {@code root} brings; IOException if its
   * native library cannot be unpacked.
   */
  static ClassLoader loader(URL root, String version)
      throws IOException, ReflectiveOperationException {
    try {
      return registered(new URL(root.toExternalForm()), version);
    } catch (JMException | ReflectiveOperationException | RuntimeException | LinkageError e) {
      LOG.debug("No aws-crt is shared with other class loaders: one for this loader alone", e);
      return begin(AwsCrtLoader.class, root, version).getClass().getClassLoader();
    }
  }

  private static ClassLoader registered(URL root, String version)
      throws JMException, IOException, ReflectiveOperationException {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    ObjectName name = new ObjectName(NAME + version);
    synchronized (NAME) {
      if (server.isRegistered(name)) {
        if (!server.isInstanceOf(name, AwsCrtMBean.class.getName())) {
          throw new IllegalStateException("another MBean has the name " + name);
        }
        return server.getClassLoaderFor(name);
      }
      String problem = CrtFinding.unpackingProblem();
      if (problem != null) {
        String library = "the native library of aws-crt " + version + " of " + root;
        throw new IOException(library + " does not load: " + problem);
      }
      // The application's loader is there as long as aws-crt is, and beginning apart takes time.
      Object begun =
          OwnLoader.isApplications()
              ? begin(AwsCrtLoader.class, root, version)
              : beginApart(root, version);
      ClassLoader loader = begun.getClass().getClassLoader();
      if (CrtFinding.nativeProblem(Class.forName(CrtFinding.CRT_CLASS, false, loader)) == null) {
        server.registerMBean(begun, name);
      }
      return loader;
    }
  }

  /** Begins one that refers to no class of this loader's. */
  private static Object beginApart(URL root, String version)
      throws IOException, ReflectiveOperationException {
    List<Class<?>> types = List.of(URL[].class, ClassLoader.class);
    URL[] urls = {root};
    ClassLoader parent = ClassLoader.getPlatformClassLoader();
    try (URLClassLoader jdks = OwnLoader.makeApart(URLClassLoader.class, types, urls, parent)) {
      return begin(Class.forName(AwsCrtLoader.class.getName(), true, jdks), root, version);
    }
  }

  /** Begins one on a thread that brings nothing of this one's. */
  @SuppressWarnings("unchecked") // An AwsCrtLoader, perhaps of another class loader.
  private static Object begin(Class<?> type, URL root, String version)
      throws ReflectiveOperationException {
    Constructor<?> constructor = type.getDeclaredConstructor(URL.class, String.class);
    constructor.setAccessible(true);
    Supplier<Object> loader = (Supplier<Object>) constructor.newInstance(root, version);
    // Whoever waits may be interrupted, others still want it.
    return CompletableFuture.supplyAsync(loader, SharedCrt::runApart).join();
  }

  private static void runApart(Runnable task) {
    ThreadGroup group = Thread.currentThread().getThreadGroup();
    while (group.getParent() != null) {
      group = group.getParent();
    }
    try {
      List<Class<?>> types =
          List.of(ThreadGroup.class, Runnable.class, String.class, long.class, boolean.class);
      Thread thread =
          OwnLoader.isApplications()
              ? new Thread(group, task, THREAD, 0, false)
              : OwnLoader.makeApart(Thread.class, types, group, task, THREAD, 0L, false);
      thread.setDaemon(true);
      thread.setContextClassLoader(ClassLoader.getSystemClassLoader());
      thread.start();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
