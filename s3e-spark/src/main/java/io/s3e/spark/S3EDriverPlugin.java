package io.s3e.spark;

import io.s3e.version.Version;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The driver's part. */
final class S3EDriverPlugin implements DriverPlugin {
  private static final Logger LOG = LoggerFactory.getLogger(S3EDriverPlugin.class);

  @Override
  public Map<String, String> init(SparkContext spark, PluginContext plugin) {
    LOG.info("S3E {}", Version.text());
    return Map.of();
  }
}
