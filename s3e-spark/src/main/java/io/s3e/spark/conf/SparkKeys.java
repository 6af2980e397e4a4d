// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.conf;

import java.util.List;

/**
 * The settings of the plugin's own; docs/SPARK.md explains them. Every other {@code spark.s3e.NAME}
 * is {@code fs.s3a.s3e.NAME}: see {@link S3ASettings}.
 */
public final class SparkKeys {
  static final String PREFIX = "spark.s3e.";

  /** Whether what stages read is posted as events, which event logs and the UI are made from. */
  public static final SparkKey<Boolean> EVENTS = SparkKey.flag("events.enabled", true);

  /** Whether the UI of the application gets S3E's tab. */
  public static final SparkKey<Boolean> UI = SparkKey.flag("ui.enabled", true);

  /**
   * Price of 1,000 GETs in US dollars, which the tab counts with. The default is the list price of
   * S3 Standard in us-east-1 (aws.amazon.com/s3/pricing, "GET, SELECT, and all other requests").
   */
  public static final SparkKey<Double> PRICE_OF_GETS =
      SparkKey.number("price.gets", 0.0004, 0, 1000);

  /** Whether tasks of Spark SQL say which files they will open. */
  public static final SparkKey<Boolean> ANNOUNCE = SparkKey.flag("announce.enabled", true);

  public static final List<SparkKey<?>> ALL = List.of(EVENTS, UI, PRICE_OF_GETS, ANNOUNCE);

  private SparkKeys() {}
}
