// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.jvm.Background;
import io.s3e.jvm.OwnLoader;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
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
 * constructors of file systems, and what a class of file systems has read. A class loader of S3E's
 * that is not the application's is to be collected when its file systems are closed, so the last
 * one takes the entries of that loader's classes out; of the application's, none. Any thread.
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

  /** Threads for all file systems, which would else begin with the first one and keep it. */
  private static void beginThreads() {
    OwnLoader.beginTimeouts();
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
        OwnLoader.forgetRecords();
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
}
