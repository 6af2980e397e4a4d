// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import io.s3e.hadoop.cost.Prices;
import io.s3e.spark.conf.SparkKeys;
import io.s3e.spark.stages.ReadCounts;
import io.s3e.spark.stages.S3EReadsModel;
import io.s3e.spark.stages.SparkListenerS3EStage;
import io.s3e.spark.stages.StageAttempt;
import io.s3e.spark.stages.StageReads;
import io.s3e.spark.stages.StageReports;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.ui.SparkUI;
import org.apache.spark.ui.SparkUITab;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The tab S3E. */
public final class S3ETab extends SparkUITab {
  private static final Logger LOG = LoggerFactory.getLogger(S3ETab.class);

  private final S3EReadsModel model;
  private final SparkStages stages;
  private final Prices prices;

  private S3ETab(SparkUI ui, S3EReadsModel model, Prices prices) {
    super(ui, "s3e");
    this.model = model;
    this.stages = new SparkStages(ui.store().store());
    this.prices = prices;
    attachPage(new S3EPage(this));
  }

  /**
   * Adds the tab to the UI of this application, if it has one, over the events that are posted from
   * now on.
   */
  public static void attachTo(SparkContext spark) {
    if (spark.ui().isEmpty()) {
      return;
    }
    S3EReadsModel model = new S3EReadsModel(retainedStages(spark.conf()));
    SparkListener listener =
        new SparkListener() {
          @Override
          public void onOtherEvent(SparkListenerEvent event) {
            if (event instanceof SparkListenerS3EStage stage) {
              model.add(stage);
            }
          }
        };
    spark.listenerBus().addToQueue(listener, StageReports.QUEUE);
    attach(spark.ui().get(), model, SparkKeys.prices(spark.conf()));
  }

  /** As many as Spark's own pages keep. */
  static int retainedStages(SparkConf conf) {
    return Math.max(1, conf.getInt("spark.ui.retainedStages", 1000));
  }

  /**
   * Adds the tab to a UI. Nothing depends on it: where this Spark's UI is not as expected, the
   * application goes on without the tab and a line of the log says why.
   *
   * @param model read at every request
   * @param prices of the application
   */
  static void attach(SparkUI ui, S3EReadsModel model, Prices prices) {
    try {
      ui.attachTab(new S3ETab(ui, model, prices));
    } catch (RuntimeException | LinkageError e) {
      LOG.warn("No tab S3E in the UI of this Spark: {}", e.toString());
    }
  }

  @Override
  public String name() {
    return "S3E";
  }

  /** The page's content now. */
  String html(String uiRoot) {
    return new ReadsPage(view(), uiRoot).html();
  }

  private ReadsView view() {
    Map<StageAttempt, Optional<ReadCounts>> shown = new LinkedHashMap<>();
    for (StageAttempt running : stages.running()) {
      shown.put(running, Optional.empty());
    }
    List<StageReads> reported = model.stages();
    for (StageReads reads : reported) {
      shown.put(reads.stage(), Optional.of(reads.total()));
    }
    List<StageRow> rows = new ArrayList<>();
    shown.forEach((stage, counts) -> rows.add(new StageRow(stage, stages.find(stage), counts)));
    return new ReadsView(
        model.total(), rows, model.executors(), reported, model.otherGets(), prices);
  }
}
