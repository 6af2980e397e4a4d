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

  @Override
  public List<SparkListener> createListeners(SparkConf conf, ElementTrackingStore store) {
    return tab == null
        ? List$.MODULE$.<SparkListener>empty()
        : (List<SparkListener>) tab.createListeners(conf, store);
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
