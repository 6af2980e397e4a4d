// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.jvm.Background;
import io.s3e.jvm.OwnLoader;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.lang.runtime.ObjectMethods;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.AbstractFileSystem;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.metrics2.lib.MutableQuantiles;
import org.apache.hadoop.util.ReflectionUtils;
import org.apache.hadoop.util.ShutdownHookManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What Hadoop keeps of S3E's classes, in tables that live as long as Hadoop's classes do: the
 * constructors of file systems, and what a class of file systems has read. So does the JDK: its
 * timer, and the last records. A class loader of S3E's that is not the application's is to be
 * collected when its file systems are closed, so the last one takes the entries of that loader's
 * classes out; of the application's, none. Any thread.
 */
public final class HadoopTables {
  private static final Logger LOG = LoggerFactory.getLogger(HadoopTables.class);
  private static final String CONSTRUCTORS = "CONSTRUCTOR_CACHE";

  /** Those that are open, weakly, since some are forgotten. Guards itself. */
  private static final Set<Object> OPEN = Collections.newSetFromMap(new WeakHashMap<>());

  static {
    if (OwnLoader.isApplications()) {
      beginTimeouts();
    } else {
      beginThreads();
    }
  }

  private HadoopTables() {}

  /**
   * The thread of the JDK that ends waits for futures lives as long as the JVM, and keeps what it
   * has from the thread that needs it first: class loader and inherited values of who reads first.
   */
  private static void beginTimeouts() {
    try {
      // Not waited for: it is there long before the first GET.
      Thread unused = Background.start("s3e-timeouts", HadoopTables::timeOut);
    } catch (OutOfMemoryError e) {
      LOG.debug("No thread to begin the timer of the JDK with", e);
    }
  }

  private static void timeOut() {
    var unused = new CompletableFuture<>().orTimeout(1, TimeUnit.NANOSECONDS);
  }

  /** As {@link #beginTimeouts}, by a thread that keeps nothing of this class loader. */
  private static void beginTimeoutsApart() {
    try {
      Class<?> future = CompletableFuture.class;
      MethodType type = MethodType.methodType(future, long.class, TimeUnit.class);
      MethodHandle timeout = MethodHandles.publicLookup().findVirtual(future, "orTimeout", type);
      Object unused =
          OwnLoader.callApart(timeout, new CompletableFuture<>(), 1L, TimeUnit.NANOSECONDS);
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.debug("The timer of the JDK may keep this class loader", e);
    }
  }

  /** Threads for all file systems, which would else begin with the first one and keep it. */
  private static void beginThreads() {
    beginTimeoutsApart();
    MethodHandles.Lookup lookup = MethodHandles.publicLookup();
    try {
      OwnLoader.callApart(
          lookup.findStatic(
              ShutdownHookManager.class, "get", MethodType.methodType(ShutdownHookManager.class)));
      OwnLoader.callApart(
          lookup.findConstructor(
              FileSystem.Statistics.class, MethodType.methodType(void.class, String.class)),
          "s3a");
      MethodType ofQuantiles =
          MethodType.methodType(
              void.class, String.class, String.class, String.class, String.class, int.class);
      Object quantiles =
          OwnLoader.callApart(
              lookup.findConstructor(MutableQuantiles.class, ofQuantiles),
              "none",
              "none",
              "none",
              "none",
              1);
      ((MutableQuantiles) quantiles).stop();
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.debug("A thread of Hadoop's may keep this class loader", e);
    }
  }

  /** Something of S3E's that Hadoop has made is in use. */
  public static void opened(Object user) {
    if (!OwnLoader.isApplications()) {
      synchronized (OPEN) {
        OPEN.add(user);
      }
    }
  }

  /**
   * It is closed. Idempotent. After the last one nothing of S3E's runs, so that its class loader
   * may be closed.
   */
  public static void closed(Object user) {
    synchronized (OPEN) {
      if (!OPEN.remove(user) || !OPEN.isEmpty()) {
        return;
      }
    }
    OwnLoader.awaitThreads();
    synchronized (OPEN) {
      if (OPEN.isEmpty()) {
        forgetConstructors(ReflectionUtils.class);
        forgetConstructors(AbstractFileSystem.class);
        forgetStatistics();
        forgetRecords();
      }
    }
  }

  private static void forgetConstructors(Class<?> owner) {
    try {
      table(owner, CONSTRUCTORS).keySet().removeIf(HadoopTables::isOwn);
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.debug("{} may keep this class loader", owner.getName(), e);
    }
  }

  /** What has been counted goes to S3A, so that sums do not shrink. */
  private static void forgetStatistics() {
    synchronized (FileSystem.class) {
      try {
        Map<Class<?>, Object> table = table(FileSystem.class, "statisticsTable");
        for (Class<?> type : List.copyOf(table.keySet())) {
          if (isOwn(type) && table.remove(type) instanceof FileSystem.Statistics counted) {
            Object ofS3A = table.putIfAbsent(S3AFileSystem.class, counted);
            if (ofS3A != null) {
              add(counted, (FileSystem.Statistics) ofS3A);
            }
          }
        }
      } catch (ReflectiveOperationException | RuntimeException e) {
        LOG.debug("The statistics of Hadoop may keep this class loader", e);
      }
    }
  }

  private static void add(FileSystem.Statistics from, FileSystem.Statistics to) {
    to.incrementBytesRead(from.getBytesRead());
    to.incrementBytesWritten(from.getBytesWritten());
    to.incrementReadOps(from.getReadOps());
    to.incrementLargeReadOps(from.getLargeReadOps());
    to.incrementWriteOps(from.getWriteOps());
  }

  private static boolean isOwn(Class<?> type) {
    return type.getClassLoader() == HadoopTables.class.getClassLoader();
  }

  @SuppressWarnings("unchecked") // Of every Hadoop from 3.4.1 to 3.5.0.
  private static Map<Class<?>, Object> table(Class<?> owner, String name)
      throws ReflectiveOperationException {
    Field field = owner.getDeclaredField(name);
    field.setAccessible(true);
    return (Map<Class<?>, Object>) Objects.requireNonNull(field.get(null));
  }

  /**
   * Has the JDK forget the last record of this loader: the bootstrap of the methods of records
   * remembers the last types that it was asked for. From JDK 22 on it remembers those of the JDK's
   * loaders, and beside them, softly, those of others.
   */
  // The bootstrap may throw anything.
  @SuppressWarnings("IllegalCatch")
  private static void forgetRecords() {
    try {
      ClassLoader ofNobody =
          OwnLoader.makeApart(URLClassLoader.class, List.of(URL[].class), (Object) new URL[0]);
      Class<?>[] interfaces = {Runnable.class};
      Object other = Proxy.newProxyInstance(ofNobody, interfaces, (proxy, method, none) -> null);
      rememberRecord(other.getClass());
      rememberRecord(String.class);
    } catch (Throwable e) {
      LOG.debug("The JDK may remember records of this class loader", e);
    }
  }

  private static void rememberRecord(Class<?> type) throws Throwable {
    MethodHandles.Lookup lookup = MethodHandles.publicLookup();
    MethodHandle component = MethodHandles.identity(type);
    MethodType equals = MethodType.methodType(boolean.class, type, Object.class);
    MethodType hashCode = MethodType.methodType(int.class, type);
    MethodType toString = MethodType.methodType(String.class, type);
    ObjectMethods.bootstrap(lookup, "equals", equals, type, "itself", component);
    ObjectMethods.bootstrap(lookup, "hashCode", hashCode, type, "itself", component);
    ObjectMethods.bootstrap(lookup, "toString", toString, type, "itself", component);
  }
}
