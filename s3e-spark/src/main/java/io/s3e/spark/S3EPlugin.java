package io.s3e.spark;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * S3E as a plugin of Spark: {@code spark.plugins=io.s3e.spark.S3EPlugin}. Spark makes one in the
 * driver and one in each executor, and asks it for the part of that process.
 */
public final class S3EPlugin implements SparkPlugin {
  @Override
  public DriverPlugin driverPlugin() {
    return new S3EDriverPlugin();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new S3EExecutorPlugin();
  }
}
