// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import io.s3e.hadoop.cost.Prices;
import io.s3e.spark.conf.SparkKeys;
import io.s3e.spark.stages.S3EReadsModel;
import io.s3e.spark.stages.SparkListenerS3EStage;
import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.status.AppHistoryServerPlugin;
import org.apache.spark.status.ElementTrackingStore;
import org.apache.spark.ui.SparkUI;
import org.apache.spark.util.kvstore.KVStoreIterator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.immutable.List;
import scala.collection.immutable.List$;
import scala.runtime.BoxedUnit;

/**
 * The tab in the History Server, by {@link S3EHistoryPlugin}. An application that has not read by
 * S3E gets no tab.
 */
final class HistoryTab implements AppHistoryServerPlugin {
  private static final Logger LOG = LoggerFactory.getLogger(HistoryTab.class);

  /**
   * For the replay of one event log, which has one thread. What the store gets, at the replay's
   * end, does not grow with the log: the latest stages, and the sum of those before.
   */
  private static final class Recorder extends SparkListener {
    private final ElementTrackingStore store;
    private final S3EReadsModel model;
    private boolean hasRead;

    Recorder(ElementTrackingStore store, int retainedStages) {
      this.store = store;
      this.model = new S3EReadsModel(retainedStages);
    }

    @Override
    public void onOtherEvent(SparkListenerEvent event) {
      if (event instanceof SparkListenerS3EStage stage) {
        hasRead = true;
        model.add(stage);
      }
    }

    BoxedUnit write() {
      int number = 0;
      if (hasRead) {
        for (SparkListenerS3EStage each : model.events()) {
          store.write(new StoredStage(number++, each));
        }
      }
      return BoxedUnit.UNIT;
    }
  }

  @Override
  public List<SparkListener> createListeners(SparkConf conf, ElementTrackingStore store) {
    Recorder recorder = new Recorder(store, S3ETab.retainedStages(conf));
    store.onFlush(recorder::write);
    return List$.MODULE$.<SparkListener>empty().$colon$colon(recorder);
  }

  @Override
  public void setupUI(SparkUI ui) {
    S3EReadsModel model = new S3EReadsModel(S3ETab.retainedStages(ui.conf()));
    try (KVStoreIterator<StoredStage> stages =
        ui.store().store().view(StoredStage.class).closeableIterator()) {
      if (!stages.hasNext()) {
        return;
      }
      stages.forEachRemaining(stored -> model.add(stored.event));
      S3ETab.attach(ui, model, prices(ui));
    } catch (Exception e) {
      LOG.warn("No tab S3E for {}: its events cannot be read from the store", ui.appName(), e);
    }
  }

  /** The application's own settings, which the event log has. */
  private static Prices prices(SparkUI ui) {
    SparkConf application = new SparkConf(false);
    Iterator<Tuple2<String, String>> settings =
        ui.store().environmentInfo().sparkProperties().iterator();
    while (settings.hasNext()) {
      Tuple2<String, String> setting = settings.next();
      application.set(setting._1(), setting._2());
    }
    return SparkKeys.prices(application);
  }
}
