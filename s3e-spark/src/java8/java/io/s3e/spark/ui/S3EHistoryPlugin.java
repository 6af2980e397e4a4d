// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import io.s3e.hadoop.setup.OldJava;
import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.status.AppHistoryServerPlugin;
import org.apache.spark.status.ElementTrackingStore;
import org.apache.spark.ui.SparkUI;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import scala.collection.immutable.List;
import scala.collection.immutable.List$;

/**
 * S3E in the History Server, which finds this class by {@code META-INF/services} where the jar is
 * on its class path. On a Java that is too old the server shows its applications without the tab,
 * and one WARN says why.
 */
public final class S3EHistoryPlugin implements AppHistoryServerPlugin {
  private static boolean toldOfJava;

  /** Null where Java is too old. */
  private final @Nullable AppHistoryServerPlugin tab;

  /** Made by Spark, once for each application that is shown. */
  public S3EHistoryPlugin() {
    this(OldJava.problem());
  }

  /**
   * @param problem what is wrong with this Java; null if nothing is
   */
  S3EHistoryPlugin(@Nullable String problem) {
    tab = problem == null ? tab() : null;
    if (problem != null) {
      tellOnce(problem);
    }
  }

  private static synchronized void tellOnce(String problem) {
    if (!toldOfJava) {
      toldOfJava = true;
      LoggerFactory.getLogger(S3EHistoryPlugin.class)
          .warn("No tab S3E in this History Server: {}", problem);
    }
  }

  /** By its name, which is all that this class may know of one that an old Java cannot load. */
  private static AppHistoryServerPlugin tab() {
    String name = "io.s3e.spark.ui.HistoryTab";
    try {
      return (AppHistoryServerPlugin) Class.forName(name).getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(name + " cannot be made", e);
    }
  }

  /** Called on the thread that reads the event log, before it does. */
  @Override
  public List<SparkListener> createListeners(SparkConf conf, ElementTrackingStore store) {
    if (tab != null) {
      return (List<SparkListener>) tab.createListeners(conf, store);
    }
    Thread reading = Thread.currentThread();
    if (!(reading.getContextClassLoader() instanceof WithoutEvents)) {
      reading.setContextClassLoader(new WithoutEvents(reading.getContextClassLoader()));
    }
    return List$.MODULE$.<SparkListener>empty();
  }

  /**
   * Has Spark pass over the events of S3E, as it does where there is no jar: of a class that an old
   * Java refuses it shows no application at all.
   */
  private static final class WithoutEvents extends ClassLoader {
    WithoutEvents(ClassLoader parent) {
      super(parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.startsWith("io.s3e.spark.stages.")) {
        throw new ClassNotFoundException(name);
      }
      return super.loadClass(name, resolve);
    }
  }

  @Override
  public void setupUI(SparkUI ui) {
    if (tab != null) {
      tab.setupUI(ui);
    }
  }

  /** After Spark's own tabs. */
  @Override
  public int displayOrder() {
    return 100;
  }
}
