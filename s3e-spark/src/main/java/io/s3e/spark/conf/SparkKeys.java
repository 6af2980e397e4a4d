// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.conf;

import io.s3e.hadoop.cost.Prices;
import java.util.List;
import org.apache.spark.SparkConf;

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

  /** Price of 1,000 GETs or HEADs in US dollars, for bills. */
  public static final SparkKey<Double> PRICE_OF_GETS =
      SparkKey.number("price.gets", Prices.LIST.thousandRequests(), 0, 1000);

  /** Price of an hour of a virtual processor in US dollars, for bills; a task slot has one. */
  public static final SparkKey<Double> PRICE_OF_VCPU =
      SparkKey.number("price.vcpu", Prices.LIST.vcpuHour(), 0, 1000);

  /** Whether tasks of Spark SQL say which files they will open. */
  public static final SparkKey<Boolean> ANNOUNCE = SparkKey.flag("announce.enabled", true);

  /** Whether scans show in the SQL tab what S3E did for them. */
  public static final SparkKey<Boolean> SQL_METRICS = SparkKey.flag("sql.metrics.enabled", true);

  public static final List<SparkKey<?>> ALL =
      List.of(EVENTS, UI, PRICE_OF_GETS, PRICE_OF_VCPU, ANNOUNCE, SQL_METRICS);

  private SparkKeys() {}

  /** What bills are made with. */
  public static Prices prices(SparkConf conf) {
    return new Prices(PRICE_OF_VCPU.get(conf), PRICE_OF_GETS.get(conf));
  }
}
